"""Rows made ready: which scopes open them."""

from gatewayd.performing.prepared import PreparedOperation, prepare
from tests.http.probes import OPERATIONS

PREPARED: dict[str, PreparedOperation] = {operation.id: prepare(operation) for operation in OPERATIONS}


def test_scopes_are_all_needed() -> None:
    both = PREPARED["probe.both"]
    assert not both.allows(frozenset({"entities:read"}))
    assert both.allows(frozenset({"entities:read", "tax:read", "other"}))


def test_a_narrower_scope_opens_only_its_own_area() -> None:
    narrow, other = PREPARED["landlord.narrow"], PREPARED["probe.read"]
    assert narrow.allows(frozenset({"landlord:read"}))
    assert narrow.allows(frozenset({"accounting:read"}))
    assert not narrow.allows(frozenset({"landlord:write", "assets:read"}))
    assert not other.allows(frozenset({"landlord:read", "assets:read"}))
