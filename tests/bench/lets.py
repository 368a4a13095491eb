"""What many lets cost: the dashboard over 2,000 properties, 20,000 tenancies and 200,000 rents, and the lists of them
beside those of a twentieth. In process, without a disk; each measurement is asked anew, and answers are not kept.
"""

import functools
import time
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from gatewayd.contract.pages import Listing
from tests.bench.let_portfolio import RARE, TENANCIES_EACH, Portfolio
from tests.bench.measure import Effort, Sample, ratios
from tests.bench.processes import BenchError
from tests.bench.report import Figure, Report, at_most

FEW, MANY = 100, 2_000  # properties
TIMES: Final = 5
LIMIT: Final = 30  # of what is the exception there is more
A_DAY_OF_THE_PAST: Final = "2026-09-30"
LISTS: Final[Mapping[str, tuple[str, ...]]] = {
    "listProperties": ("", "status=active", "use=residential_let", "q=oak", "updatedSince=2020-01-01T00:00:00Z"),
    "listPropertyUnits": ("", "status=vacant", "status=ending", "status=let", "updatedSince=2020-01-01T00:00:00Z"),
    "listTenancies": (
        *("", "status=upcoming", "status=active", "status=notice", "status=ended"),
        *("asOfDate=2026-11-20", "asOfDate=2018-05-05", "updatedSince=2020-01-01T00:00:00Z"),
    ),
    "listTenants": ("", "status=prospective", "status=current", "status=past", "q=hart"),
    "listMortgages": ("", "status=active", "rateEndDateBefore=2027-01-10"),
    "listCertificates": (
        *("", "status=valid", "status=expiring", "status=expired", "status=missing", "status=superseded"),
        *("type=epc", "expiryDateBefore=2027-01-05"),
    ),
}


def measure_lets(effort: Effort, report: Report) -> None:
    """The dashboard with few in arrears and with many, today and of a day of the past; pages of the lists."""
    small = Portfolio(FEW)
    figures, samples = [], {}
    for owing in (0.0, 0.4):
        portfolio = Portfolio(MANY, owing)
        for day in ("", f"&asOfDate={A_DAY_OF_THE_PAST}"):
            asked = f"businessId={portfolio.business_id}{day}"
            late = portfolio.dashboard(asked)["arrears"]["count"]
            name = f"dashboard{day and ', ' + A_DAY_OF_THE_PAST}, {late:,} in arrears"
            ask = functools.partial(portfolio.dashboard, asked)
            taken = samples[name] = [_sample(ask) for _ in range(effort.rounds)]
            figures.append(Figure(name, [one.cpu_us / 1000 for one in taken], at_most(100), "ms"))
        if not owing:
            _measure_lists(effort, small, portfolio, report)
    report.add(f"Lets: {MANY:,} properties with {TENANCIES_EACH} tenancies each", samples, figures)


def _measure_lists(effort: Effort, small: Portfolio, large: Portfolio, report: Report) -> None:
    figures, samples = [], {}
    for operation, queries in LISTS.items():
        for query in queries:
            name = f"{operation} {query}".strip()
            pages = {size: _page(of, operation, query) for size, of in (("few", small), ("many", large))}
            taken = {f"{name}, {size}": [] for size in pages}
            for _ in range(effort.rounds):
                for size, ask in pages.items():
                    taken[f"{name}, {size}"].append(_sample(ask))
            samples |= taken
            figures.append(Figure(name, ratios(taken, f"{name}, many", f"{name}, few"), at_most(1.3)))
    report.add(f"Lists of lets: of {MANY:,} properties, by those of {FEW}", samples, figures)


def _page(of: Portfolio, operation: str, query: str) -> Callable[[], Listing[object]]:
    """Ask for a full page: one that is empty would be flat for nothing."""
    row = of.operations[operation]
    request = of.decoders[operation].query(f"{query}&limit={LIMIT}".lstrip("&"))

    def ask() -> Listing[object]:
        return of.store.read(lambda tx: row.handler(tx, of.caller, request), of.org_id)

    if len(msgspec.json.decode(ask().data)) != LIMIT:
        raise BenchError(f"{operation} {query} has less than a page, of {RARE}")
    return ask


def _sample(ask: Callable[[], object]) -> Sample:
    before, started = time.process_time(), time.perf_counter()
    for _ in range(TIMES):
        ask()
    spent, passed = time.process_time() - before, time.perf_counter() - started
    return Sample(requests=TIMES, user_us=spent * 1e6 / TIMES, system_us=0.0, requests_per_second=TIMES / passed)
