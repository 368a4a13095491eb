"""Which business an invoice counts in: what SQL says is what `businesses.sole_on` says, whatever there is."""

from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.ledger.results.invoiced_income import counted_in, of_business
from gatewayd.ledger.taxpayers import businesses
from tests.support.store import MemoryStore

_ENTITIES = ("ent_1", "ent_2")
_MEMORY = """
WITH businesses (id, org_id, legal_entity_id, type, currency, status, commencement_date, cessation_date, archived_at,
    archived_on) AS ({businesses}),
invoices (id, org_id, legal_entity_id, business_id, credits_invoice_id, supply_date) AS ({invoices})
"""


class Trade(NamedTuple):
    """A business by its days, which are of the first half of June 2026; None: nobody knows, or it goes on."""

    entity: str
    commenced: int | None
    ceased: int | None
    archived: int | None

    def is_live(self, day: int) -> bool:
        begun = self.commenced is None or self.commenced <= day
        return begun and (self.ceased is None or day <= self.ceased) and (self.archived is None or day < self.archived)


class Invoice(NamedTuple):
    """An invoice by its day; `named` and `credits` are numbers of a business and of an earlier invoice."""

    entity: str
    day: int
    named: int | None
    credits: int | None


DAYS = st.integers(1, 15)
MAYBE = st.none() | DAYS
TRADES = st.lists(st.builds(Trade, st.sampled_from(_ENTITIES), MAYBE, MAYBE, MAYBE), max_size=4)
INVOICES = st.lists(
    st.builds(Invoice, st.sampled_from(_ENTITIES), DAYS, st.none() | st.integers(0, 3), st.none() | st.integers(0, 3)),
    min_size=1,
    max_size=5,
)


def text(day: int | None) -> str:
    return "NULL" if day is None else f"'2026-06-{day:02}'"


def key(number: int | None) -> str:
    """An id, which has one digit, so that ids sort as numbers do."""
    return "NULL" if number is None else f"'{number}'"


def expected(trades: list[Trade], invoices: list[Invoice], number: int) -> int | None:
    """By the definition: what it names, else the only live one of its entity; of a credit note those of its invoice."""
    one = invoices[number]
    if one.credits is not None and one.credits < number:
        one = invoices[one.credits]
    if one.named is not None:
        return one.named
    live = [n for n, trade in enumerate(trades) if trade.entity == one.entity and trade.is_live(one.day)]
    return live[0] if len(live) == 1 else None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TRADES, INVOICES)
def test_sql_finds_the_business_by_the_definition(
    store: MemoryStore, trades: list[Trade], invoices: list[Invoice]
) -> None:
    of_trades = [
        f"SELECT {key(n)}, 'org', '{one.entity}', '', '', '', {text(one.commenced)}, {text(one.ceased)}, NULL,"
        f" {text(one.archived)}"
        for n, one in enumerate(trades)
    ]
    of_invoices = [
        f"SELECT {key(n)}, 'org', '{one.entity}', {key(one.named)},"
        f" {key(None if one.credits is None or one.credits >= n else one.credits)}, {text(one.day)}"
        for n, one in enumerate(invoices)
    ]
    none = f"SELECT {', '.join(['CAST(NULL AS TEXT)'] * 10)} WHERE 1 = 0"
    tables = _MEMORY.format(businesses=" UNION ALL ".join([none, *of_trades]), invoices=" UNION ALL ".join(of_invoices))
    sql = f"{tables} SELECT id, {counted_in('i')}, {of_business('i')} FROM invoices AS i ORDER BY id"
    whose = [None if (of := expected(trades, invoices, n)) is None else str(of) for n in range(len(invoices))]
    for wanted in (None, "0"):
        found = store.read(lambda tx: tx.rows(sql, business_id=wanted), "org")  # noqa: B023
        assert [(row[1], bool(row[2])) for row in found] == [(of, wanted is None or of == wanted) for of in whose]


@given(TRADES, DAYS)
def test_so_does_the_function(trades: list[Trade], day: int) -> None:
    """Of the businesses of one entity."""

    def days(day: int | None) -> str | None:
        return None if day is None else f"2026-06-{day:02}"

    rows = [
        businesses.Business(
            id=str(n),
            legal_entity_id="ent_1",
            type="",
            currency="GBP",
            owner_share_percent="100",
            accounting_basis="cash",
            quarterly_period_type="standard",
            status="",
            commenced_on=days(one.commenced),
            ceased_on=days(one.ceased),
            archived_on=days(one.archived),
        )
        for n, one in enumerate(trades)
        if one.entity == "ent_1"
    ]
    found = businesses.sole_on(rows, f"2026-06-{day:02}")
    assert found == (None if (n := expected(trades, [Invoice("ent_1", day, None, None)], 0)) is None else str(n))
