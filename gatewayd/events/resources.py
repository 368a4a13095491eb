"""The resources whose changes are told, and the kinds of events that they have.

A kind is told where somebody listens to it, in the transaction of the change, and once for all that one operation makes
of a resource. Its data are the id and a few members of the resource, by the names of the columns of its row.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec.structs import fields, replace

from gatewayd.events.kinds import EventKind, Move, ResourceEvent, ResourceEvents
from gatewayd.events.resource_shapes import (
    AllocationChanged,
    AssetAccountChanged,
    AssetTransactionChanged,
    BankAccountChanged,
    BillChanged,
    BusinessChanged,
    CertificateChanged,
    ClientChanged,
    DocumentChanged,
    FolderChanged,
    ImportChanged,
    InstrumentChanged,
    InvoiceChanged,
    LegalEntityChanged,
    MortgageChanged,
    ObligationChanged,
    OpportunityChanged,
    PeriodChanged,
    PortfolioChanged,
    PropertyChanged,
    QuoteChanged,
    RecurringChanged,
    RuleChanged,
    TenancyChanged,
    TenantChanged,
    UnitChanged,
    ValuationChanged,
)


def _is(name: str, *values: str) -> Callable[[Any], bool]:
    return lambda row: getattr(row, name) in values


def _not(name: str, value: str) -> Callable[[Any], bool]:
    return lambda row: getattr(row, name) != value


def _has(name: str) -> Callable[[Any], bool]:
    return lambda row: getattr(row, name) is not None


def _lacks(name: str) -> Callable[[Any], bool]:
    return lambda row: getattr(row, name) is None


RESOURCES: Final = (
    ResourceEvents(
        name="legal_entity",
        area="legalEntity",
        table="legal_entities",
        sample=LegalEntityChanged(
            legal_entity_id="ent_01kaqk0000a1b2c3d4e5f6g7h8",
            type="company",
            status="active",
            version=2,
            changed=[],
        ),
        moves=(
            Move("archived", "A legal entity is archived.", _has("archived_at")),
            Move("restored", "An archived legal entity is brought back.", _lacks("archived_at")),
        ),
    ),
    ResourceEvents(
        name="business",
        area="businesses",
        table="businesses",
        sample=BusinessChanged(
            business_id="biz_01kaqk0000a1b2c3d4e5f6g7h8",
            legal_entity_id="ent_01kaqe0000a1b2c3d4e5f6g7h8",
            type="self_employment",
            status="active",
            version=2,
            changed=[],
        ),
        moves=(
            Move("ceased", "A business ceases.", _is("status", "ceased")),
            Move("archived", "A business is archived.", _has("archived_at")),
            Move("restored", "An archived business is brought back.", _lacks("archived_at")),
        ),
    ),
    ResourceEvents(
        name="client",
        area="accounting",
        table="clients",
        sample=ClientChanged(
            client_id="cli_01kaqk0000a1b2c3d4e5f6g7h8",
            status="active",
            version=2,
            changed=[],
        ),
        moves=(
            Move("archived", "A client is archived.", _has("archived_at")),
            Move("restored", "An archived client is brought back.", _lacks("archived_at")),
        ),
    ),
    ResourceEvents(
        name="invoice",
        area="accounting",
        table="invoices",
        sample=InvoiceChanged(
            invoice_id="inv_01kaqk0000a1b2c3d4e5f6g7h8",
            kind="invoice",
            client_id="cli_01kaqe2n00e1f2g3h4j5k6m7n8",
            business_id="biz_01kaqe1m40w1x2y3z4a5b6c7d8",
            number="INV-0042",
            status="issued",
            version=2,
            changed=[],
        ),
        told=("created", "updated", "removed"),
        moves=(
            Move(
                "issued",
                "An invoice or a credit note is issued.",
                _is("status", "issued", "sent", "part_paid", "paid"),
                at_creation=True,
            ),
            Move("sent", "An invoice or a credit note is marked as sent.", _has("sent_at"), at_creation=True),
            Move("viewed", "The client opened an invoice or a credit note by its link.", _has("viewed_at")),
            Move("part_paid", "A part of an invoice is paid.", _is("status", "part_paid")),
            Move("paid", "An invoice is paid in full.", _is("status", "paid"), at_creation=True),
            Move("voided", "An invoice or a credit note is voided.", _is("status", "void")),
        ),
    ),
    ResourceEvents(
        name="bill",
        area="accounting",
        table="bills",
        sample=BillChanged(
            bill_id="bill_01kaqk0000a1b2c3d4e5f6g7h8",
            kind="bill",
            supplier_id="cli_01kaqe2n00e1f2g3h4j5k6m7n8",
            business_id="biz_01kaqe1m40w1x2y3z4a5b6c7d8",
            number="SI-20417",
            status="awaiting_payment",
            version=2,
            changed=[],
        ),
        told=("created", "updated", "removed"),
        moves=(
            Move("part_paid", "A part of a bill is paid or credited.", _is("status", "part_paid")),
            Move("paid", "A bill is paid in full.", _is("status", "paid")),
            Move("voided", "A bill or a supplier's credit note is voided.", _is("status", "void")),
        ),
    ),
    ResourceEvents(
        name="quote",
        area="accounting",
        table="quotes",
        sample=QuoteChanged(
            quote_id="quo_01kaqk0000a1b2c3d4e5f6g7h8",
            client_id="cli_01kaqe2n00e1f2g3h4j5k6m7n8",
            number="QUO-000007",
            status="accepted",
            version=3,
            changed=[],
        ),
        told=("created", "updated", "removed"),
        moves=(
            Move("sent", "A quote is issued to the client.", _not("state", "draft")),
            Move("viewed", "The client opened a quote by its link.", _has("viewed_at")),
            Move("accepted", "The client accepted a quote.", _is("state", "accepted", "invoiced")),
            Move("declined", "The client declined a quote.", _is("state", "declined")),
            Move("invoiced", "All of a quote is invoiced.", _is("state", "invoiced")),
        ),
    ),
    ResourceEvents(
        name="recurring",
        area="accounting",
        table="recurring_invoices",
        sample=RecurringChanged(
            recurring_id="rec_01kaqk0000a1b2c3d4e5f6g7h8",
            client_id="cli_01kaqe2n00e1f2g3h4j5k6m7n8",
            next_date="2026-12-31",
            halted_reason=None,
            status="active",
            version=2,
            changed=[],
        ),
        moves=(
            Move("paused", "A recurring invoice is paused.", _is("status", "paused")),
            Move("halted", "A recurring invoice could not be made, and waits for somebody.", _is("status", "halted")),
            Move("resumed", "A recurring invoice that was paused or halted goes on.", _is("status", "active")),
            Move("ended", "A recurring invoice has ended.", _is("status", "ended")),
        ),
    ),
    ResourceEvents(
        name="opportunity",
        area="crm",
        table="opportunities",
        sample=OpportunityChanged(
            opportunity_id="opp_01kaqk0000a1b2c3d4e5f6g7h8",
            pipeline_id="default",
            stage="proposal",
            lead_id="lead_01kaqf6m40a1b2c3d4e5f6g7h8",
            version=2,
            changed=[],
        ),
    ),
    ResourceEvents(
        name="property",
        area="landlord",
        table="properties",
        sample=PropertyChanged(
            property_id="prop_01kaqk0000a1b2c3d4e5f6g7h8",
            business_id="biz_01kaqe1m40w1x2y3z4a5b6c7d8",
            status="active",
            version=2,
            changed=[],
        ),
        moves=(
            Move("sold", "A property is sold.", _is("status", "sold")),
            Move("archived", "A property is archived.", _is("status", "archived")),
            Move("restored", "An archived property is brought back.", _lacks("archived_at")),
        ),
    ),
    ResourceEvents(
        name="unit",
        area="landlord",
        table="property_units",
        sample=UnitChanged(
            unit_id="unit_01kaqk0000a1b2c3d4e5f6g7h8",
            property_id="prop_01kaqg2b40n2p3q4r5s6t7v8w9",
            version=2,
            changed=[],
        ),
        moves=(
            Move("archived", "A unit is archived.", _has("archived_at")),
            Move("restored", "An archived unit is brought back.", _lacks("archived_at")),
        ),
    ),
    ResourceEvents(
        name="tenancy",
        area="landlord",
        table="tenancies",
        sample=TenancyChanged(
            tenancy_id="tcy_01kaqk0000a1b2c3d4e5f6g7h8",
            property_id="prop_01kaqg2b40n2p3q4r5s6t7v8w9",
            unit_id=None,
            start_date="2026-05-01",
            version=2,
            changed=[],
        ),
        moves=(
            Move("notice_served", "Notice is served on a tenancy.", _has("notice_served_date")),
            Move("ended", "It is said on which day somebody left.", _has("end_date")),
            Move("cancelled", "A tenancy is called off.", _has("cancelled_at")),
        ),
    ),
    ResourceEvents(
        name="tenant",
        area="landlord",
        table="tenants",
        sample=TenantChanged(
            tenant_id="tnt_01kaqk0000a1b2c3d4e5f6g7h8",
            kind="person",
            version=2,
            changed=[],
        ),
        moves=(Move("erased", "What tells who a tenant was is erased.", _has("anonymised_at")),),
    ),
    ResourceEvents(
        name="mortgage",
        area="landlord",
        table="mortgages",
        sample=MortgageChanged(
            mortgage_id="mtg_01kaqk0000a1b2c3d4e5f6g7h8",
            property_id="prop_01kaqg2b40n2p3q4r5s6t7v8w9",
            status="active",
            version=2,
            changed=[],
        ),
        moves=(Move("redeemed", "A mortgage is redeemed.", _is("status", "redeemed")),),
    ),
    ResourceEvents(
        name="valuation",
        area="landlord",
        table="property_valuations",
        sample=ValuationChanged(
            valuation_id="val_01kaqk0000a1b2c3d4e5f6g7h8",
            property_id="prop_01kaqg2b40n2p3q4r5s6t7v8w9",
            valuation_date="2026-11-01",
            version=2,
            changed=[],
        ),
        told=("created",),
    ),
    ResourceEvents(
        name="certificate",
        area="landlord",
        table="certificates",
        sample=CertificateChanged(
            certificate_id="cert_01kaqk0000a1b2c3d4e5f6g7h8",
            property_id="prop_01kaqg2b40n2p3q4r5s6t7v8w9",
            unit_id=None,
            type="gas_safety",
            expiry_date="2027-11-19",
            version=2,
            changed=[],
        ),
        told=("created", "updated", "removed"),
        moves=(Move("superseded", "A certificate is followed by a newer one.", _has("superseded_by_id")),),
    ),
    ResourceEvents(
        name="portfolio",
        area="assets",
        table="asset_portfolios",
        sample=PortfolioChanged(
            portfolio_id="prt_01kaqk0000a1b2c3d4e5f6g7h8",
            legal_entity_id="ent_01kaqe0000a1b2c3d4e5f6g7h8",
            status="active",
            version=2,
            changed=[],
        ),
        moves=(
            Move("archived", "A portfolio is archived.", _has("archived_at")),
            Move("restored", "An archived portfolio is brought back.", _lacks("archived_at")),
        ),
    ),
    ResourceEvents(
        name="asset_account",
        area="assets",
        table="asset_accounts",
        sample=AssetAccountChanged(
            asset_account_id="acc_01kaqk0000a1b2c3d4e5f6g7h8",
            portfolio_id="prt_01kaqh0000a1b2c3d4e5f6g7h8",
            legal_entity_id="ent_01kaqe0000a1b2c3d4e5f6g7h8",
            status="open",
            version=2,
            changed=[],
        ),
        moves=(Move("closed", "An account with assets is closed.", _is("status", "closed")),),
    ),
    ResourceEvents(
        name="instrument",
        area="assets",
        table="instruments",
        sample=InstrumentChanged(
            instrument_id="ins_01kaqk0000a1b2c3d4e5f6g7h8",
            asset_class="equity",
            version=2,
            changed=[],
        ),
    ),
    ResourceEvents(
        name="asset_transaction",
        area="assets",
        table="asset_transactions",
        sample=AssetTransactionChanged(
            asset_transaction_id="txn_01kaqk0000a1b2c3d4e5f6g7h8",
            account_id="acc_01kaqh1m40w1x2y3z4a5b6c7d8",
            instrument_id="ins_01kaqh2n00e1f2g3h4j5k6m7n8",
            type="buy",
            trade_date="2026-11-19",
            version=2,
            changed=[],
        ),
        told=("created", "removed"),
        moves=(Move("reversed", "A transaction of an account with assets is reversed.", _has("reversed_by_id")),),
    ),
    ResourceEvents(
        name="bank_account",
        area="banking",
        table="bank_accounts",
        sample=BankAccountChanged(
            bank_account_id="bac_01kaqk0000a1b2c3d4e5f6g7h8",
            legal_entity_id="ent_01kaqe0000a1b2c3d4e5f6g7h8",
            status="active",
            version=2,
            changed=[],
        ),
        told=("created", "updated", "removed"),
        moves=(Move("closed", "A bank account is closed.", _is("status", "closed")),),
    ),
    ResourceEvents(
        name="import",
        area="banking",
        table="import_runs",
        sample=ImportChanged(
            import_id="imp_01kaqk0000a1b2c3d4e5f6g7h8",
            kind="bank",
            account_id="bac_01kaqj0000a1b2c3d4e5f6g7h8",
            status="applied",
            version=2,
            changed=[],
        ),
        told=(),
        moves=(
            Move(
                "applied", "The lines or trades of a file are in the books.", _is("status", "applied"), at_creation=True
            ),
            Move("undone", "An import is undone: what it brought is gone.", _is("status", "reverted")),
            Move("failed", "A file could not be imported.", _is("status", "failed"), at_creation=True),
        ),
    ),
    ResourceEvents(
        name="allocation",
        area="banking",
        table="allocations",
        sample=AllocationChanged(
            allocation_id="alc_01kaqk0000a1b2c3d4e5f6g7h8",
            source_id="btx_01kaqj1m40w1x2y3z4a5b6c7d8",
            business_id="biz_01kaqe1m40w1x2y3z4a5b6c7d8",
            category="office_costs",
            date="2026-11-19",
            version=2,
            changed=[],
        ),
        told=("created", "updated", "removed"),
    ),
    ResourceEvents(
        name="rule",
        area="banking",
        table="allocation_rules",
        sample=RuleChanged(
            rule_id="rule_01kaqk0000a1b2c3d4e5f6g7h8",
            mode="suggest",
            enabled=True,
            version=2,
            changed=[],
        ),
        told=("created", "updated", "removed"),
    ),
    ResourceEvents(
        name="document",
        area="vault",
        table="vault_documents",
        sample=DocumentChanged(
            document_id="doc_01kaqk0000a1b2c3d4e5f6g7h8",
            folder_id=None,
            status="uploaded",
            version=2,
            changed=[],
        ),
        told=("created", "updated", "removed"),
        moves=(
            Move("uploaded", "The bytes of a document are confirmed.", _is("status", "uploaded")),
            Move("deleted", "A document goes into the trash.", _is("status", "deleted")),
            Move("restored", "A document is taken out of the trash.", _not("status", "deleted")),
        ),
    ),
    ResourceEvents(
        name="folder",
        area="vault",
        table="vault_folders",
        sample=FolderChanged(
            folder_id="fld_01kaqk0000a1b2c3d4e5f6g7h8",
            parent_id=None,
            version=2,
            changed=[],
        ),
        told=("created", "updated", "removed"),
    ),
    ResourceEvents(
        name="period",
        area="periods",
        table="periods",
        sample=PeriodChanged(
            period_id="per_01kaqk0000a1b2c3d4e5f6g7h8",
            legal_entity_id="ent_01kaqe0000a1b2c3d4e5f6g7h8",
            business_id=None,
            type="vat_period",
            start_date="2026-07-01",
            end_date="2026-09-30",
            status="closed",
            version=2,
            changed=[],
        ),
        moves=(
            Move("closing", "A period is being closed.", _is("status", "closing")),
            Move("closed", "A period is closed.", _is("status", "closed")),
            Move("reopened", "A period is opened again.", _is("status", "open")),
        ),
    ),
    ResourceEvents(
        name="obligation",
        area="obligations",
        table="obligations",
        sample=ObligationChanged(
            obligation_id="obl_01kaqk0000a1b2c3d4e5f6g7h8",
            kind="vat_return",
            legal_entity_id="ent_01kaqe0000a1b2c3d4e5f6g7h8",
            business_id=None,
            due_date="2026-11-07",
            status="open",
            version=2,
            changed=[],
        ),
        moves=(
            Move("fulfilled", "An obligation is met.", _is("status", "fulfilled")),
            Move("not_required", "An obligation is no longer required.", _is("status", "not_required")),
            Move("reopened", "An obligation is open again.", _is("status", "open")),
        ),
    ),
)

_OF_EACH: Final = frozenset(ResourceEvent.__struct_fields__)
_MEANINGS: Final = {"created": "is new", "updated": "has changed", "removed": "was deleted"}


def kinds_of(resource: ResourceEvents) -> Iterator[EventKind]:
    """The kinds of a resource: what of it is told, then the moves of its state."""
    noun = resource.name.replace("_", " ")
    article = "An" if noun[0] in "aeio" else "A"
    meanings = {verb: f"{article} {noun} {_MEANINGS[verb]}." for verb in resource.told}
    meanings |= {move.name: move.meaning for move in resource.moves}
    for verb, meaning in meanings.items():
        sample = replace(resource.sample, changed=[_member(resource)] if verb == "updated" else [])
        name = f"{resource.name}.{verb}"
        yield EventKind(name=name, meaning=meaning, data=type(sample), sample=sample, extension=True)


def _member(resource: ResourceEvents) -> str:
    """The name, as answers spell it, of the first member that the data have beside the id."""
    name = next(field.name for field in fields(resource.sample) if field.name not in _OF_EACH | {f"{resource.name}_id"})
    first, *more = name.split("_")
    return first + "".join(word.capitalize() for word in more)
