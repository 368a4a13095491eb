"""The kinds of events that have rows of their own: promised by the specification, or told of a day that comes."""

from typing import Final, Literal

import msgspec

from gatewayd.events.kinds import EventData, EventKind


class LeadCreated(EventData, frozen=True, kw_only=True):
    """A new lead was created in the CRM (Spec §2, §6)."""

    lead_id: str
    """The lead."""
    source: str
    """Where the lead came from."""
    status: str
    """Its state when it was created."""


class OpportunityStageChanged(EventData, frozen=True, kw_only=True):
    """An opportunity moved to a different pipeline stage (Spec §6)."""

    # Chosen: Spec §6 does not show the fields.
    opportunity_id: str
    """The opportunity."""
    pipeline_id: str
    """The pipeline that it runs through."""
    from_stage: str
    """The stage that it left."""
    to_stage: str
    """The stage that it came to."""
    changed_by: str
    """Who moved it: a person, a key or the operator."""
    lead_id: str | None
    """The lead that it came from; null: from none."""


class ObligationDue(EventData, frozen=True, kw_only=True):
    """Something is due. Dates are London's; `days_until_due` is negative once the day has passed."""

    obligation_id: str
    """The obligation."""
    kind: str
    """What is owed: a return, a payment or a filing."""
    legal_entity_id: str
    """Whose it is."""
    business_id: str | None
    """The business that it is of; null: of the legal entity as a whole."""
    period_start_date: str
    """The first day of what it is for."""
    period_end_date: str
    """The last day of what it is for."""
    due_date: str
    """The day by which it is due."""
    days_until_due: int
    """Whole days until then; negative once the day has passed."""
    confidence: str
    """Whether the authority confirmed it, or it was worked out from the law."""


class CertificateExpiring(EventData, frozen=True, kw_only=True):
    """A certificate of a property is about to expire. Dates are London's."""

    certificate_id: str
    """The certificate."""
    type: str
    """Which certificate, licence, check or policy it is."""
    property_id: str
    """The property that it is of."""
    unit_id: str | None
    """The unit that it is of; null: the whole property."""
    business_id: str
    """The business that lets the property."""
    expiry_date: str
    """The last day on which it holds."""
    days_until_expiry: int
    """Whole days until then."""


class TenancyEnding(EventData, frozen=True, kw_only=True):
    """A tenancy is about to end, or a notice expires, or its term is over. Dates are London's.

    `notice_by` null: without a notice, on the day agreed, or of a notice of which nobody said whose it is. `continues`:
    after `end_date` it goes on until somebody leaves, as it does past a landlord's notice on a home.
    """

    tenancy_id: str
    """The tenancy."""
    property_id: str
    """The property that is let."""
    unit_id: str | None
    """The unit that is let; null: the whole property."""
    business_id: str
    """The business that lets it."""
    end_date: str
    """The day of which is told: its end, the end of its term, or the expiry of a notice."""
    days_until_end: int
    """Whole days until then."""
    notice_by: str | None
    """Who gave notice; null: nobody, or nobody said who."""
    continues: bool
    """Whether it goes on past that day until somebody leaves."""


class RentOverdue(EventData, frozen=True, kw_only=True):
    """Rent was due and has not come. `arrears` is all that the tenancy owes, a decimal string of `currency`."""

    tenancy_id: str
    """The tenancy."""
    property_id: str
    """The property that is let."""
    unit_id: str | None
    """The unit that is let; null: the whole property."""
    business_id: str
    """The business that lets it."""
    due_date: str
    """The day on which the rent was due."""
    days_overdue: int
    """Whole days since then."""
    arrears: str
    """All that the tenancy owes, a decimal string of `currency`."""
    currency: str
    """The currency of the rent."""


class InvoiceOverdue(EventData, frozen=True, kw_only=True):
    """The due date of an invoice has passed, and money is still due. Dates are London's."""

    invoice_id: str
    """The invoice."""
    client_id: str
    """Whom it is made out to."""
    business_id: str | None
    """The business whose income it is; null: it names none."""
    number: str
    """The number that is printed on it."""
    due_date: str
    """The last day to pay."""
    days_overdue: int
    """Whole days since then: 1, or more where nobody could tell of it in time."""
    balance_due: str
    """What is still to be paid, a decimal string of `currency`."""
    currency: str
    """The currency of the invoice."""


class _MailFailed(EventData, frozen=True, kw_only=True):
    """A mail to a client did not arrive, and is not tried again by itself."""

    mail_id: str
    """The mail."""
    status: Literal["failed", "bounced"]
    """`bounced`: the server takes nothing for this address. `failed`: it was given up."""
    attempts: int
    """How often it was tried."""
    code: int | None
    """What the mail server answered last, such as 550; null: nothing."""


class InvoiceMailFailed(_MailFailed, frozen=True, kw_only=True):
    """A mail with an invoice or a credit note, or a reminder of one, did not arrive."""

    invoice_id: str
    """The invoice or credit note."""
    reminder: bool
    """Whether it was a reminder; false: the invoice itself."""


class QuoteMailFailed(_MailFailed, frozen=True, kw_only=True):
    """A mail with a quote did not arrive."""

    quote_id: str
    """The quote."""


class CreditsLow(EventData, frozen=True, kw_only=True):
    """Credits run low under the organization's plan. Both amounts are decimal strings, of credits."""

    plan_id: str
    """The plan that the organization is on."""
    balance: str
    """The credits that are left."""
    included_credits: str
    """The credits that the plan includes each month."""


class DocumentParsed(EventData, frozen=True, kw_only=True):
    """The text of a document was read."""

    document_id: str
    """The document."""
    engine: str
    """What read it."""
    page_count: int
    """How many pages were read."""


class DocumentParseFailed(EventData, frozen=True, kw_only=True):
    """An attempt to read a document gave no text."""

    document_id: str
    """The document."""
    code: str
    """Why, as `parse.errorCode` of the document has it."""


class FormSubmitted(EventData, frozen=True, kw_only=True):
    """Reserved for forms (Spec §6): may be subscribed to, and is not sent yet."""

    # Chosen: the least that a form's event can say; nothing fires it.
    form_id: str
    """The form."""
    submission_id: str
    """What was sent with it."""


_OBLIGATION: Final = ObligationDue(
    obligation_id="obl_01kaqg1r00n2p3q4r5s6t7v8w9",
    kind="vat_return",
    legal_entity_id="ent_01kaqe0000a1b2c3d4e5f6g7h8",
    business_id=None,
    period_start_date="2026-07-01",
    period_end_date="2026-09-30",
    due_date="2026-11-07",
    days_until_due=14,
    confidence="confirmed",
)

OWN_KINDS: Final = (
    EventKind(
        name="lead.created",
        meaning="A new lead is created in the CRM.",
        data=LeadCreated,
        sample=LeadCreated(lead_id="lead_01kaqf6m40a1b2c3d4e5f6g7h8", source="website", status="new"),
    ),
    EventKind(
        name="opportunity.stage_changed",
        meaning="An opportunity moves to a different pipeline stage.",
        data=OpportunityStageChanged,
        sample=OpportunityStageChanged(
            opportunity_id="opp_01kaqf7t80m9n8p7q6r5s4t3v2",
            pipeline_id="default",
            from_stage="proposal",
            to_stage="won",
            changed_by="usr_01kaqexz00w1x2y3z4a5b6c7d8",
            lead_id="lead_01kaqf6m40a1b2c3d4e5f6g7h8",
        ),
    ),
    EventKind(
        name="form.submitted",
        meaning="Reserved for a future forms feature. Subscribing is accepted, but no events are delivered yet.",
        data=FormSubmitted,
        sample=FormSubmitted(form_id="form_contact", submission_id="sub_01kaqf9v00e1f2g3h4j5k6m7n8"),
        fired=False,
    ),
    EventKind(
        name="obligation.due_soon",
        meaning="An open obligation is due within `obligations.due_soon_days`, 14 by default. Once for a due date.",
        data=ObligationDue,
        sample=_OBLIGATION,
        extension=True,
    ),
    EventKind(
        name="obligation.overdue",
        meaning="The due date of an open obligation has passed in London. Once for a due date.",
        data=ObligationDue,
        sample=msgspec.structs.replace(_OBLIGATION, days_until_due=-1),
        extension=True,
    ),
    EventKind(
        name="certificate.expiring",
        meaning="The certificate of a property that is let expires within 60 days. Once for an expiry date.",
        data=CertificateExpiring,
        sample=CertificateExpiring(
            certificate_id="cert_01kaqg2m80a1b2c3d4e5f6g7h8",
            type="gas_safety",
            property_id="prop_01kaqg2b40n2p3q4r5s6t7v8w9",
            unit_id=None,
            business_id="biz_01kaqe1m40w1x2y3z4a5b6c7d8",
            expiry_date="2027-01-19",
            days_until_expiry=60,
        ),
        extension=True,
    ),
    EventKind(
        name="tenancy.ending",
        meaning="A tenancy or its term ends, or a notice expires, within 60 days. Once for a date.",
        data=TenancyEnding,
        sample=TenancyEnding(
            tenancy_id="tcy_01kaqg3a00m9n8p7q6r5s4t3v2",
            property_id="prop_01kaqg2b40n2p3q4r5s6t7v8w9",
            unit_id=None,
            business_id="biz_01kaqe1m40w1x2y3z4a5b6c7d8",
            end_date="2027-01-19",
            days_until_end=60,
            notice_by="tenant",
            continues=False,
        ),
        extension=True,
    ),
    EventKind(
        name="rent.overdue",
        meaning="Rent that was due has not been received by the day after. Once for a due date.",
        data=RentOverdue,
        sample=RentOverdue(
            tenancy_id="tcy_01kaqg3a00m9n8p7q6r5s4t3v2",
            property_id="prop_01kaqg2b40n2p3q4r5s6t7v8w9",
            unit_id=None,
            business_id="biz_01kaqe1m40w1x2y3z4a5b6c7d8",
            due_date="2026-11-01",
            days_overdue=1,
            arrears="950.00",
            currency="GBP",
        ),
        extension=True,
    ),
    EventKind(
        name="invoice.overdue",
        meaning="The due date of an invoice has passed in London, and money is still due. Once for a due date.",
        data=InvoiceOverdue,
        sample=InvoiceOverdue(
            invoice_id="inv_01kaqk0000a1b2c3d4e5f6g7h8",
            client_id="cli_01kaqe2n00e1f2g3h4j5k6m7n8",
            business_id="biz_01kaqe1m40w1x2y3z4a5b6c7d8",
            number="INV-0042",
            due_date="2026-11-01",
            days_overdue=1,
            balance_due="950.00",
            currency="GBP",
        ),
        extension=True,
    ),
    EventKind(
        name="invoice.mail_failed",
        meaning="A mail with an invoice, a credit note or a reminder bounced, or was given up.",
        data=InvoiceMailFailed,
        sample=InvoiceMailFailed(
            mail_id="mail_01kaqk0000a1b2c3d4e5f6g7h8",
            status="bounced",
            attempts=1,
            code=550,
            invoice_id="inv_01kaqk0000a1b2c3d4e5f6g7h8",
            reminder=False,
        ),
        extension=True,
    ),
    EventKind(
        name="quote.mail_failed",
        meaning="A mail with a quote bounced, or was given up.",
        data=QuoteMailFailed,
        sample=QuoteMailFailed(
            mail_id="mail_01kaqk1000a1b2c3d4e5f6g7h8",
            status="failed",
            attempts=12,
            code=None,
            quote_id="quo_01kaqk0000a1b2c3d4e5f6g7h8",
        ),
        extension=True,
    ),
    EventKind(
        name="credits.low",
        meaning="Less than a tenth of what the plan includes each month is left, or nothing. Once each time.",
        data=CreditsLow,
        sample=CreditsLow(plan_id="plan_01kaqg4b00a1b2c3d4e5f6g7h8", balance="18.5", included_credits="200"),
        extension=True,
    ),
    EventKind(
        name="document.parsed",
        meaning="The text of a document was read, and it can be searched.",
        data=DocumentParsed,
        sample=DocumentParsed(document_id="doc_01kaqj2n00e1f2g3h4j5k6m7n8", engine="pdf", page_count=2),
        extension=True,
    ),
    EventKind(
        name="document.parse_failed",
        meaning="An attempt to read a document failed, or there is nothing in it to be read.",
        data=DocumentParseFailed,
        sample=DocumentParseFailed(document_id="doc_01kaqj2n00e1f2g3h4j5k6m7n8", code="encrypted"),
        extension=True,
    ),
)
