"""Obligations compared with the tax authority's (Domain A9, B9): shapes and the row, whose handler is `tax`'s."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from gatewayd.contract.operation import AT_CATALOGUE, TAX_FORWARD, Operation
from gatewayd.contract.wire import Id, Request, Response, Timestamp
from gatewayd.ledger.obligations.obligations import Obligation


class SyncObligations(Request, frozen=True, kw_only=True):
    """Of which legal entity; of which taxes, by default those that it has a number for."""

    legal_entity_id: Id
    taxes: Annotated[list[Literal["vat", "income_tax"]], Meta(min_length=1)] | None = None
    dry_run: Annotated[bool, Meta(description="Only compare: nothing is changed.")] = False


class ObligationDifference(Response, frozen=True, kw_only=True):
    """One member in which the books and the authority differed. `obligationId` null: it was not in the books.

    `field` is `dueDate`, `periodStartDate`, `status` or `receivedDate`. With `status`, `remote` null: the authority has
    no such obligation, though it told of others of this kind about these days.
    """

    obligation_id: str | None
    kind: str
    business_id: str | None
    period_end_date: str
    field: str
    local: str | None
    remote: str | None


class UnknownSource(Response, frozen=True, kw_only=True):
    """A source of income that the authority has obligations of, and the books don't know: nothing is taken over."""

    tax_business_id: str
    obligation_count: int


class ObligationSync(Response, frozen=True, kw_only=True):
    """What the authority has, as it now is in the books; in a dry run, as it was."""

    obligations: list[Obligation]
    differences: list[ObligationDifference]
    unknown_sources: list[UnknownSource]
    synced_at: Timestamp


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
