"""What follows from a change of a row, table by table: derived state that is brought up to date with it.

Whoever stores a row of these tables need not know what rests on it. Follow-ups are done in their order, in the
transaction of the change. What an act brings about beside the rows that it stores stays with the act: what the
authority says of obligations, or that somebody takes back what was met, brings the calendar up to date by itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gatewayd.areas.accounting.bills.shapes import Bill
from gatewayd.areas.accounting.clients import rows as clients
from gatewayd.areas.accounting.clients.shapes import Client
from gatewayd.areas.accounting.invoices import rows as invoices
from gatewayd.areas.accounting.invoices.shapes import Invoice, InvoiceRow
from gatewayd.areas.accounting.owed.shapes import ClientPayment
from gatewayd.areas.accounting.quotes import rows as quotes
from gatewayd.areas.accounting.quotes.shapes import Quote
from gatewayd.areas.accounting.recurring.shapes import Recurring
from gatewayd.areas.assets.books.accounts import AssetAccount
from gatewayd.areas.assets.books.instruments import Instrument
from gatewayd.areas.assets.books.portfolios import Portfolio
from gatewayd.areas.assets.books.transactions import AssetTransaction
from gatewayd.areas.banking.accounts.shapes import BankAccount
from gatewayd.areas.businesses import rows as businesses
from gatewayd.areas.businesses.shapes import Business, BusinessRow
from gatewayd.areas.crm.opportunities import Opportunity
from gatewayd.areas.landlord.certificates import missing
from gatewayd.areas.landlord.certificates import rows as certificates
from gatewayd.areas.landlord.certificates.shapes import StoredCertificate
from gatewayd.areas.landlord.mortgages.shapes import Mortgage
from gatewayd.areas.landlord.properties import rows as properties
from gatewayd.areas.landlord.properties.shapes import Property
from gatewayd.areas.landlord.register import properties as properties_register
from gatewayd.areas.landlord.register import tenancies as register
from gatewayd.areas.landlord.register.properties import StoredProperty
from gatewayd.areas.landlord.register.tenancy_shapes import TenancyRow
from gatewayd.areas.landlord.tenancies import efficiency, spans
from gatewayd.areas.landlord.tenancies import rows as tenancies
from gatewayd.areas.landlord.tenancies.shapes import Tenancy
from gatewayd.areas.landlord.tenants import rows as tenants
from gatewayd.areas.landlord.tenants.shapes import Tenant
from gatewayd.areas.landlord.units import rows as units
from gatewayd.areas.landlord.units.shapes import PropertyUnit, StoredUnit
from gatewayd.areas.landlord.valuations import PropertyValuation
from gatewayd.areas.legal_entities import rows as legal_entities
from gatewayd.areas.legal_entities.shapes import EntityRow, LegalEntity
from gatewayd.areas.periods.shapes import Period
from gatewayd.areas.vault.documents import index_queue
from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.rows import UPLOADED
from gatewayd.areas.vault.documents.shapes import Document, DocumentRow
from gatewayd.areas.vault.folders.shapes import Folder
from gatewayd.events import telling
from gatewayd.identity import audit
from gatewayd.ledger.allocating import rents_received
from gatewayd.ledger.allocating.allocation_rules import AllocationRule
from gatewayd.ledger.allocating.allocation_shapes import Allocation
from gatewayd.ledger.calendar import periods
from gatewayd.ledger.calendar.periods import PeriodRow
from gatewayd.ledger.certificate_shapes import Certificate
from gatewayd.ledger.imports.import_shapes import ImportRun
from gatewayd.ledger.obligations import schedule
from gatewayd.ledger.obligations.obligations import Obligation, ObligationRow
from gatewayd.ledger.taxpayers import quarter_choices
from gatewayd.mail import notices
from gatewayd.mail.notices import Mailing
from gatewayd.money import Money
from gatewayd.store import WriteTx
from gatewayd.store.reactions import Change, FollowUp, Reactions
from gatewayd.webhooks.subscribers.subscription_shapes import SubscriptionRow


def _settle_balances(tx: WriteTx, before: InvoiceRow | None, after: InvoiceRow | None) -> None:
    """What is outstanding of a client stands in lists of clients, and moves their `updatedAt`."""
    for client_id in {row.client_id for row in (before, after) if row is not None}:
        if _due_from(client_id, before) != _due_from(client_id, after):
            clients.touch(tx, client_id)


def _settle_quote(tx: WriteTx, before: InvoiceRow | None, after: InvoiceRow | None) -> None:
    """What is invoiced of a quote is kept with it."""
    row = before if after is None else after
    if row is not None and row.quote_id:
        quotes.settle(tx, row.quote_id)


def _due_from(client_id: str, row: InvoiceRow | None) -> tuple[Money, str] | None:
    """How much a client owes on an invoice, or paid too much on it, and by when; None: nothing."""
    if row is None or row.client_id != client_id or (row.balance_due.minor >= 0 and not invoices.open_due_date(row)):
        return None
    return row.balance_due, row.due_date


def _settle_credit(tx: WriteTx, before: ClientPayment | None, after: ClientPayment | None) -> None:
    """What a client has on account stands in lists of clients, and moves their `updatedAt`."""
    for row in (before, after):
        if row is not None and row.on_account.minor:
            clients.touch(tx, row.client_id)


def _settle_shares(tx: WriteTx, before: BusinessRow | None, after: BusinessRow) -> None:
    """Properties without a share of their own show that of their business, and it moves their `updatedAt`."""
    if before is not None and before.owner_share_percent != after.owner_share_percent:
        properties_register.touch_shared(tx, after.id)


def _choose_quarters(tx: WriteTx, before: BusinessRow | None, after: BusinessRow) -> None:
    chosen = businesses.NEVER_CHOSEN if before is None else businesses.choice_of(before)
    if businesses.choice_of(after) != chosen:
        quarter_choices.note(tx, after.id, businesses.choice_of(after))


def _schedule_business(tx: WriteTx, before: BusinessRow | None, after: BusinessRow) -> None:
    if before is None or _differ(before, after, businesses.ON_CALENDAR):
        schedule.refresh(tx, after.legal_entity_id, after.id)


def _schedule_entity(tx: WriteTx, before: EntityRow | None, after: EntityRow) -> None:
    if before is None or _differ(before, after, legal_entities.ON_CALENDAR):
        schedule.refresh(tx, after.id)


def _schedule_anew(tx: WriteTx, before: None, legal_entity_id: str) -> None:
    """Of tables that hold what was said of a legal entity: what is stored is the id of that."""
    schedule.refresh(tx, legal_entity_id)


def _schedule_closed(tx: WriteTx, before: PeriodRow | None, after: PeriodRow) -> None:
    """What was owed in a closed period may ask for payments on account; while it was closed others may have changed."""
    if before is not None and before.status != after.status and after.status != "closing":
        schedule.refresh(tx, after.legal_entity_id)


def _settle_certificate(tx: WriteTx, before: StoredCertificate | None, after: StoredCertificate | None) -> None:
    certificates.settle(tx, before, after)
    rows = [row for row in (before, after) if row is not None]
    for property_id in {row.property_id for row in rows}:
        missing.note(tx, property_id)
    for property_id in {row.property_id for row in rows if row.type in efficiency.TOLD_BY}:
        register.touch_all(tx, property_id)  # what there is to warn of stands in lists of tenancies


def _settle_property(tx: WriteTx, before: StoredProperty | None, after: StoredProperty) -> None:
    missing.note(tx, after.id)
    if before is not None and _differ(before, after, ("name", "status", "disposal_date")):
        certificates.settle_property(tx, after)
        properties.settle_disposal(tx, after)
    if before is not None and before.jurisdiction != after.jurisdiction:
        register.touch_all(tx, after.id)  # in some nations alone there is something to warn of


def _settle_obligations(tx: WriteTx, before: ObligationRow | None, after: ObligationRow | None) -> None:
    """Which obligations a period has stands in lists of periods, and moves their `updatedAt`."""
    were, are = (frozenset(() if row is None else (row.period_id,)) for row in (before, after))
    for period_id in were ^ are:
        if period_id is not None:
            periods.touch(tx, period_id)


def _settle_unit(tx: WriteTx, before: StoredUnit | None, after: StoredUnit) -> None:
    if before is None:
        units.note_tenancies(tx, after.property_id, after.id)
    missing.note(tx, after.property_id)


def _settle_tenancy(tx: WriteTx, before: TenancyRow | None, after: TenancyRow) -> None:
    were = {} if before is None else spans.last_days(before)
    tenancies.link(tx, were, after)
    rents_received.note_unpaid(tx, after.id)
    units.note_tenancies(tx, after.property_id, after.unit_id)
    tenants.note_tenancies(tx, {*were, *spans.last_days(after)})


def _settle_arrears(tx: WriteTx, before: Allocation | None, after: Allocation | None) -> None:
    """What a tenancy owes stands in lists of tenancies, and moves their `updatedAt`."""
    for tenancy_id in {row.tenancy_id for row in (before, after) if row is not None and row.tenancy_id is not None}:
        register.touch(tx, tenancy_id)


def _index_document(tx: WriteTx, before: DocumentRow | None, after: DocumentRow | None) -> None:
    """A document is found by its name and its text, from when its bytes are confirmed until it is in the trash."""
    was = before.name if before is not None and before.status == UPLOADED else None
    becomes = after.name if after is not None and after.status == UPLOADED else None
    if before is not None and (after is None or was != becomes):
        index_queue.put(tx, before.id)


def _index_text(tx: WriteTx, before: None, document_id: str) -> None:
    index_queue.put(tx, document_id)


def _tell_of_reading(tx: WriteTx, before: None, document_id: str) -> None:
    """How far the reading of a document has come stands in lists of documents, and moves their `updatedAt`."""
    documents.touch(tx, document_id)


def _listen(tx: WriteTx, before: SubscriptionRow | None, after: SubscriptionRow | None) -> None:
    """Who subscribes, and to what, decides which events are recorded."""
    tx.forget_listened()


def _withdraw_mails(tx: WriteTx, before: None, act: audit.Act) -> None:
    """What an act made void is sent no more, also where mail waits that was written before mail was switched off."""
    notices.withdraw_after(tx, act)


def _differ(before: object, after: object, names: tuple[str, ...]) -> bool:
    return any(getattr(before, name) != getattr(after, name) for name in names)


FOLLOW_UPS: Final[Mapping[str, tuple[FollowUp, ...]]] = {
    "allocations": (rents_received.note, _settle_arrears),
    audit.TABLE: (_withdraw_mails,),
    "businesses": (_choose_quarters, _schedule_business, _settle_shares),
    "certificates": (_settle_certificate,),
    "client_payments": (_settle_credit,),
    "former_vat_terms": (_schedule_anew,),
    "invoices": (_settle_balances, _settle_quote),
    "legal_entities": (_schedule_entity,),
    "obligations": (_settle_obligations,),
    "periods": (_schedule_closed,),
    "properties": (_settle_property,),
    "property_units": (_settle_unit,),
    "tax_year_figures": (_schedule_anew,),
    "tenancies": (_settle_tenancy,),
    "vat_years": (_schedule_anew,),
    "vault_documents": (_index_document,),
    "vault_pages": (_index_text,),
    "vault_parses": (_tell_of_reading,),
    "webhook_subscriptions": (_listen,),
}
"""By the table whose row was stored."""


ANSWERS: Final[Mapping[str, type[Any]]] = {
    "allocation_rules": AllocationRule,
    "allocations": Allocation,
    "asset_accounts": AssetAccount,
    "asset_portfolios": Portfolio,
    "asset_transactions": AssetTransaction,
    "bank_accounts": BankAccount,
    "bills": Bill,
    "businesses": Business,
    "certificates": Certificate,
    "clients": Client,
    "import_runs": ImportRun,
    "instruments": Instrument,
    "invoices": Invoice,
    "legal_entities": LegalEntity,
    "mortgages": Mortgage,
    "obligations": Obligation,
    "opportunities": Opportunity,
    "periods": Period,
    "properties": Property,
    "property_units": PropertyUnit,
    "quotes": Quote,
    "recurring_invoices": Recurring,
    "property_valuations": PropertyValuation,
    "tenancies": Tenancy,
    "tenants": Tenant,
    "vault_documents": Document,
    "vault_folders": Folder,
}
"""The tables whose changes are told, and what their rows are answered as: a change that no answer shows is none."""


def _tell(tx: WriteTx, changes: Sequence[Change]) -> None:
    telling.tell(tx, changes, ANSWERS)


def reactions(mailing: Mailing | None = None) -> Reactions:
    """All that follows from changes of rows. `mailing` None: nobody is told anything by mail."""
    follow_ups: dict[str, Sequence[FollowUp]] = dict(FOLLOW_UPS)
    if mailing is not None:
        follow_ups[audit.TABLE] = (_withdraw_mails, _telling_by_mail(mailing))
    return Reactions(follow_ups, frozenset(ANSWERS), telling.listened, _tell)


def _telling_by_mail(mailing: Mailing) -> FollowUp:
    """What is done to somebody's account is told to them."""

    def tell(tx: WriteTx, before: None, act: audit.Act) -> None:
        notices.tell_of_act(tx, mailing, act)

    return tell
