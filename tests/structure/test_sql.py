"""Every SQL constant: owned by one module, written in one way. That it keeps to its organization is proven beside."""

import ast
import importlib
import re
from collections.abc import Iterator
from typing import NamedTuple

import apsw
import pytest
import sqlglot
from sqlglot import exp

from gatewayd.store import StagedRows, Table
from gatewayd.store.sqlite import connections, schema, vectors
from tests.structure.sources import PACKAGE, Source, sources
from tests.support.portable_sql import SEARCH
from tests.support.store import START

MIGRATIONS = PACKAGE / "store" / "migrations"
_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
_STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|REPLACE)\b", re.IGNORECASE)
_TEXT = re.compile(r"'(?:[^']|'')*'")
_PARAMETER = re.compile(r":[a-z_0-9]+")
_KEYWORDS = re.compile(
    r"\b(select|from|where|insert|into|values|update|set|delete|and|or|not|null|order|by|group|having|limit|join|left"
    r"|on|in|is|exists|case|when|then|else|end|returning|conflict|do|like|escape|between|union|all|as|distinct|asc|desc)\b"
)

_ASSIGNED = re.compile(r"^(\w+)(?:: [^=\n]+)? = ", re.MULTILINE)

WRITERS = {
    "bank_transactions": {"gatewayd/areas/banking/transactions/rows.py", "gatewayd/ledger/allocating/bank_lines.py"},
    "deliveries": {
        "gatewayd/events/outbox.py",
        "gatewayd/webhooks/queue/delivery_queue.py",
        "gatewayd/webhooks/queue/retention.py",
    },
    "events": {"gatewayd/events/outbox.py", "gatewayd/webhooks/queue/retention.py"},
    "mails": {"gatewayd/mail/claims.py", "gatewayd/mail/outbox.py"},
    "update_clock": {"gatewayd/store/latest_change.py", "gatewayd/store/sqlite/update_clock.py"},
}
"""Tables with several writers: the outbox inserts, the queue updates, and retention deletes. What is allocated of a
bank transaction follows its allocations. The clock of changes is moved by SQLite, and accepted
in either engine. A mail is written by one, and its attempts are begun and ended by the other."""
INFRASTRUCTURE = frozenset({"migrations"})
POSTGRESQLS = ("gatewayd/store/postgres/", "gatewayd/search/postgres_index.py")
"""Where what is said to one engine alone is PostgreSQL's."""
OPERATED = ("gatewayd/areas/", "gatewayd/ledger/", "gatewayd/tax/", "gatewayd/webhooks/")
"""What handlers of operations stand on."""


class Constant(NamedTuple):
    """One statement of the program."""

    module: str
    name: str
    sql: str

    @property
    def where(self) -> str:
        return f"{self.module} {self.name}"

    @property
    def bare(self) -> str:
        """Without what stands in quotes."""
        return _TEXT.sub("''", self.sql)

    @property
    def is_template(self) -> bool:
        """True where pieces of SQL are still to be put in."""
        return "{" in self.sql


def constants() -> Iterator[Constant]:
    for source in sources():
        if source.path.name == "__main__.py" or source.name.startswith(POSTGRESQLS):
            continue
        dotted = ".".join(source.path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        assigned = set(_ASSIGNED.findall(source.text))
        module = importlib.import_module(dotted)
        for name, value in vars(module).items():
            if name not in assigned or not _CONSTANT.fullmatch(name):
                continue
            if isinstance(value, str) and _STATEMENT.match(value):
                yield Constant(source.name, name, value)
            elif isinstance(value, Table | StagedRows):
                yield from (Constant(source.name, f"{name}_{use.upper()}", sql) for use, sql in value.statements())


CONSTANTS = tuple(constants())


@pytest.fixture(scope="module")
def columns() -> dict[str, set[str]]:
    """The columns of each table after all migrations."""
    connection = connections.open_writer(connections.MEMORY, 0)
    schema.migrate(connection, schema.packaged(), START)
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    found = {}
    for name in names:
        rows = connection.execute("SELECT name FROM pragma_table_info(:table)", {"table": name})
        found[str(name)] = {str(row[0]) for row in rows}
    connection.close()
    return found


def parsed(constant: Constant) -> exp.Expression:
    statement = sqlglot.parse_one(constant.sql, dialect="sqlite")
    assert isinstance(statement, exp.Expression)
    return statement


def test_there_are_statements_to_look_at() -> None:
    assert len(CONSTANTS) > 50
    assert {"gatewayd/areas/legal_entities/rows.py", "gatewayd/events/outbox.py"} <= {c.module for c in CONSTANTS}


def test_a_read_asks_the_transaction_for_the_time() -> None:
    """Or its answer would be kept as one that does not depend on it: `:now` in a statement is not noticed."""
    operated = [constant for constant in CONSTANTS if constant.module.startswith(OPERATED)]
    reads = [constant for constant in operated if re.match(r"\s*(SELECT|WITH)\b", constant.sql)]
    asked = [constant.where for constant in reads if ":now" in _PARAMETER.findall(constant.bare)]
    assert asked == [], "give them `tx.now` or `tx.today` under another name"
    assert reads != []


def style_faults(constant: Constant) -> Iterator[str]:
    lower = _KEYWORDS.findall(_PARAMETER.sub("", constant.bare))
    if lower:
        yield f"{constant.where} has keywords in lower case: {lower}"
    if "?" in constant.bare:
        yield f"{constant.where} has parameters without names"
    # FTS5 gives its rows no other key than `rowid`.
    refused = r"\bINSERT OR\b|\bREPLACE INTO\b" + ("" if constant.module in SEARCH else r"|\browid\b")
    if found := re.search(refused, constant.bare, re.IGNORECASE):
        yield f"{constant.where} has {found[0]}"
    if re.search(r"\bSELECT\s+\*", constant.bare):
        yield f"{constant.where} does not name its columns"


def test_statements_are_written_in_the_house_style() -> None:
    assert [fault for constant in CONSTANTS for fault in style_faults(constant)] == []


def schema_fault(connection: apsw.Connection, constant: Constant) -> str | None:
    """What SQLite says against a statement."""
    names = dict.fromkeys(name[1:] for name in _PARAMETER.findall(constant.bare))
    try:
        connection.execute(f"EXPLAIN {constant.sql}", names)
    except apsw.Error as error:
        return f"{constant.where}: {error}"
    return None


@pytest.fixture
def empty(database_image: bytes) -> Iterator[apsw.Connection]:
    """A database after all migrations."""
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", database_image)
    vectors.load(connection)
    yield connection
    connection.close()


def test_statements_run_on_the_schema(empty: apsw.Connection) -> None:
    whole = [constant for constant in CONSTANTS if not constant.is_template]
    faults = [schema_fault(empty, constant) for constant in whole]
    assert [fault for fault in faults if fault is not None] == []


def written_table(statement: exp.Expression) -> str | None:
    if not isinstance(statement, exp.Insert | exp.Update | exp.Delete):
        return None
    table = statement.this.find(exp.Table)
    assert table is not None
    return str(table.name)


def test_a_table_is_written_by_one_module(columns: dict[str, set[str]]) -> None:
    writers: dict[str, set[str]] = {table: set() for table in columns.keys() - INFRASTRUCTURE}
    for constant in CONSTANTS:
        table = written_table(parsed(constant))
        if table is not None:
            writers[table].add(constant.module)
    unexpected = {t: sorted(w) for t, w in writers.items() if len(w) != 1 and not w <= WRITERS.get(t, set())}
    assert unexpected == {}


def test_sql_stands_in_constants() -> None:
    """So that these tests see it. The store itself is what speaks SQL."""
    outside = [source for source in sources() if not source.name.startswith("gatewayd/store/")]
    assert [where for source in outside for where in inline(source)] == []


def inline(source: Source) -> Iterator[str]:
    pattern = re.compile(r"\s*(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\b", re.DOTALL)
    for function in source.nodes:
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and pattern.match(node.value):
                    yield source.at(node)


def migration_lines() -> Iterator[tuple[str, int, list[str]]]:
    for path in sorted(MIGRATIONS.glob("*.sql")):
        lines = path.read_text("utf-8").splitlines()
        for number in range(len(lines)):
            yield path.name, number, lines


def test_an_index_is_named_with_its_query() -> None:
    """A comment above says which query needs it; a unique index is a rule and speaks for itself."""
    faults = []
    for name, number, lines in migration_lines():
        if re.match(r"CREATE INDEX\b", lines[number]):
            above = next((line for line in reversed(lines[:number]) if not line.startswith("CREATE INDEX")), "")
            previous = lines[number - 1]
            if not (previous.startswith("-- ") or (above.startswith("-- ") and previous.startswith("CREATE INDEX"))):
                faults.append(f"{name}:{number + 1}")
    assert faults == []


def test_tables_are_strict() -> None:
    text = "\n".join(path.read_text("utf-8") for path in sorted(MIGRATIONS.glob("*.sql")))
    text = re.sub(r"--[^\n]*", "", text)
    for statement in re.findall(r"CREATE TABLE\b[^;]*;", text):
        assert re.search(r"\)\s*STRICT(, WITHOUT ROWID)?;$", statement), statement[:80]


# -- the tests' own eyes


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("SELECT id from users", "x.py Y has keywords in lower case: ['from']"),
        ("SELECT id FROM users WHERE id = ?", "x.py Y has parameters without names"),
        ("INSERT OR IGNORE INTO users (id) VALUES (:id)", "x.py Y has INSERT OR"),
        ("SELECT rowid FROM users", "x.py Y has rowid"),
        ("SELECT * FROM users", "x.py Y does not name its columns"),
    ],
)
def test_a_statement_in_another_style_is_named(sql: str, fault: str) -> None:
    assert list(style_faults(Constant("x.py", "Y", sql))) == [fault]


def test_a_statement_that_does_not_run_is_named(empty: apsw.Connection) -> None:
    fault = schema_fault(empty, Constant("x.py", "Y", "SELECT absent FROM users"))
    assert fault == "x.py Y: no such column: absent"


def test_sql_inside_a_function_is_seen() -> None:
    text = 'def f(tx):\n    return tx.rows("SELECT id FROM users")\n'
    assert list(inline(Source(PACKAGE, "gatewayd/x.py", text))) == ["gatewayd/x.py:2"]


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ("INSERT INTO users (id) VALUES (:id)", "users"),
        ("UPDATE users SET id = :id", "users"),
        ("DELETE FROM users WHERE id IN (SELECT id FROM events)", "users"),
        ("SELECT id FROM users", None),
    ],
)
def test_a_writing_statement_is_told_from_a_reading_one(sql: str, table: str | None) -> None:
    assert written_table(parsed(Constant("", "", sql))) == table
