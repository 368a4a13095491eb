"""Obligations compared with the tax authority's (Domain A9, B9): shapes and the row, whose handler is `tax`'s."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from gatewayd.contract.operation import AT_CATALOGUE, TAX_FORWARD, Operation
from gatewayd.contract.wire import Id, Request, Response, Timestamp
from gatewayd.ledger.obligations.obligations import Obligation


class SyncObligations(Request, frozen=True, kw_only=True):
    """Whose obligations are compared with the authority's."""

    legal_entity_id: Id
    """Whose obligations are asked for."""
    taxes: Annotated[list[Literal["vat", "income_tax"]], Meta(min_length=1)] | None = None
    """Of which taxes; by default those that the legal entity has a number for."""
    dry_run: Annotated[bool, Meta(description="Only compare: nothing is changed.")] = False


class ObligationDifference(Response, frozen=True, kw_only=True):
    """One field in which the books and the authority differed."""

    obligation_id: str | None
    """The obligation that differs. Null: it was not in the books."""
    kind: str
    """What is due."""
    business_id: str | None
    """The business that it is about. Null: the whole legal entity."""
    period_end_date: str
    """The last day of what it is about."""
    field: str
    """What differs: `dueDate`, `periodStartDate`, `status` or `receivedDate`."""
    local: str | None
    """What stood in the books. Null: nothing did."""
    remote: str | None
    """What the authority says. Null: nothing; of `status`, it has no such obligation, though it told of others of this
    kind about these days."""


class UnknownSource(Response, frozen=True, kw_only=True):
    """A source of income that the authority has obligations of, and the books don't know: nothing is taken over."""

    tax_business_id: str
    """The authority's id of the source of income."""
    obligation_count: int
    """How many obligations of it the authority has."""


class ObligationSync(Response, frozen=True, kw_only=True):
    """What the authority has, and in what the books differed from it."""

    obligations: list[Obligation]
    """What the authority has, as it now is in the books; in a dry run as it was there."""
    differences: list[ObligationDifference]
    """What differed before anything was taken over."""
    unknown_sources: list[UnknownSource]
    """Sources of income that the books do not know: of these nothing is taken over."""
    synced_at: Timestamp
    """When the authority's word was compared."""


OPERATIONS: Final = (
    Operation(
        id="obligations.sync",
        kind="call",
        method="POST",
        path="/obligations/sync",
        scopes=("periods:write", "tax:read"),
        request=SyncObligations,
        response=ObligationSync,
        handler=AT_CATALOGUE,
        errors=(
            *("fraud_headers_invalid", "test_header_in_production"),
            *("tax_not_connected", "tax_reauthorisation_required", "tax_not_configured"),
            *("tax_upstream_error", "tax_upstream_timeout"),
            *("invalid_state", "version_conflict"),
        ),
        takes_incoming=True,
        work=TAX_FORWARD,
        extension=True,
        example={"legalEntityId": "ent_01k0000000000000000000000a"},
    ),
)
