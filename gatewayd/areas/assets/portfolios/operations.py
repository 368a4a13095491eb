"""The portfolio resource (Spec §4, Domain A3 and B3): its operations."""

from collections.abc import Iterator

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.assets.books import portfolios
from gatewayd.areas.assets.books.portfolios import PORTFOLIOS, CostBasisMethod, Portfolio
from gatewayd.areas.assets.pools.scopes import POOL_CURRENCY
from gatewayd.areas.assets.portfolios.shapes import (
    ArchivePortfolio,
    CreatePortfolio,
    GetPortfolio,
    ListPortfolios,
    PortfolioWithTotals,
    UpdatePortfolio,
)
from gatewayd.areas.assets.positions import choosing, totals
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import project
from gatewayd.errors import FieldError, invalid, invalid_state
from gatewayd.ledger.lists import archive_filter, table_page
from gatewayd.ledger.taxpayers import owners
from gatewayd.ledger.taxpayers.owners import Owner
from gatewayd.store import ReadTx, WriteTx


def list_portfolios(tx: ReadTx, caller: Caller, request: ListPortfolios) -> Listing[Portfolio]:
    """List portfolios, newest first, or in the order of change with `updatedSince`.

    Archived ones are left out unless `includeArchived`, `updatedSince` or `status` asks for them.
    """
    filters = {
        "legal_entity_id = :legal_entity_id": request.legal_entity_id,
        **archive_filter(request),
        "external_id = :external_id": request.external_id,
    }
    return table_page(tx, request, PORTFOLIOS, filters)


def get_portfolio(tx: ReadTx, caller: Caller, request: GetPortfolio) -> PortfolioWithTotals:
    """Get one portfolio, archived or not, and what it comes to on a day, today by default."""
    portfolio = PORTFOLIOS.get(tx, request.id)
    day = choosing.day_of(tx, request.as_of_date)
    return project(portfolio, PortfolioWithTotals, totals=totals.of_portfolio(tx, portfolio, day))


def create_portfolio(tx: WriteTx, caller: Caller, request: CreatePortfolio) -> Portfolio:
    """Create a portfolio of a legal entity.

    Its cost basis is section_104 for a person in the United Kingdom with a portfolio in pounds, else average_cost; a
    company cannot have section_104. The default of a legal entity is one: the one before it is not it any more.
    """
    owner = owners.find(tx, request.legal_entity_id)
    method = request.cost_basis_method or _default_method(owner, request.base_currency)
    row = PORTFOLIOS.new(tx, request, cost_basis_method=method)
    errors = [*owners.mistakes(owner), *_method_mistakes(owner, row)]
    if errors:
        raise invalid(*errors)
    row = PORTFOLIOS.insert(tx, row)
    portfolios.clear_default(tx, row)
    return row


def update_portfolio(tx: WriteTx, caller: Caller, request: UpdatePortfolio) -> Portfolio:
    """Change the given fields of a portfolio; `status` archives it or brings it back.

    The base currency is fixed once there are transactions.
    """
    before = PORTFOLIOS.get(tx, request.id, request.expected_version)
    after = PORTFOLIOS.changed(before, request)
    if request.status is not UNSET:
        after = _moved(tx, after, archived=request.status == "archived")
    if after.base_currency != before.base_currency and portfolios.has_transactions(tx, before.id):
        message = (
            f"The portfolio has transactions: its `baseCurrency` stays {before.base_currency}. Create another with"
            " `assets.createPortfolio`."
        )
        raise invalid_state(message, before.status, ())
    errors = [*_method_mistakes(owners.find(tx, after.legal_entity_id), after), *_default_mistakes(after)]
    if errors:
        raise invalid(*errors)
    portfolios.clear_default(tx, after)
    return PORTFOLIOS.update(tx, after)


def archive_portfolio(tx: WriteTx, caller: Caller, request: ArchivePortfolio) -> Portfolio:
    """Archive a portfolio: lists hide it, it takes no new accounts, and it can still be read.

    Positions may remain. Of one that is archived nothing changes; updatePortfolio brings it back with `status`.
    """
    before = PORTFOLIOS.get(tx, request.id, request.expected_version)
    if before.archived_at is not None:
        return before
    return PORTFOLIOS.update(tx, _moved(tx, before, archived=True))


def _moved(tx: WriteTx, row: Portfolio, *, archived: bool) -> Portfolio:
    """The portfolio in or out of the archive. Raises `Problem` `invalid_state` for one whose owner is archived."""
    if archived:  # Chosen: what is archived is nobody's default
        return replace(row, archived_at=row.archived_at or tx.now, is_default=False)
    if row.archived_at is not None:
        owner = owners.find(tx, row.legal_entity_id)
        if owner is None or owner.archived:
            message = "Its legal entity is archived: bring it back by `status` of `legalEntity.updateLegalEntity`."
            raise invalid_state(message, "archived", ("active",))
    return replace(row, archived_at=None)


def _default_method(owner: Owner | None, base_currency: str) -> CostBasisMethod:
    """The cost basis where none is asked for (Domain B3): that by which the owner is taxed here on gains."""
    pools = owner is not None and owner.has_pools and owner.country_code == "GB"
    return "section_104" if pools and base_currency == POOL_CURRENCY else "average_cost"


def _method_mistakes(owner: Owner | None, row: Portfolio) -> Iterator[FieldError]:
    """What is wrong with section_104: companies have other rules, and pools are kept in pounds."""
    if row.cost_basis_method != "section_104" or owner is None:
        return
    if not owner.has_pools:
        kind = owner.type.replace("_", " ")
        message = f"Section 104 holdings are of persons, and not of a {kind}: expected another method."
        yield FieldError("costBasisMethod", "conflict", message)
    elif row.base_currency != POOL_CURRENCY:
        message = (
            f"Section 104 holdings are kept in GBP, and the portfolio in {row.base_currency}: expected another method."
        )
        yield FieldError("costBasisMethod", "conflict", message)


def _default_mistakes(row: Portfolio) -> Iterator[FieldError]:
    """What is wrong with `isDefault`."""
    if row.is_default and row.archived_at is not None:
        yield FieldError("isDefault", "conflict", "The portfolio is archived: give `status` active too.")


OPERATIONS = (
    Operation(
        id="assets.listPortfolios",
        kind="read",
        method="GET",
        path="/assets/listPortfolios",
        scopes=("accounting:read",),
        request=ListPortfolios,
        response=SyncPage[Portfolio],
        handler=list_portfolios,
        held=HeldBy(entity="legal_entity_id", undated=True),
        example={"status": "active", "limit": 20},
    ),
    Operation(
        id="assets.getPortfolio",
        kind="read",
        method="GET",
        path="/assets/getPortfolio",
        scopes=("accounting:read",),
        request=GetPortfolio,
        response=PortfolioWithTotals,
        handler=get_portfolio,
        held=HeldBy(leads={"id": "portfolio"}),
        long=True,
        example={"id": "prt_01k0000000000000000000000a"},
    ),
    Operation(
        id="assets.createPortfolio",
        kind="write",
        method="POST",
        path="/assets/createPortfolio",
        scopes=("accounting:write",),
        request=CreatePortfolio,
        response=Portfolio,
        handler=create_portfolio,
        errors=("already_exists",),
        example={
            "name": "Savings",
            "legalEntityId": "ent_01k0000000000000000000000b",
            "baseCurrency": "GBP",
            "description": "Funds and shares outside of any wrapper",
        },
    ),
    Operation(
        id="assets.updatePortfolio",
        kind="write",
        method="POST",
        path="/assets/updatePortfolio",
        scopes=("accounting:write",),
        request=UpdatePortfolio,
        response=Portfolio,
        handler=update_portfolio,
        errors=("already_exists", "invalid_state", "version_conflict"),
        example={"id": "prt_01k0000000000000000000000a", "name": "Ann's shares", "expectedVersion": 1},
    ),
    Operation(
        id="assets.archivePortfolio",
        kind="write",
        method="POST",
        path="/assets/archivePortfolio",
        scopes=("accounting:write",),
        request=ArchivePortfolio,
        response=Portfolio,
        handler=archive_portfolio,
        errors=("version_conflict",),
        example={"id": "prt_01k0000000000000000000000b"},
    ),
)
