"""Capital goods under the flat rate of VAT: marked as such, their VAT is outside the scheme (Domain C4). Reads only.

A single purchase of 2,000 or more with its VAT, of goods that are to be used in the business for longer than a year and
are neither for resale nor for hire, has its VAT reclaimed, and VAT is due on their sale (VAT Regulations 1995 reg 55A
and 55E, Notice 733 section 15, FRS6500). The regulation says "more than" 2,000, and HMRC takes 2,000 as well.

Parts of one bank line are one purchase. Nobody here knows whether goods are capital goods, or were paid in parts: who
marks them says so, and what could be otherwise is told.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from gatewayd.ledger.allocating.allocation_shapes import Allocation
from gatewayd.ledger.allocating.categories import NOT_PNL
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results.allocated_money import BY_BILL, BY_MONEY, WITHOUT_BILL, Basis, convert
from gatewayd.ledger.vat import vat_standing
from gatewayd.ledger.vat.vat_rates import SERVICES_OVERSEAS
from gatewayd.ledger.vat.vat_standing import VatStanding
from gatewayd.store import ReadTx, Row

Doubt = Literal["unmarked", "small"]
"""A purchase that may be of capital goods and is not marked, or is marked and comes to less than it takes."""

LEAST: Final = 2_000_00  # minor units of GBP, with VAT
_COULD_BE: Final = frozenset(
    {"adminCosts", "carVanTravelExpenses", "maintenanceCosts", "otherExpenses", "repairsAndMaintenance", NOT_PNL}
)
"""Chosen: where equipment stands."""
_WITHOUT_VAT: Final = frozenset({"zero", "exempt", "outside_scope", SERVICES_OVERSEAS})
_SELECT: Final = """
SELECT id, source_id, direction, category, purpose, vat_code, capital_goods, amount, currency, fx_rate,
    coalesce(document_date, date)
FROM allocations WHERE org_id = :org_id AND business_id = :business_id
"""
_STATEMENTS: Final[Mapping[Basis, tuple[str, ...]]] = {
    "cash": (f"{_SELECT} AND {BY_MONEY}",),
    "accruals": (f"{_SELECT} AND {WITHOUT_BILL}", f"{_SELECT} AND {BY_BILL}"),
}
_SELECT_BUSINESSES: Final = """
SELECT id FROM businesses WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id ORDER BY id
"""


class _Bought(NamedTuple):
    """What decides of an allocation; `tax_point` is ISO."""

    id: str
    source_id: str | None
    direction: str
    category: str
    purpose: str | None
    code: str | None
    is_capital: bool
    amount: int
    currency: str
    fx_rate: str | None
    tax_point: str

    @property
    def could_be(self) -> bool:
        """Whether it may be a purchase of capital goods with VAT in it."""
        is_purchase = self.direction == "out" and (self.category != NOT_PNL or self.purpose == "other")
        return is_purchase and self.category in _COULD_BE and self.code not in _WITHOUT_VAT

    @property
    def counts(self) -> bool:
        """Whether a purchase has to be looked at for it: it may be capital goods, or somebody says that it is."""
        return self.could_be or (self.is_capital and self.direction == "out")

    @property
    def in_pounds(self) -> int | None:
        """Minor units of GBP; None: in other money without a rate."""
        if self.currency == "GBP":
            return self.amount
        return None if self.fx_rate is None else convert(self.amount, self.fx_rate, self.currency, "GBP")


def told(tx: ReadTx, rows: Sequence[Allocation]) -> Iterator[tuple[str, str, str]]:
    """The id, the code and the message of what allocations that were made together leave open."""
    messages = {
        "unmarked": "On the flat rate of VAT, a purchase of capital goods of 2,000 or more has its VAT reclaimed: if it"
        " is one, set `capitalGoods`.",
        "small": "It is below 2,000: VAT is reclaimed only where it is a part of one purchase of as much.",
    }
    bought = [(row.legal_entity_id, _of_allocation(row)) for row in rows]
    named = [(owner, part) for owner, part in bought if owner is not None and part.counts]
    if not any(part.is_capital for _, part in named) and sum(part.in_pounds or 0 for _, part in named) < LEAST:
        return  # whatever the standing is
    standings = {owner: vat_standing.of_entity(tx, owner) for owner in {owner for owner, _ in named}}
    flat = [part for owner, part in named if standings[owner].treatment_on(part.tax_point) == "flat_rate"]
    for id_, doubt in _doubts(flat):
        yield id_, f"capital_goods_{doubt}", messages[doubt]


def of_period(tx: ReadTx, vat: VatStanding, date_range: DateRange, basis: Basis) -> dict[Doubt, int]:
    """How many purchases of a range a return leaves in doubt: those of days on the flat rate."""
    if not vat.is_ever_flat:
        return {}
    counts: dict[Doubt, int] = {}
    for (business_id,) in tx.rows(_SELECT_BUSINESSES, legal_entity_id=vat.seller.legal_entity_id):
        values = {"business_id": business_id, **date_range._asdict()}
        rows = (_of_row(row) for sql in _STATEMENTS[basis] for row in tx.each(sql, **values))
        flat = [row for row in rows if vat.treatment_on(row.tax_point) == "flat_rate"]
        for _, doubt in _doubts(flat):
            counts[doubt] = counts.get(doubt, 0) + 1
    return counts


def _doubts(rows: Iterable[_Bought]) -> Iterator[tuple[str, Doubt]]:
    """The first allocation of each purchase that is in doubt."""
    purchases: dict[str, list[_Bought]] = {}
    for row in rows:
        if row.counts:
            purchases.setdefault(row.source_id or row.id, []).append(row)
    for parts in purchases.values():
        marked = [part for part in parts if part.is_capital]
        amounts = [part.in_pounds for part in marked or parts]
        if None in amounts:
            continue
        is_large = sum(amount for amount in amounts if amount is not None) >= LEAST
        if marked and not is_large:
            yield marked[0].id, "small"
        elif is_large and not marked:
            yield parts[0].id, "unmarked"


def _of_allocation(row: Allocation) -> _Bought:
    coded = (row.direction, row.category, row.purpose, row.vat_code, row.capital_goods)
    return _Bought(row.id, row.source_id, *coded, row.amount.minor, row.currency, row.fx_rate, row.tax_point)


def _of_row(row: Row) -> _Bought:
    return _Bought(*row)
