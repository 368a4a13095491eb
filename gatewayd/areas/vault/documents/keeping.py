"""Until when a document has to be kept: `archiveUntilDate`.

Chosen: it does where it belongs to the books, by a link to a business, an invoice or a bank transaction, from its own
date on or, where nobody said one, from the day that it came. It may go into the trash all the same, and stays there.

How long the records of a business have to be kept (Domain B7):

income tax        until the fifth anniversary of the 31 January after the tax year (TMA 1970 s12B(2)(a))
corporation tax   six years from the end of the period that is returned (Finance Act 1998 Sch 18 para 21(2))
VAT               six years (VATA 1994 Sch 11 para 6(3))
"""

import datetime
from collections.abc import Iterable
from typing import Final, NamedTuple

from gatewayd.areas.vault.documents.shapes import DocumentLink
from gatewayd.clock import Instant, london_date
from gatewayd.contract.wire import DateText
from gatewayd.ledger.dates.companies import YearEnd
from gatewayd.ledger.dates.months import months_after
from gatewayd.store import ReadTx

OF_THE_BOOKS: Final = frozenset({"bank_transaction", "business", "invoice"})
INCOME_TAX_YEARS: Final = 5
COMPANY_YEARS: Final = 6
VAT_YEARS: Final = 6
COMPANIES: Final = frozenset({"limited_company", "llp", "charity", "club"})
"""Whose records follow financial years; a charity's or club's may be those of a company, and are kept as long."""

_TAX_YEAR_ENDS: Final = (4, 5)
_LATEST: Final = datetime.date(9_900, 1, 1)
_SELECT_KEEPERS = """
SELECT DISTINCT type, accounting_year_end_month, accounting_year_end_day, vat_status FROM legal_entities
WHERE org_id = :org_id
"""


def archive_until(
    tx: ReadTx, links: Iterable[DocumentLink], document_date: str | None, created_at: Instant
) -> DateText | None:
    """The last day, as the organization's entities are now; None: it need not be kept."""
    if OF_THE_BOOKS.isdisjoint(link.type for link in links):
        return None
    day = datetime.date.fromisoformat(document_date or london_date(created_at))
    last = keep_until(tx, day)
    return None if last is None else DateText(last.isoformat())


class Keeper(NamedTuple):
    """Who has to keep records, as far as it matters. `has_vat`: it is or was registered, or is about to be."""

    type: str
    year_end: YearEnd
    has_vat: bool


def keep_until(tx: ReadTx, day: datetime.date) -> datetime.date | None:
    """The last day on which the organization has to keep a record of a day; None: it has no legal entity.

    Nobody says which of several entities a record is of: the longest time counts.
    """
    keepers = [Keeper(row[0], YearEnd(row[1], row[2]), row[3] != "not_registered") for row in tx.rows(_SELECT_KEEPERS)]
    return max((last_day(keeper, day) for keeper in keepers), default=None)


def last_day(keeper: Keeper, day: datetime.date) -> datetime.date:
    """The last day on which one has to keep a record of a day. Pure."""
    day = min(day, _LATEST)
    last = _of_company(keeper.year_end, day) if keeper.type in COMPANIES else _of_person(day)
    return max(last, months_after(day, 12 * VAT_YEARS)) if keeper.has_vat else last


def _of_person(day: datetime.date) -> datetime.date:
    ends = day.year if (day.month, day.day) <= _TAX_YEAR_ENDS else day.year + 1
    return datetime.date(ends + 1 + INCOME_TAX_YEARS, 1, 31)


def _of_company(year_end: YearEnd, day: datetime.date) -> datetime.date:
    ends = year_end.of(day.year)
    return months_after(ends if day <= ends else year_end.of(day.year + 1), 12 * COMPANY_YEARS)
