"""Who may see and end what others opened, through the API."""

import pytest

from gatewayd.access.operations import EndAccess, ListAccess, end_access, list_access
from gatewayd.errors import Problem
from tests.access.test_deprovisioning import Leaver, key_of_organization
from tests.support.store import MemoryStore, make_caller
from tests.support.wire import shown


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


def test_a_key_of_the_organization_is_listed_as_nobodys(store: MemoryStore) -> None:
    leaver = Leaver(store)
    org_id, key_id = leaver.org_id, key_of_organization(leaver)
    lead = make_caller(org_id, user_id=leaver.user_id)

    def listed(request: ListAccess) -> dict[str, object]:
        return {one["id"]: one for one in shown(store.read(lambda tx: list_access(tx, lead, request), org_id))}

    opening = listed(ListAccess())[key_id]
    assert isinstance(opening, dict)
    assert (opening["userId"], opening["email"], opening["isMember"]) == (None, None, False)
    assert (opening["createdBy"], opening["canBeHandedOver"]) == (leaver.user_id, False)
    assert key_id not in listed(ListAccess(user_id=leaver.user_id))
    maker = make_caller(org_id, role="member", user_id=leaver.user_id)
    with pytest.raises(Problem) as caught:
        store.write(lambda tx: end_access(tx, maker, EndAccess(id=key_id)), org_id)
    assert caught.value.code == "forbidden"
    leaver.remove()
    assert key_id in listed(ListAccess(kind="api_key"))
    store.write(lambda tx: end_access(tx, lead, EndAccess(id=key_id)), org_id)
    assert leaver.revoked(key_id, org_id)
