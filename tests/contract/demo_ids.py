"""What of the demo's firm the examples of requests speak of."""

from collections.abc import Mapping
from typing import Final

from gatewayd.store import ReadTx

_NAMED: Final[Mapping[str, tuple[str, str]]] = {
    "org": ("organizations", "name = 'Fern Bookkeeping'"),
    "ent": ("legal_entities", "type = 'limited_company'"),
    "ent_b": ("legal_entities", "type = 'individual'"),
    "biz": ("businesses", "type = 'company_trade'"),
    "biz_b": ("businesses", "type = 'uk_property'"),
    "biz_c": ("businesses", "type = 'self_employment'"),
    "cli": ("clients", "name = 'Birch Interiors Ltd'"),
    "inv": ("invoices", "status = 'draft'"),
    "inv_b": ("invoices", "number = 'INV-000003'"),
    "inv_c": ("invoices", "status = 'paid'"),
    "inv_d": ("invoices", "currency = 'USD'"),
    "bill": ("bills", "status = 'awaiting_payment'"),
    "bill_b": ("bills", "number = 'RT-3301'"),
    "bill_c": ("bills", "status = 'draft'"),
    "cpay": ("client_payments", "1 = 1"),
    "inv_e": ("invoices", "id = (SELECT invoice_id FROM invoice_write_offs)"),
    "quo": ("quotes", "state = 'accepted' AND reference = 'Spiral staircase'"),
    "quo_b": ("quotes", "state = 'draft'"),
    "quo_c": ("quotes", "state = 'sent'"),
    "rec": ("recurring_invoices", "status = 'active'"),
    "rec_b": ("recurring_invoices", "status = 'paused'"),
    "jny": ("journeys", "1 = 1"),
    "lead": ("leads", "company = 'Larch & Co'"),
    "opp": ("opportunities", "1 = 1"),
    "wsub": ("webhook_subscriptions", "1 = 1"),
    "wdlv": ("deliveries", "status = 'succeeded'"),
    "evt": ("events", "kind = 'lead.created'"),
    "bac": ("bank_accounts", "name = 'Current account'"),
    "btx": ("bank_transactions", "description LIKE 'TRANSFER TO%'"),
    "btx_b": ("bank_transactions", "description LIKE 'TRANSFER FROM%'"),
    "btx_c": ("bank_transactions", "description LIKE 'NORTHERN%'"),
    "btx_d": ("bank_transactions", "description LIKE 'SCREWFIX LEEDS%'"),
    "btx_e": ("bank_transactions", "description LIKE 'OTLEY%'"),
    "btx_f": ("bank_transactions", "description LIKE 'ASH%'"),
    "btx_g": ("bank_transactions", "description LIKE 'CASH%'"),
    "alc": ("allocations", "description LIKE 'SCREWFIX YORK%'"),
    "rule": ("allocation_rules", "mode = 'apply'"),
    "rule_b": ("allocation_rules", "mode = 'propose'"),
    "bsb": ("stated_balances", "1 = 1"),
    "imp": ("import_runs", "kind = 'bank' AND status = 'applied'"),
    "imp_b": ("import_runs", "kind = 'bank' AND status = 'previewed'"),
    "imp_e": ("import_runs", "account_id = (SELECT id FROM bank_accounts WHERE name = 'Tax reserve')"),
    "imp_c": ("import_runs", "kind = 'broker' AND status = 'applied'"),
    "imp_d": ("import_runs", "kind = 'broker' AND status = 'previewed'"),
    "prt": ("asset_portfolios", "name = 'Shares'"),
    "prt_b": ("asset_portfolios", "name = 'For the children'"),
    "acc": ("asset_accounts", "name = 'Aldgate Dealing'"),
    "ins": ("instruments", "1 = 1"),
    "txn": ("asset_transactions", "type = 'buy'"),
    "prop": ("properties", "name = '21 Tanner Row'"),
    "prop_b": ("properties", "name = '4 Elm Row'"),
    "unit": ("property_units", "name = 'Flat 1'"),
    "val": ("property_valuations", "1 = 1"),
    "mtg": ("mortgages", "1 = 1"),
    "cert": ("certificates", "type = 'gas_safety' AND property_id <> {prop_b}"),
    "cert_b": ("certificates", "type = 'epc'"),
    "tnt": ("tenants", "id = (SELECT tenant_id FROM tenancy_tenants ORDER BY tenant_id DESC LIMIT 1)"),
    "tnt_b": ("tenants", "id NOT IN (SELECT tenant_id FROM tenancy_tenants)"),
    "tcy": ("tenancies", "property_id <> {prop_b}"),
    "fld": ("vault_folders", "name = 'Suppliers'"),
    "doc": ("vault_documents", "name = 'NH-20417.pdf'"),
    "doc_b": ("vault_documents", "name = 'insurance.txt'"),
    "doc_c": ("vault_documents", "status = 'pending_upload'"),
    "doc_d": ("vault_documents", "status = 'deleted'"),
    "doc_e": ("vault_documents", "name = 'ash-ironmongers-1107.pdf'"),
    "doc_f": ("vault_documents", "name = 'ash-ironmongers-reminder.txt'"),
    "doc_g": ("vault_documents", "name = 'gas-safety-tanner-row.pdf'"),
    "lnk": ("vault_links", "max_downloads > 1"),
    "cal": ("calendar_feeds", "1 = 1"),
    "obl": ("obligations", "name = 'Public liability insurance'"),
    "obl_b": ("obligations", "status = 'fulfilled'"),
    "per": ("periods", "type = 'vat_period' AND start_date = '2026-10-01'"),
    "per_c": ("periods", "type = 'vat_period' AND start_date = '2026-07-01'"),
    "per_b": ("periods", "status <> 'open'"),
    "seal": ("period_seals", "1 = 1"),
    "gra": ("credit_grants", "source = 'grant'"),
    "mail": ("mails", "status = 'bounced' AND kind = 'invoice'"),
    "led": ("credit_entries", "type = 'usage'"),
}
"""By the keys of `rows.example`: the table, and the condition of which the first is meant."""


def ids_of(tx: ReadTx) -> dict[str, str]:
    """The ids by the keys of examples. Raises `AssertionError` where the demo has none any more."""
    ids: dict[str, str] = {}
    late = [key for key, (_, condition) in _NAMED.items() if "{" in condition]
    for key in sorted(_NAMED, key=lambda key: key in late):
        table, condition = _NAMED[key]
        found = tx.value(f"SELECT min(id) FROM {table} WHERE {condition.format_map(_Quoted(ids))}")
        assert found is not None, f"the demo has no {key}"
        ids[key] = str(found)
    return ids


class _Quoted(dict[str, str]):
    def __getitem__(self, key: str) -> str:
        return f"'{super().__getitem__(key)}'"
