"""Income as it follows from transactions: a page of events, and what all of a filter come to. Reads only.

Each scope alone (an account, a portfolio, a legal entity, an instrument, or all of them) has an index by pay date that
holds nothing but income.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

from gatewayd.areas.assets.income.rules import TYPES, Source, uk_category
from gatewayd.areas.assets.income.shapes import IncomeTotal, ListIncomeEvents, UkCategory
from gatewayd.areas.assets.transactions.rows import TRANSACTIONS
from gatewayd.areas.assets.transactions.shapes import AssetTransaction
from gatewayd.contract.pages import MAX_KEY
from gatewayd.ledger.tax_calendar import bounds
from gatewayd.money import Money
from gatewayd.store import ReadTx, Row

_COLUMNS: Final = ", ".join(f"t.{name}" for name in TRANSACTIONS.names)
_SELECT_EVENTS = f"""
SELECT {_COLUMNS}, t.income_date, a.tax_wrapper, i.asset_class, i.asset_sub_class, i.domicile_country, i.currency
FROM asset_transactions t
JOIN asset_accounts a ON a.org_id = t.org_id AND a.id = t.account_id
LEFT JOIN instruments i ON i.org_id = t.org_id AND i.id = t.instrument_id
WHERE t.org_id = :org_id
"""
_BEHIND: Final = """
AND (t.income_date, t.id) < (:after_date, :after_id) ORDER BY t.income_date DESC, t.id DESC LIMIT :count
"""
_SELECT_SUMS = """
SELECT f.currency, f.base_currency, f.type, a.tax_wrapper, i.asset_class, i.asset_sub_class, i.domicile_country,
    i.currency, f.events, f.gross, f.gross_base, f.taxes, f.taxed_events, f.taxed_gross, f.taxed_gross_base
FROM (
    SELECT t.currency, t.base_currency, t.type, t.account_id, t.instrument_id,
        count(1) AS events, sum(t.gross_amount) AS gross, sum(t.gross_base) AS gross_base, sum(t.taxes) AS taxes,
        sum(CASE WHEN t.taxes > 0 THEN 1 ELSE 0 END) AS taxed_events,
        sum(CASE WHEN t.taxes > 0 THEN t.gross_amount ELSE 0 END) AS taxed_gross,
        sum(CASE WHEN t.taxes > 0 THEN t.gross_base ELSE 0 END) AS taxed_gross_base
    FROM asset_transactions t
    WHERE t.org_id = :org_id AND {conditions}
    GROUP BY t.currency, t.base_currency, t.type, t.account_id, t.instrument_id
) f
JOIN asset_accounts a ON a.org_id = :org_id AND a.id = f.account_id
LEFT JOIN instruments i ON i.org_id = :org_id AND i.id = f.instrument_id
"""
_LAST_DATE: Final = "9999-12-31"


class Event(NamedTuple):
    """A transaction that is income, its pay date, and as what it is taxed."""

    transaction: AssetTransaction
    pay_date: str
    category: UkCategory


def events(tx: ReadTx, request: ListIncomeEvents, after: tuple[object, object] | None) -> Iterator[Event]:
    """The events behind a sort key of pay date and id; None: from the latest on."""
    conditions, values = _filters(tx, request)
    after_date, after_id = after or (values.get("to_date", _LAST_DATE), MAX_KEY)
    sql = f"{_SELECT_EVENTS} AND {conditions} {_BEHIND}"
    for row in tx.each(sql, after_date=after_date, after_id=after_id, count=request.limit + 1, **values):
        yield _event(tx, row)


def totals(tx: ReadTx, request: ListIncomeEvents) -> list[IncomeTotal]:
    """What everything that the filter finds comes to, by currency and category."""
    conditions, values = _filters(tx, request)
    sums: dict[tuple[str, str, UkCategory], _Sums] = defaultdict(lambda: _Sums(0, 0, 0, 0))
    for row in tx.rows(_SELECT_SUMS.format(conditions=conditions), **values):
        every, taxed = _Sums._make(row[8:12]), _Sums._make((*row[12:15], row[11]))
        for is_withheld, part in ((True, taxed), (False, every.less(taxed))):
            if part.events:
                key = (row[0], row[1], uk_category(Source._make((*row[2:8], is_withheld))))
                sums[key] = sums[key].plus(part)
    return [_total(*key, sums[key]) for key in sorted(sums)]


class _Sums(NamedTuple):
    """Of some events: how many, and minor units."""

    events: int
    gross: int
    gross_base: int
    taxes: int

    def plus(self, other: "_Sums") -> "_Sums":
        return _Sums(*(one + another for one, another in zip(self, other, strict=True)))

    def less(self, other: "_Sums") -> "_Sums":
        return _Sums(*(one - another for one, another in zip(self, other, strict=True)))


def _total(currency: str, base_currency: str, category: UkCategory, sums: _Sums) -> IncomeTotal:
    return IncomeTotal(
        currency=currency,
        base_currency=base_currency,
        uk_category=category,
        count=sums.events,
        gross=Money(sums.gross, currency),
        withheld_tax=Money(sums.taxes, currency),
        net=Money(sums.gross - sums.taxes, currency),
        gross_base=Money(sums.gross_base, base_currency),
    )


def _event(tx: ReadTx, row: Row) -> Event:
    width = len(TRANSACTIONS.names)
    transaction = TRANSACTIONS.read(tx, row[:width])
    pay_date, *of_source = row[width:]
    source = Source._make((transaction.type, *of_source, bool(transaction.taxes)))
    return Event(transaction, pay_date, uk_category(source))


def _filters(tx: ReadTx, request: ListIncomeEvents) -> tuple[str, dict[str, object]]:
    """The conditions, joined, and the values that they name."""
    first, last = (None, None) if request.tax_year is None else bounds(request.tax_year)
    named = {
        "t.account_id = :account_id": request.account_id,
        "t.portfolio_id = :portfolio_id": request.portfolio_id,
        "t.legal_entity_id = :legal_entity_id": request.legal_entity_id,
        "t.instrument_id = :instrument_id": request.instrument_id,
        "t.income_date >= :from_date": first if request.from_date is None else request.from_date.isoformat(),
        "t.income_date <= :to_date": last if request.to_date is None else request.to_date.isoformat(),
    }
    if request.status == "expected":
        named["t.income_date > :today"] = tx.today
    if request.status == "received":
        named["t.income_date <= :today"] = tx.today
    types = [type_ for kind in dict.fromkeys(request.kind or ()) for type_ in TYPES[kind]]
    values: dict[str, object] = {f"type_{index}": type_ for index, type_ in enumerate(types)}
    scopes = (request.account_id, request.portfolio_id, request.legal_entity_id, request.instrument_id)
    # said in two ways, so that each is read from an index of its own: see the migration
    conditions = ["t.income_date > ''" if scopes == (None,) * len(scopes) else "t.income_date IS NOT NULL"]
    conditions.append("t.reversed_by_id IS NOT NULL" if request.status == "cancelled" else "t.reversed_by_id IS NULL")
    if types:
        conditions.append(f"t.type IN ({', '.join(f':{name}' for name in values)})")
    for condition, value in named.items():
        if value is not None:
            conditions.append(condition)
            values[condition.rpartition(":")[2]] = value
    return " AND ".join(conditions), values
