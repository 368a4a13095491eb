"""What is sealed is on the list of the store, and somebody says what becomes of it when the key is lost."""

import ast

import apsw
import pytest

from gatewayd.cli.instance.lost_secrets import LOSSES
from gatewayd.store.sealing.sealed_columns import SEALED_COLUMNS
from tests.structure.sources import Source, sources
from tests.support.store import columns_of

SEALING = {
    "gatewayd/areas/accounting/paper_links.py": 1,
    "gatewayd/areas/legal_entities/rows.py": 2,
    "gatewayd/identity/tokens/refresh_tokens.py": 1,
    "gatewayd/identity/signing/seal_keys.py": 1,
    "gatewayd/identity/sign_in/second_factors.py": 1,
    "gatewayd/identity/sign_in/sign_in.py": 1,  # a note between two steps of a sign-in, which the browser keeps
    "gatewayd/identity/signing/signing_keys.py": 1,
    "gatewayd/mail/outbox.py": 1,
    "gatewayd/performing/idempotency.py": 1,
    "gatewayd/tax/connections/connections.py": 2,
    "gatewayd/webhooks/subscribers/subscriptions.py": 3,
}
"""How many times each file seals something. Whoever adds one adds its column to `SEALED_COLUMNS`, and to `LOSSES`."""


def seals(source: Source) -> int:
    calls = [node.func for node in source.nodes if isinstance(node, ast.Call)]
    return sum(isinstance(call, ast.Attribute) and call.attr == "seal" for call in calls)


def test_every_place_that_seals_is_known() -> None:
    found = {source.name: seals(source) for source in sources() if not source.name.startswith("gatewayd/store/")}
    assert {name: count for name, count in found.items() if count} == SEALING


@pytest.fixture
def columns(database_image: bytes) -> dict[str, dict[str, bool]]:
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", database_image)
    return columns_of(connection)


def test_every_column_for_sealed_bytes_is_listed(columns: dict[str, dict[str, bool]]) -> None:
    by_name = {f"{table}.{column}" for table, of in columns.items() for column in of if column.endswith("_sealed")}
    listed = {column.name for column in SEALED_COLUMNS}
    assert by_name == {name for name in listed if name.endswith("_sealed")}
    flagged = {table for table, of in columns.items() if "sealed" in of}  # a row says whether it is
    assert flagged == {column.table for column in SEALED_COLUMNS if column.of == "sealed = 1"}
    assert {column.name for column in SEALED_COLUMNS if column.column not in columns[column.table]} == set()


def test_somebody_says_what_is_lost_with_each() -> None:
    assert LOSSES.keys() == {column.name for column in SEALED_COLUMNS}
