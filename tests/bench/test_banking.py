"""What banking is measured with works: books that are what they say, and an import beside a neighbour."""

from pathlib import Path

import pytest

from tests.bench import banking
from tests.bench.bank_books import BankBooks, seed_books
from tests.bench.bank_floor import floor_of
from tests.bench.banking_import import ImportSize, measure_imports, write_statement
from tests.bench.processes import pick_cores
from tests.bench.report import Report
from tests.bench.servers import Bench, get, serving


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, pick_cores().server)


@pytest.fixture
def books(tmp_path: Path) -> BankBooks:
    return seed_books(tmp_path / "books", banking.SMALL)


def test_every_list_of_seeded_books_has_a_full_page(bench: Bench, books: BankBooks) -> None:
    """It raises where one has not."""
    with serving(bench, books.directory) as server:
        for kind, path in banking.paths(books).items():
            banking.require_full_page(server, get(path, books.key), kind)


def test_an_import_is_measured_beside_a_neighbour(bench: Bench, books: BankBooks) -> None:
    report = Report({})
    measure_imports(bench, books, ImportSize(rows=600, rounds=1, quiet_seconds=0.5), report)
    figures = {figure.name: figure.median for figure in report.figures}
    assert figures["CPU of the floor per row: executemany, 250 a commit"] > 0
    assert figures["p99 of its POSTs alone"] > 0
    assert figures["times that the store did not answer"] == 0


def test_a_statement_is_as_long_as_it_says(tmp_path: Path) -> None:
    path = tmp_path / "statement.csv"
    write_statement(path, 500, 1)
    assert len(path.read_text().splitlines()) == 501
    assert floor_of(tmp_path / "floor", path).seconds > 0
    assert list(tmp_path.iterdir()) == [path]
