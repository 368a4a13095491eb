"""What is open to the outside is listed by kind, and page by page."""

from typing import get_args

from gatewayd.access.operations import ListAccess, list_access
from gatewayd.identity.open_access import AccessKind
from tests.access.test_deprovisioning import Leaver
from tests.support.store import MemoryStore, make_caller
from tests.support.wire import shown


def test_a_kind_and_a_page_leave_out_the_rest(store: MemoryStore) -> None:
    leaver = Leaver(store)
    org_id = leaver.org_id
    keys = {leaver.key_id, leaver.key(org_id), leaver.key(org_id)}
    caller = make_caller(org_id)

    def ids(request: ListAccess) -> tuple[list[str], str | None]:
        page = store.read(lambda tx: list_access(tx, caller, request), org_id)
        return [one["id"] for one in shown(page)], page.next_cursor

    whole, _ = ids(ListAccess())
    assert len(whole) > 3
    by_kind = {kind: ids(ListAccess(kind=kind))[0] for kind in get_args(AccessKind)}
    assert set(by_kind["api_key"]) == keys
    assert sorted(id_ for found in by_kind.values() for id_ in found) == sorted(whole)
    found: list[str] = []
    cursor: str | None = None
    while True:
        page, cursor = ids(ListAccess(limit=2, cursor=cursor))
        found += page
        assert 1 <= len(page) <= 2
        if cursor is None:
            break
    assert found == whole
