"""SQL that means the same on SQLite and on PostgreSQL: the rule for every statement of the program.

It is checked with PostgreSQL's own parser and without a server: so it goes by how a statement is written, and asks for
more than PostgreSQL would where that depends on what it reads first. `docs/decisions/0012-portable-sql.md` says why.
"""

from collections.abc import Iterator

from pglast import ast
from pglast.parser import ParseError

from tests.support.portable_sql.constructs import constructs
from tests.support.portable_sql.rows import Tables, groups, orders, upserts
from tests.support.portable_sql.trees import Place, parse, walk
from tests.support.portable_sql.types import truths, untyped

__all__ = ["SEARCH", "Tables", "faults"]

SEARCH = ("gatewayd/search/sqlite_index.py", "gatewayd/search/lookup.py")
"""Where alone beside the store stands what is SQLite's own: full-text search, distances of vectors, lists in JSON."""


def faults(sql: str, tables: Tables) -> list[str]:
    """What keeps the statement from running on PostgreSQL with the same outcome; empty where nothing does."""
    try:
        statement, names = parse(sql)
    except ParseError as error:
        return [f"PostgreSQL's parser refuses it: {error}"]
    return [fault for place in walk(statement) for fault in _faults_at(place, names, tables)]


def _faults_at(place: Place, names: list[str], tables: Tables) -> Iterator[str]:
    node = place.node
    yield from constructs(place)
    yield from truths(place)
    if isinstance(node, ast.ParamRef) and untyped(place):
        yield f":{names[node.number - 1]} has no type: give it a CAST or a column beside it"
    elif isinstance(node, ast.OnConflictClause):
        yield from upserts(node)
    elif isinstance(node, ast.SelectStmt):
        yield from orders(node, tables)
        yield from groups(node)
