"""Who may see and end what others opened, through the API."""

import pytest

from gatewayd.access.operations import EndAccess, ListAccess, end_access, list_access
from gatewayd.errors import Problem
from tests.access.test_deprovisioning import Leaver
from tests.support.store import MemoryStore, make_caller


def test_a_member_sees_and_ends_what_is_their_own_alone(store: MemoryStore) -> None:
    leaver = Leaver(store)
    org_id, other = leaver.org_id, store.user(leaver.org_id)
    member = make_caller(org_id, role="member", user_id=other)
    with pytest.raises(Problem) as caught:
        store.read(lambda tx: list_access(tx, member, ListAccess(user_id=leaver.user_id)), org_id)
    assert caught.value.code == "forbidden"
    with pytest.raises(Problem) as caught:
        store.write(lambda tx: end_access(tx, member, EndAccess(id=leaver.key_id)), org_id)
    assert caught.value.code == "forbidden"
    assert store.read(lambda tx: list_access(tx, member, ListAccess()), org_id).pieces == []
