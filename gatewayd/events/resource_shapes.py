"""The data of events on resources: snake_case, as Spec §2 writes `lead_id`.

Their own fields are not `kw_only`, as those of their base are: so they stand before these, and the id comes first.
"""

from gatewayd.events.kinds import ResourceEvent


class LegalEntityChanged(ResourceEvent, frozen=True):
    """A legal entity has changed."""

    legal_entity_id: str
    """Its id."""
    type: str
    """Of which type it is."""
    status: str
    """Its state after the change."""


class BusinessChanged(ResourceEvent, frozen=True):
    """A business has changed."""

    business_id: str
    """Its id."""
    legal_entity_id: str
    """The legal entity that it belongs to."""
    type: str
    """Of which type it is."""
    status: str
    """Its state after the change."""


class ClientChanged(ResourceEvent, frozen=True):
    """A client has changed."""

    client_id: str
    """Its id."""
    status: str
    """Its state after the change."""


class InvoiceChanged(ResourceEvent, frozen=True):
    """An invoice has changed."""

    invoice_id: str
    """Its id."""
    kind: str
    """Of which kind it is."""
    client_id: str
    """To whom it is made out."""
    business_id: str | None
    """The business that it belongs to; null: to none."""
    number: str | None
    """Its number; null: a draft has none."""
    status: str
    """Its state after the change."""


class BillChanged(ResourceEvent, frozen=True):
    """A bill, an expense claim or a supplier's credit note has changed."""

    bill_id: str
    """Its id."""
    kind: str
    """What it is: a bill, an expense claim or a credit note."""
    supplier_id: str | None
    """Who charges it; null: an expense claim that names no supplier."""
    business_id: str
    """The business whose expense it is."""
    number: str | None
    """The supplier's number; null: none."""
    status: str
    """Its state after the change."""


class QuoteChanged(ResourceEvent, frozen=True):
    """A quote has changed."""

    quote_id: str
    """Its id."""
    client_id: str
    """To whom it is made out."""
    number: str | None
    """Its number; null: a draft has none."""
    status: str
    """Its state after the change."""


class RecurringChanged(ResourceEvent, frozen=True):
    """A recurring invoice has changed."""

    recurring_id: str
    """Its id."""
    client_id: str
    """To whom the invoices are made out."""
    next_date: str | None
    """The next day on which an invoice is due; null: it has ended."""
    halted_reason: str | None
    """Why the invoice of that day could not be made, in words; null: it is not halted."""
    status: str
    """Its state after the change."""


class OpportunityChanged(ResourceEvent, frozen=True):
    """An opportunity has changed."""

    opportunity_id: str
    """Its id."""
    pipeline_id: str
    """The pipeline that it runs through."""
    stage: str
    """Its stage in the pipeline."""
    lead_id: str | None
    """The lead that it came from; null: from none."""


class PropertyChanged(ResourceEvent, frozen=True):
    """A property has changed."""

    property_id: str
    """Its id."""
    business_id: str
    """The business that it belongs to."""
    status: str
    """Its state after the change."""


class UnitChanged(ResourceEvent, frozen=True):
    """A unit has changed."""

    unit_id: str
    """Its id."""
    property_id: str
    """The property that it belongs to."""


class TenancyChanged(ResourceEvent, frozen=True):
    """A tenancy has changed."""

    tenancy_id: str
    """Its id."""
    property_id: str
    """The property that it belongs to."""
    unit_id: str | None
    """The unit; null: the whole property."""
    start_date: str
    """Its first day."""


class TenantChanged(ResourceEvent, frozen=True):
    """A tenant has changed."""

    tenant_id: str
    """Its id."""
    kind: str
    """Of which kind it is."""


class MortgageChanged(ResourceEvent, frozen=True):
    """A mortgage has changed."""

    mortgage_id: str
    """Its id."""
    property_id: str
    """The property that it belongs to."""
    status: str
    """Its state after the change."""


class ValuationChanged(ResourceEvent, frozen=True):
    """A valuation has changed."""

    valuation_id: str
    """Its id."""
    property_id: str
    """The property that it belongs to."""
    valuation_date: str
    """The day on which it was worth that."""


class CertificateChanged(ResourceEvent, frozen=True):
    """A certificate has changed."""

    certificate_id: str
    """Its id."""
    property_id: str
    """The property that it belongs to."""
    unit_id: str | None
    """The unit; null: the whole property."""
    type: str
    """Of which type it is."""
    expiry_date: str | None
    """The last day on which it holds; null: it does not expire."""


class PortfolioChanged(ResourceEvent, frozen=True):
    """A portfolio has changed."""

    portfolio_id: str
    """Its id."""
    legal_entity_id: str
    """The legal entity that it belongs to."""
    status: str
    """Its state after the change."""


class AssetAccountChanged(ResourceEvent, frozen=True):
    """An account with assets has changed."""

    asset_account_id: str
    """Its id."""
    portfolio_id: str
    """The portfolio that it lies in."""
    legal_entity_id: str
    """The legal entity that it belongs to."""
    status: str
    """Its state after the change."""


class InstrumentChanged(ResourceEvent, frozen=True):
    """An instrument has changed."""

    instrument_id: str
    """Its id."""
    asset_class: str
    """What it is: a share, a fund, a bond."""


class AssetTransactionChanged(ResourceEvent, frozen=True):
    """A transaction of an account with assets has changed."""

    asset_transaction_id: str
    """Its id."""
    account_id: str
    """The account that it belongs to."""
    instrument_id: str | None
    """What was traded; null: money alone."""
    type: str
    """Of which type it is."""
    trade_date: str
    """The day of the trade."""


class BankAccountChanged(ResourceEvent, frozen=True):
    """A bank account has changed."""

    bank_account_id: str
    """Its id."""
    legal_entity_id: str | None
    """The legal entity that it belongs to; null: to none."""
    status: str
    """Its state after the change."""


class ImportChanged(ResourceEvent, frozen=True):
    """An import of a bank's or a broker's file has changed."""

    import_id: str
    """Its id."""
    kind: str
    """Of which kind it is."""
    account_id: str | None
    """The account that it is of; null: of several, or not known yet."""
    status: str
    """Its state after the change."""


class AllocationChanged(ResourceEvent, frozen=True):
    """An allocation has changed."""

    allocation_id: str
    """Its id."""
    source_id: str | None
    """The bank line; null: money that no bank line shows."""
    business_id: str | None
    """The business that it belongs to; null: to none."""
    category: str
    """What the money was for."""
    date: str
    """The day of the money."""


class RuleChanged(ResourceEvent, frozen=True):
    """A rule of allocation has changed."""

    rule_id: str
    """Its id."""
    mode: str
    """Whether it allocates by itself or suggests."""
    enabled: bool
    """Whether it is applied."""


class DocumentChanged(ResourceEvent, frozen=True):
    """A document has changed."""

    document_id: str
    """Its id."""
    folder_id: str | None
    """The folder that it lies in; null: the top."""
    status: str
    """Its state after the change."""


class FolderChanged(ResourceEvent, frozen=True):
    """A folder has changed."""

    folder_id: str
    """Its id."""
    parent_id: str | None
    """The folder that it lies in; null: the top."""


class PeriodChanged(ResourceEvent, frozen=True):
    """A period has changed."""

    period_id: str
    """Its id."""
    legal_entity_id: str
    """The legal entity that it belongs to."""
    business_id: str | None
    """The business that it belongs to; null: to none."""
    type: str
    """Of which type it is."""
    start_date: str
    """Its first day."""
    end_date: str
    """Its last day."""
    status: str
    """Its state after the change."""


class ObligationChanged(ResourceEvent, frozen=True):
    """An obligation has changed."""

    obligation_id: str
    """Its id."""
    kind: str
    """Of which kind it is."""
    legal_entity_id: str
    """The legal entity that it belongs to."""
    business_id: str | None
    """The business that it belongs to; null: to none."""
    due_date: str
    """The day by which it is due."""
    status: str
    """Its state after the change."""
