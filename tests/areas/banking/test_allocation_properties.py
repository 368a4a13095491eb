"""Whatever is done to bank lines: what is allocated of each is the sum of its allocations, of its sign, and no more."""

from collections.abc import Callable
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gatewayd.errors import Problem
from gatewayd.ledger.allocating.allocation_shapes import Allocation
from tests.areas.banking.conftest import Trading
from tests.support.store import MemoryStore

AMOUNTS = (9500, -9500, 12000, -12000, 700)
amounts = st.integers(1, 13000).map(lambda minor: f"{minor / 100:.2f}")
lines = st.integers(0, len(AMOUNTS) - 1)
parts = st.fixed_dictionaries(
    {"category": st.sampled_from(["turnover", "adminCosts", "businessEntertainmentCosts"])},
    optional={"amount": amounts, "direction": st.sampled_from(["in", "out"]), "vatAmount": st.just("0.01")},
)
drawings = st.fixed_dictionaries(
    {"category": st.just("not_pnl"), "purpose": st.sampled_from(["drawings", "deposit"])}, optional={"amount": amounts}
)
acts = st.one_of(
    st.tuples(st.just("allocate"), lines, st.lists(parts | drawings, max_size=3), st.booleans()),
    st.tuples(st.just("update"), st.integers(0, 20), amounts),
    st.tuples(st.just("remove"), st.integers(0, 20)),
    st.tuples(st.just("transfer"), lines, lines, st.none() | amounts),
    st.tuples(st.just("pay"), lines, st.none() | amounts, st.none() | st.just("1.50")),
    st.tuples(st.just("unpay"), st.integers(1, 4)),
)

_SELECT_SUMS = """
SELECT category, sum(CASE WHEN direction = 'in' THEN amount ELSE -amount END) FROM allocations
WHERE org_id = :org_id AND category <> 'not_pnl' GROUP BY category ORDER BY category
"""


class Playing:
    """Lines of two accounts, an invoice, and acts upon them, of which some are refused."""

    def __init__(self, image: bytes) -> None:
        self.books = Trading(MemoryStore(image))
        saving = self.books.account(self.books.owner, self.books.trade)
        accounts = [self.books.current, saving]
        self.lines = [self.books.line(accounts[i % 2], amount) for i, amount in enumerate(AMOUNTS)]
        self.invoice = self.books.invoice()["id"]

    def act(self, act: tuple[Any, ...]) -> None:
        name, *arguments = act
        deeds: dict[str, Callable[..., None]] = {
            "allocate": self._allocate,
            "update": self._update,
            "remove": self._remove,
            "transfer": self._transfer,
            "pay": self._pay,
            "unpay": lambda position: self._post("removePayment", invoiceId=self.invoice, position=position),
        }
        before = self.state()
        refused = False
        try:
            deeds[name](*arguments)
        except Problem:
            refused = True
        assert not refused or self.state() == before, "what is refused leaves everything as it was"
        self.expect_sums()

    def rows(self) -> list[Allocation]:
        return [row for line in self.lines for row in self.books.of_line(line)]

    def state(self) -> tuple[Any, ...]:
        return (self.rows(), [self.books.line_of(line) for line in self.lines])

    def sums(self) -> list[tuple[Any, ...]]:
        """What profit and loss is made of, by category."""
        return self.books.store.read(lambda tx: tx.rows(_SELECT_SUMS), self.books.org_id)

    def expect_sums(self) -> None:
        for line_id in self.lines:
            line = self.books.line_of(line_id)
            assert line.allocated == sum(row.signed for row in self.books.of_line(line_id))
            low, high = sorted((0, line.amount))
            assert low <= line.allocated <= high

    def _post(self, operation: str, **body: object) -> None:
        self.books.post(operation, **{name: value for name, value in body.items() if value is not None})

    def _allocate(self, line: int, wanted: list[Any], replace: bool) -> None:
        self._post("allocate", bankTransactionId=self.lines[line], parts=wanted, replace=replace)

    def _update(self, index: int, amount: str) -> None:
        rows = self.rows()
        if rows:
            self._post("updateAllocation", allocationId=rows[index % len(rows)].id, amount=amount)

    def _remove(self, index: int) -> None:
        rows = self.rows()
        if rows:
            self._post("removeAllocation", allocationId=rows[index % len(rows)].id)

    def _transfer(self, line: int, other: int, amount: str | None) -> None:
        before = self.sums()
        self._post("matchTransfer", bankTransactionId=self.lines[line], counterpartId=self.lines[other], amount=amount)
        assert self.sums() == before, "a transfer is neither income nor an expense"

    def _pay(self, line: int, amount: str | None, charges: str | None) -> None:
        before = self.sums()
        paying = {"bankTransactionId": self.lines[line], "amount": amount, "charges": charges}
        self._post("recordPayment", invoiceId=self.invoice, **paying)
        assert charges is not None or self.sums() == before, "an invoice counts itself"

    def take_everything_back(self) -> None:
        """By what a refusal names as the way out, which is always there: transfers and payments, then the rest."""
        while bound := [row for row in self.rows() if row.counterpart_id or row.invoice_id]:
            for line_id in self.lines:
                self._lessen_what_goes_the_other_way(line_id)
            if bound[0].invoice_id is None:
                self._post("removeAllocation", allocationId=bound[0].id)
            else:
                self._post("removePayment", invoiceId=self.invoice, position=self._payments()[-1]["position"])
        for line in self.lines:
            self._post("allocate", bankTransactionId=line, parts=[], replace=True)

    def _lessen_what_goes_the_other_way(self, line_id: str) -> None:
        """Until the line is allocated whole, or all goes its own way: a transfer or payment can then be removed."""
        for row in filter(self._is_contrary, self.books.of_line(line_id)):
            room = self.books.line_of(line_id).rest
            if row.amount <= room:
                self._post("removeAllocation", allocationId=row.id)
            elif room:
                self._post("updateAllocation", allocationId=row.id, amount=str(row.amount - room), vatAmount="0.00")

    def _is_contrary(self, row: Allocation) -> bool:
        """Whether it goes the other way than its bank line, by itself."""
        line = self.books.line_of(str(row.source_id))
        return row.invoice_id is None and (row.signed > 0) != (line.amount > 0)

    def _payments(self) -> list[dict[str, Any]]:
        payments: list[dict[str, Any]] = self.books.one("getInvoice", f"invoiceId={self.invoice}")["payments"]
        return payments


@settings(max_examples=60, deadline=None)
@example(
    sequence=[
        ("transfer", 0, 1, None),
        ("allocate", 0, [{"category": "turnover", "amount": "0.01", "direction": "out"}], False),
    ]
)
@given(sequence=st.lists(acts, max_size=12))
def test_any_sequence_keeps_the_sums_and_can_be_taken_back(database_image: bytes, sequence: list[Any]) -> None:
    playing = Playing(database_image)
    try:
        for act in sequence:
            playing.act(act)
        playing.take_everything_back()
        assert playing.rows() == []
        assert [playing.books.line_of(line).allocated for line in playing.lines] == [0] * len(AMOUNTS)
        assert playing.sums() == []
    finally:
        playing.books.store.close()
