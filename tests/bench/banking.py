"""Lists of bank lines and allocations however many there are, and a year's profit and loss beside somebody's GETs."""

import threading
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection

import msgspec

from gatewayd.areas.banking.allocations.shapes import ListAllocations
from gatewayd.areas.banking.transactions.shapes import ListTransactions
from gatewayd.contract.pages import next_cursor
from tests.bench.bank_books import INVOICE, PROPERTY, TENANCY, YEAR, YEARS, BankBooks, seed_books
from tests.bench.banking_import import ImportSize, measure_imports
from tests.bench.load import fetch
from tests.bench.measure import Effort, Samples, Subject, interleave, ratios
from tests.bench.processes import BenchError, ServerProcess
from tests.bench.report import Figure, Report, at_most, percentile
from tests.bench.servers import Bench, get, serving
from tests.bench.spellings import not_asked_before, spellings

SMALL = 1_000
TIMES_AT_MOST = 1.3
LIMIT = 50
HOLD_MILLISECONDS = 50
RANGE = ("2014-01-01", "2017-12-31")  # of which there is a full page of each kind, also of few lines


@dataclass(frozen=True, slots=True)
class BankingSize:
    """So many bank lines; the effort of each list; how often profit and loss is asked for; the imports."""

    lines: int
    effort: Effort
    reports: int
    imports: ImportSize


def measure_banking(bench: Bench, size: BankingSize, report: Report) -> None:
    """The lists, the report, and the imports, which have a new account each."""
    small = seed_books(bench.scratch / "few-lines", SMALL)
    print(f"\nseeding {size.lines:,} bank lines", flush=True)
    large = seed_books(bench.scratch / "many-lines", size.lines)
    _measure_lists(bench, (small, large), size.effort, report)
    _measure_report(bench, large, size.reports, report)
    measure_imports(bench, small, size.imports, report)


# -- lists


def _measure_lists(bench: Bench, both: tuple[BankBooks, BankBooks], effort: Effort, report: Report) -> None:
    small, large = both
    samples: Samples = {}
    figures: list[Figure] = []
    with serving(bench, small.directory) as few, serving(bench, large.directory) as many:
        for kind, path in paths(small).items():
            other = paths(large)[kind]
            names = (f"{kind}, {small.lines:,}", f"{kind}, {large.lines:,}")
            for server, books, asked in ((few, small, path), (many, large, other)):
                require_full_page(server, get(asked, books.key), kind)
            subjects = [
                Subject(name=names[0], server=few, request=not_asked_before(path, small.key)),
                Subject(name=names[1], server=many, request=not_asked_before(other, large.key)),
            ]
            samples |= interleave(subjects, effort)
            figures.append(
                Figure(f"{kind}: large / small", ratios(samples, names[1], names[0]), at_most(TIMES_AT_MOST))
            )
    report.add(f"Lists of banking: {small.lines:,} and {large.lines:,} bank lines", samples, figures)


def paths(books: BankBooks) -> Mapping[str, str]:
    """The pages by what they are; deep ones start in the middle."""
    first, last = RANGE
    middle = books.lines // 2
    of_lines = f"/api/rpc/accounts/{books.account_id}/transactions?status=booked&limit={LIMIT}"
    of_allocations = f"/api/rpc/allocations?includeTotals=false&limit={LIMIT}"
    moment = f"updatedSince={books.updated_at(middle)}"
    days = f"fromDate={first}&toDate={last}"
    lines_after = next_cursor(
        ListTransactions(account_id=books.account_id, limit=LIMIT), (first, books.line_id(middle))
    )
    allocations_after = next_cursor(ListAllocations(limit=LIMIT), (first, books.line_id(middle)))
    return {
        "lines": of_lines,
        "lines, deep page": f"{of_lines}&cursor={lines_after}",
        "lines of four years": f"{of_lines}&{days}",
        "lines, all states": of_lines.replace("booked", "all"),
        "lines pending": of_lines.replace("booked", "pending"),
        "lines in": f"{of_lines}&direction=in",
        "lines out, of four years": f"{of_lines}&direction=out&{days}",
        "lines by amount": f"{of_lines}&minAmount=-300.00&maxAmount=-200.00",
        "lines allocated": f"{of_lines}&unallocated=false",
        "lines not allocated": f"{of_lines}&unallocated=true",
        "lines with a word": f"{of_lines}&q=leeds",
        "lines changed": f"{of_lines}&{moment}",
        "allocations": of_allocations,
        "allocations, deep page": f"{of_allocations}&cursor={allocations_after}",
        "allocations of four years": f"{of_allocations}&{days}",
        "allocations of a business": f"{of_allocations}&businessId={books.business_id}",
        "allocations of a small business": f"{of_allocations}&businessId={books.small_business_id}",
        "allocations of a business and four years": f"{of_allocations}&businessId={books.business_id}&{days}",
        "allocations of a category": f"{of_allocations}&category=adminCosts",
        "allocations of a category and four years": f"{of_allocations}&category=adminCosts&{days}",
        "allocations of a rare category": f"{of_allocations}&category=interestOnBankOtherLoans",
        "allocations in": f"{of_allocations}&direction=in",
        "allocations by a person": f"{of_allocations}&matchedBy=user",
        "allocations of a property": f"{of_allocations}&propertyId={PROPERTY}",
        "allocations of a tenancy": f"{of_allocations}&tenancyId={TENANCY}",
        "allocations of an invoice": f"{of_allocations}&invoiceId={INVOICE}",
        "allocations changed": f"{of_allocations}&{moment}",
    }


def require_full_page(server: ServerProcess, request: bytes, kind: str) -> None:
    """A page that is empty would be flat for nothing."""
    status, body = fetch(server.address, request)
    if status != 200:
        raise BenchError(f"{kind} of {server.name} answered {status}: {body[:300].decode()}")
    found = msgspec.json.decode(body)["data"]
    if len(found) != LIMIT:
        raise BenchError(f"{kind} of {server.name} has {len(found)} rows instead of {LIMIT}")


# -- a year's profit and loss


def _measure_report(bench: Bench, books: BankBooks, reports: int, report: Report) -> None:
    """The same report again and again, each time asked otherwise, while somebody else asks for an entity."""
    first, last = YEAR
    path = f"/api/rpc/businesses/businessPnl?id={books.business_id}&fromDate={first}&toDate={last}"
    taken: list[float] = []
    with serving(bench, books.directory) as server:
        status, body = fetch(server.address, get(path, books.key))
        if status != 200:
            raise BenchError(f"profit and loss answered {status}: {body[:300].decode()}")
        alone = _Waiting(server, books)
        with alone:
            time.sleep(1.0)
        beside = _Waiting(server, books)
        with beside:
            for spelling in spellings(path)[1 : reports + 1]:
                began = time.perf_counter()
                fetch(server.address, get(spelling, books.key))
                taken.append((time.perf_counter() - began) * 1e3)
    figures = [
        Figure("profit and loss of a year", taken, None, "ms"),
        Figure("p99 of a small GET alone", [percentile(alone.waits, 99)], None, "ms"),
        Figure("p99 of a small GET meanwhile", [percentile(beside.waits, 99)], None, "ms"),
        Figure("longest wait of a small GET alone", [max(alone.waits)], None, "ms"),
        Figure("longest wait of a small GET meanwhile", [max(beside.waits)], at_most(HOLD_MILLISECONDS), "ms"),
    ]
    report.add(f"Profit and loss of a year: {_allocations_of_the_year(books):,} allocations", {}, figures)


def _allocations_of_the_year(books: BankBooks) -> int:
    """About so many of all that there are."""
    return round(books.lines / YEARS)


class _Waiting:
    """Somebody who asks for an entity again and again: `waits` are milliseconds."""

    def __init__(self, server: ServerProcess, books: BankBooks) -> None:
        self.waits: list[float] = []
        self._over = threading.Event()
        self._server, self._books = server, books
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _ask(self) -> None:
        path = f"/api/rpc/legalEntity/getLegalEntity?id={self._books.entity_id}"
        with closing(HTTPConnection(*self._server.address, timeout=60)) as connection:
            while not self._over.wait(0.001):
                began = time.perf_counter()
                connection.request("GET", path, headers={"Authorization": f"Bearer {self._books.key}"})
                connection.getresponse().read()
                self.waits.append((time.perf_counter() - began) * 1e3)
