"""Keeps what was payable of VAT for closed periods, so that years can be reckoned without adding the books up again.

It stands until the period is opened again, for nothing in it changes.
"""

import datetime
from typing import Final

from gatewayd.clock import months_later
from gatewayd.errors import Problem
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import vat_figures
from gatewayd.ledger.taxpayers import vat_years
from gatewayd.ledger.vat import vat_return, vat_standing
from gatewayd.store import ReadTx, WriteTx

_LOOKED_BACK: Final = 30  # Chosen: months; what was owed before decides of no payment that is still to come
_CURRENCY: Final = "GBP"  # of VAT returns


def refresh(tx: WriteTx, legal_entity_id: str) -> None:
    """Keep what was payable for closed periods, and forget it of those that were opened again.

    Chosen: of a return that cannot be added up, because foreign money has no rate of exchange, nothing is known.
    """
    vat_years.forget_open(tx, legal_entity_id)
    since = months_later(datetime.date.fromisoformat(tx.today), -_LOOKED_BACK).isoformat()
    for period in list(vat_years.missing(tx, legal_entity_id, since)):
        liability = payable(tx, legal_entity_id, DateRange(period.first, period.last))
        if liability is not None:
            vat_years.keep(tx, period.id, liability)


def payable(tx: ReadTx, legal_entity_id: str, whole: DateRange) -> int | None:
    """What is payable on the return of some days, pence; None: nobody knows.

    Chosen: nothing where VAT is repaid, for the law adds up what somebody was liable to pay (SI 1993/2001 art 5).
    """
    if vat_standing.of_entity(tx, legal_entity_id).seller.base_currency != _CURRENCY:
        return None
    try:
        boxes = vat_return.boxes(vat_figures.of_period(tx, legal_entity_id, whole))
    except Problem as problem:
        if problem.code != "currency_mismatch":
            raise
        return None
    return max(boxes.total_vat_due - boxes.vat_reclaimed, 0)
