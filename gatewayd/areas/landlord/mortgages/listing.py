"""Pages of mortgages (Domain A4): in the order of lists, or by the day on which their rate ends."""

from gatewayd.areas.landlord.mortgages.rows import MORTGAGES
from gatewayd.areas.landlord.mortgages.shapes import ListMortgages, Mortgage
from gatewayd.contract.pages import Listing, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.ledger.lists import table_page
from gatewayd.store import ReadTx

_BY_END = " AND (rate_end_date, id) > (:after_date, :after_id) ORDER BY rate_end_date, id LIMIT :count"


def page(tx: ReadTx, request: ListMortgages) -> Listing[Mortgage]:
    """One page. Raises `Problem` `invalid_cursor`."""
    filters = _filters(request, tx.today)
    if request.rate_ends_before is None or request.updated_since is not None:
        return table_page(tx, request, MORTGAGES, filters)
    after_date, after_id = cursor_key(request, str, str) or ("", "")
    given = {condition: value for condition, value in filters.items() if value is not None}
    values = {condition.rpartition(":")[2].rstrip(")"): value for condition, value in given.items()}
    sql = " AND ".join([MORTGAGES.select, *given]) + _BY_END
    found = tx.each(sql, after_date=after_date, after_id=after_id, count=request.limit + 1, **values)
    items: list[bytes] = []

    def size(row: Mortgage) -> int:
        items.append(encode(row))
        return len(items[-1])

    taken, more = fill((MORTGAGES.read(tx, row) for row in found), request.limit, size)
    cursor = next_cursor(request, (taken[-1].rate_end_date or "", taken[-1].id)) if more else None
    return Listing.of(items[: len(taken)], cursor)


def _filters(request: ListMortgages, today: str) -> dict[str, object]:
    """Each condition with the value of the one parameter that it ends with; None: it is not asked for."""
    status, ends_before = request.status, request.rate_ends_before
    if ends_before is not None and status is None:
        status = "active"  # Chosen: a loan that is repaid needs no new rate
    return {
        "property_id = :property_id": request.property_id,
        "(redeemed_date IS NULL OR redeemed_date > :redeemed_after)": today if status == "active" else None,
        "redeemed_date <= :redeemed_by": today if status == "redeemed" else None,
        "rate_end_date < :rate_ends_before": None if ends_before is None else ends_before.isoformat(),
        "external_id = :external_id": request.external_id,
    }
