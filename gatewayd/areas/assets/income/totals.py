"""What all income of a filter comes to, by currency and category. Reads only.

Whole tax years are summed already; what a range of days leaves out of its first and last year is taken away again. What
is expected or cancelled is little, and summed from the transactions.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from gatewayd.areas.assets.income import rows
from gatewayd.areas.assets.income.rules import Source, uk_category
from gatewayd.areas.assets.income.shapes import IncomeTotal, ListIncomeEvents, UkCategory
from gatewayd.clock import days_after
from gatewayd.ledger.dates.tax_calendar import bounds, first_year_of, tax_year_of
from gatewayd.money import Money
from gatewayd.store import ReadTx

_SOURCE: Final = """
f.currency, f.base_currency, f.type, a.tax_wrapper, i.asset_class, i.asset_sub_class, i.domicile_country, i.currency,
    f.withheld
"""
_JOINED: Final = """
JOIN asset_accounts a ON a.org_id = :org_id AND a.id = f.account_id
LEFT JOIN instruments i ON i.org_id = :org_id AND i.id = f.instrument_id
"""
_SUMS: Final = "sum(f.events), sum(f.gross), sum(f.gross_base), sum(f.taxes)"
_SELECT_YEARS = f"""
SELECT {_SOURCE}, {_SUMS}
FROM asset_income_years f
{_JOINED}
WHERE f.org_id = :org_id AND {{conditions}}
GROUP BY {_SOURCE}
"""
_SELECT_DAYS = f"""
SELECT {_SOURCE}, {_SUMS}
FROM (
    SELECT t.currency, t.base_currency, t.account_id, t.instrument_id,
        CASE WHEN t.type = 'stock_dividend' AND t.taxed_as_dividend = 1 THEN 'dividend' ELSE t.type END AS type,
        CASE WHEN t.taxes > 0 THEN 1 ELSE 0 END AS withheld,
        1 AS events, t.gross_amount AS gross, t.gross_base, t.taxes
    FROM asset_transactions t
    WHERE t.org_id = :org_id AND {{conditions}}
) f
{_JOINED}
GROUP BY {_SOURCE}
"""
_COLUMNS: Final = {
    "account_id": "f.account_id",
    "portfolio_id": "a.portfolio_id",
    "legal_entity_id": "a.legal_entity_id",
    "instrument_id": "f.instrument_id",
    "type": "f.type",
}


class _Key(NamedTuple):
    currency: str
    base_currency: str
    category: UkCategory


class _Part(NamedTuple):
    """Sums that are added where `sign` is 1, and taken away where it is -1."""

    sign: int
    sql: str
    values: Mapping[str, object]


def totals(tx: ReadTx, request: ListIncomeEvents) -> list[IncomeTotal]:
    """What everything that the filter finds comes to."""
    sums: dict[_Key, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for part in _parts(rows.filter_of(tx, request)):
        for currency, base_currency, *source, events, gross, gross_base, taxes in tx.rows(part.sql, **part.values):
            *known, withheld = source
            found = sums[_Key(currency, base_currency, uk_category(Source._make((*known, bool(withheld)))))]
            for index, value in enumerate((events, gross, gross_base, taxes)):
                found[index] += part.sign * value
    return [_total(key, *sums[key]) for key in sorted(sums) if sums[key][0]]


def _parts(wanted: rows.Filter) -> Iterator[_Part]:
    first, last = wanted.first, wanted.last
    if first is not None and last is not None and last < first:
        return
    if wanted.status in ("expected", "cancelled"):
        yield _days(wanted, 1)
        return
    yield _years(wanted)
    if first is not None and bounds(tax_year_of(first))[0] < first:
        yield _days(wanted._replace(first=bounds(tax_year_of(first))[0], last=days_after(first, -1)), -1)
    if last is not None and last < bounds(tax_year_of(last))[1]:
        yield _days(wanted._replace(first=days_after(last, 1), last=bounds(tax_year_of(last))[1]), -1)


def _years(wanted: rows.Filter) -> _Part:
    """All of the tax years in which the days lie."""
    scopes, values = rows.conditions_of(wanted.scopes, wanted.types, _COLUMNS)
    values["first_year"] = 0 if wanted.first is None else first_year_of(wanted.first)
    values["last_year"] = 9999 if wanted.last is None else first_year_of(wanted.last)
    conditions = ["f.year >= :first_year", "f.year <= :last_year", *scopes]
    return _Part(1, _SELECT_YEARS.format(conditions=" AND ".join(conditions)), values)


def _days(wanted: rows.Filter, sign: int) -> _Part:
    conditions, values = rows.conditions(wanted)
    return _Part(sign, _SELECT_DAYS.format(conditions=conditions), values)


def _total(key: _Key, events: int, gross: int, gross_base: int, taxes: int) -> IncomeTotal:
    currency, base_currency, category = key
    return IncomeTotal(
        currency=currency,
        base_currency=base_currency,
        uk_category=category,
        count=events,
        gross=Money(gross, currency),
        withheld_tax=Money(taxes, currency),
        net=Money(gross - taxes, currency),
        gross_base=Money(gross_base, base_currency),
    )
