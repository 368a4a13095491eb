"""Pages of an account's transactions: each filter, in its order, from an index; and nothing of what is hidden."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from gatewayd.areas.banking.accounts.operations import create_account
from gatewayd.areas.banking.accounts.shapes import CreateAccount
from gatewayd.areas.banking.transactions.operations import OPERATIONS, get_transactions
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.errors import Problem
from gatewayd.ledger.imports import import_runs
from gatewayd.store import ReadTx
from tests.support.store import MemoryStore, make_caller

_ADD = """
INSERT INTO bank_transactions (id, org_id, account_id, date, amount, allocated, currency, status, booking_date,
    description, raw_description, type, source, import_id, fingerprint, match_key, search_text, created_at, updated_at,
    version)
VALUES (:id, :org_id, :account_id, :date, :amount, :allocated, 'GBP', :status, :booking_date, :text, :text, 'other',
    'import', :import_id, '', '', :text, :now, :updated_at, 1)
"""
_ADD_ALLOCATION = """
INSERT INTO allocations (id, org_id, source_type, source_id, date, direction, amount, vat_amount, disallowable_amount,
    currency, category, description, matched_by, document_ids, created_at, updated_at, version)
VALUES (:id, :org_id, 'bank', :source_id, '2026-03-01', 'out', 100, 0, 0, 'GBP', 'adminCosts', '', 'user', '[]', :now,
    :now, 1)
"""
_ADD_RUN = """
INSERT INTO import_runs (id, org_id, account_id, kind, source, file_name, size_bytes, sha256, status, rows, added,
    duplicates, replaced, refused_rows, refused, currency, created_at, updated_at, version)
VALUES (:id, :org_id, :account_id, 'bank', 'api', 'x', 0, :sha256, 'applied', 0, 0, 0, 0, 0, '[]', 'GBP', :now, :now, 1)
"""
DECODER = RequestDecoder(OPERATIONS[0])


class Lines:
    """One account and its lines, numbered as they are added."""

    def __init__(self, store: MemoryStore) -> None:
        self.store, self.org_id, self.count = store, store.org(), 0
        caller = make_caller(self.org_id)
        account = store.write(lambda tx: create_account(tx, caller, CreateAccount(name="Current")), self.org_id)
        self.account_id = account.id
        for import_id in ("imp_1", "imp_2"):
            store.write(lambda tx, one=import_id: self._run(tx, one), self.org_id)

    def _run(self, tx: Any, import_id: str) -> None:
        tx.run(_ADD_RUN, id=import_id, account_id=self.account_id, sha256="0" * 64)

    def add(self, date: str, amount: int, text: str = "tesco", **values: Any) -> str:
        self.count += 1
        id_ = f"btx_{self.count:02}"
        status = values.pop("status", "booked")
        given = {"allocated": 0, "import_id": "imp_1", **values}
        booking = None if status == "pending" else date
        self.store.clock.advance(1_000_000)
        self.store.write(
            lambda tx: tx.run(
                _ADD,
                id=id_,
                account_id=self.account_id,
                date=date,
                amount=amount,
                text=text,
                status=status,
                booking_date=booking,
                updated_at=tx.updated_at,
                **given,
            ),
            self.org_id,
        )
        return id_

    def page(self, query: str = "", org_id: str | None = None) -> dict[str, Any]:
        request: Any = DECODER.query(query, {"accountId": self.account_id})
        org = org_id or self.org_id
        found = self.store.read(lambda tx: get_transactions(tx, make_caller(org), request), org)
        page: dict[str, Any] = msgspec.json.decode(found)
        return page

    def ids(self, query: str = "") -> list[int]:
        """The numbers of the lines that are listed."""
        return [int(one["id"].removeprefix("btx_")) for one in self.page(query)["data"]]


@pytest.fixture
def lines(store: MemoryStore) -> Lines:
    return Lines(store)


@pytest.fixture
def march(lines: Lines) -> Lines:
    lines.add("2026-03-05", 120000, "rent flat 2")  # 1
    lines.add("2026-03-02", -320, "costa")  # 2
    lines.add("2026-03-02", -500, "tesco", allocated=-500)  # 3
    lines.add("2026-03-09", -9900, "shell", allocated=-100)  # 4
    lines.add("2026-03-10", -100, "pending costa", status="pending")  # 5
    lines.add("2026-03-11", 0, "note", status="information")  # 6
    return lines


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [4, 1, 3, 2]),
        ("status=pending", [5]),
        ("status=all", [6, 5, 4, 1, 3, 2]),
        ("fromDate=2026-03-05", [4, 1]),
        ("toDate=2026-03-05", [1, 3, 2]),
        ("fromDate=2026-03-05&toDate=2026-03-05", [1]),
        ("direction=in", [1]),
        ("direction=out", [4, 3, 2]),
        ("minAmount=-5.00", [3, 2, 1]),
        ("maxAmount=-3.20", [4, 3, 2]),
        ("minAmount=-5&maxAmount=-5", [3]),
        ("q=COSTA", [2]),
        ("q=costa&status=all", [5, 2]),
        ("q=_", []),
        ("unallocated=true", [4, 1, 2]),
        ("unallocated=false", [3]),
        ("updatedSince=2026-01-01T00:00:00Z", [1, 2, 3, 4]),
        ("importId=imp_1", [4, 1, 3, 2]),
        ("importId=imp_2", []),
    ],
)
def test_each_filter_finds_its_lines_in_its_order(march: Lines, query: str, found: list[int]) -> None:
    assert march.ids(query) == found
    for limit in (1, 2):
        seen, cursor = [], ""
        while cursor is not None:
            page = march.page("&".join(filter(None, [query, f"limit={limit}", cursor and f"cursor={cursor}"])))
            seen += [int(one["id"].removeprefix("btx_")) for one in page["data"]]
            cursor = page["nextCursor"]
        assert seen == found


def test_lines_of_one_amount_follow_by_date(lines: Lines) -> None:
    for date, amount in (("2026-03-09", -999), ("2026-03-02", -999), ("2026-03-05", -999), ("2026-03-01", -998)):
        lines.add(date, amount)
    lines.add("2026-03-05", -999)
    seen, cursor = [], ""
    while cursor is not None:
        page = lines.page("&".join(filter(None, ["maxAmount=-9.98&limit=1", cursor and f"cursor={cursor}"])))
        seen += [int(one["id"].removeprefix("btx_")) for one in page["data"]]
        cursor = page["nextCursor"]
    assert seen == [2, 3, 5, 1, 4]


def test_a_line_says_what_is_left_of_it(march: Lines) -> None:
    for id_ in ("alc_2", "alc_1"):
        march.store.write(lambda tx, one=id_: tx.run(_ADD_ALLOCATION, id=one, source_id="btx_04"), march.org_id)
    line = march.page("minAmount=-99&maxAmount=-99")["data"][0]
    assert (line["amount"], line["direction"], line["unallocatedAmount"]) == ("-99.00", "out", "-98.00")
    assert line["allocations"] == ["alc_1", "alc_2"]
    assert (march.page()["account"]) == {"currency": "GBP", "balanceAsOf": None}


@pytest.mark.parametrize(
    ("query", "path", "code"),
    [
        ("fromDate=2026-03-02&toDate=2026-03-01", "toDate", "date_order"),
        ("minAmount=2&maxAmount=1", "maxAmount", "out_of_range"),
        ("minAmount=1.005", "minAmount", "invalid_decimal"),
    ],
)
def test_filters_that_find_nothing_by_mistake_are_refused(lines: Lines, query: str, path: str, code: str) -> None:
    with pytest.raises(Problem) as caught:
        lines.page(query)
    assert [(error.path, error.code) for error in caught.value.errors] == [(path, code)]


def test_another_organizations_account_is_not_found(lines: Lines, store: MemoryStore) -> None:
    with pytest.raises(Problem) as caught:
        lines.page(org_id=store.org())
    assert caught.value.code == "not_found"


def test_up_to_five_hundred_are_answered(lines: Lines) -> None:
    for _ in range(120):
        lines.add("2026-03-02", -1)
    assert len(lines.page("limit=500")["data"]) == 120


def test_nothing_of_a_hidden_import_is_seen(march: Lines) -> None:
    march.add("2026-03-20", 5, import_id="imp_2")
    assert march.ids()[0] == 7
    march.store.write(lambda tx: import_runs.hide(tx, "imp_2"), march.org_id)
    for query in ("", "direction=in", "unallocated=true", "minAmount=0", "updatedSince=2026-01-01T00:00:00Z"):
        assert 7 not in march.ids(query)
    march.store.write(lambda tx: import_runs.show(tx, "imp_2"), march.org_id)
    assert march.ids()[0] == 7


INDEXES = {
    "": "bank_transactions_by_date",
    "status=all": "bank_transactions_by_date",
    "status=pending": "bank_transactions_pending",
    "fromDate=2026-03-05": "bank_transactions_by_date",
    "direction=in": "bank_transactions_in",
    "direction=out": "bank_transactions_out",
    "minAmount=1": "bank_transactions_by_amount",
    "maxAmount=1": "bank_transactions_by_amount",
    "unallocated=true": "bank_transactions_unallocated",
    "unallocated=false": "bank_transactions_allocated",
    "updatedSince=2026-01-01T00:00:00Z": "bank_transactions_by_change",
    "q=costa": "bank_transactions_by_date",
}


@pytest.mark.parametrize("query", INDEXES)
def test_a_page_comes_from_the_index_with_its_order(march: Lines, query: str) -> None:
    """And so costs the same with a million lines: no step sorts or looks at lines that it does not answer."""
    plans: list[str] = []

    class Explaining(ReadTx):
        def each(self, sql: str, /, **values: object) -> Iterator[tuple[object, ...]]:
            plans.extend(row[3] for row in super().rows(f"EXPLAIN QUERY PLAN {sql}", **values))
            return super().each(sql, **values)

    request: Any = DECODER.query(query, {"accountId": march.account_id})

    def explain(tx: ReadTx) -> None:
        explaining = object.__new__(Explaining)
        explaining.__dict__.update(tx.__dict__)
        get_transactions(explaining, make_caller(march.org_id), request)

    march.store.read(explain, march.org_id)
    assert not [step for step in plans if "TEMP B-TREE" in step or "SCAN" in step], plans
    assert any(f"bank_transactions USING INDEX {INDEXES[query]} " in step for step in plans), plans


@pytest.mark.parametrize("query", ["", "direction=in&", "unallocated=true&fromDate=2026-03-01&"])
def test_a_page_of_a_range_begins_at_its_last_day(march: Lines, query: str) -> None:
    """Else it would pass over all that lies behind it: an index is entered at one place."""
    given: list[dict[str, object]] = []

    class Noting(ReadTx):
        def each(self, sql: str, /, **values: object) -> Iterator[tuple[object, ...]]:
            given.append(values)
            return super().each(sql, **values)

    request: Any = DECODER.query(f"{query}toDate=2026-03-31", {"accountId": march.account_id})

    def note(tx: ReadTx) -> None:
        noting = object.__new__(Noting)
        noting.__dict__.update(tx.__dict__)
        get_transactions(noting, make_caller(march.org_id), request)

    march.store.read(note, march.org_id)
    assert [("to_date" in values, values["after_date"]) for values in given] == [(False, "2026-03-31")]
