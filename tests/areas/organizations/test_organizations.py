"""Administrators of the instance look after its organizations; nobody else does."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from gatewayd.areas.organizations import AREA
from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.identity import audit
from gatewayd.identity.people import organizations, users
from gatewayd.store import WriteTx
from tests.support.api import TestedApi, open_api

OpenInstance = Callable[[], AbstractAsyncContextManager[tuple[TestedApi, str]]]


@pytest.fixture
def open_instance(database_image: bytes, tmp_path: Path) -> OpenInstance:
    """The API and the id of an organization: the token `good` is an administrator's, `owner` an owner's."""

    def people(tx: WriteTx) -> tuple[str, str, str]:
        made = organizations.create(tx, "Oak & Son", audit.OPERATOR)
        admin = users.create(
            tx, users.NewUser(email="ann@example.com", name="Ann", instance_admin=True), audit.OPERATOR
        )
        owner = users.create(tx, users.NewUser(email="bob@example.com", name="Bob"), audit.OPERATOR)
        return made.id, admin.id, owner.id

    @asynccontextmanager
    async def opened() -> AsyncIterator[tuple[TestedApi, str]]:
        async with open_api(tmp_path, database_image, AREA.operations) as api:
            org_id, admin, owner = await api.store.write(people)
            for token, user_id in (("good", admin), ("owner", owner)):
                caller = api.token("org_a", token, ALL_SCOPES)
                api.authenticator.callers[token] = msgspec.structs.replace(caller, user_id=user_id)
            yield api, org_id

    return opened


@pytest.mark.parametrize(
    ("path", "more"), [("rename", {"name": "Elm"}), ("suspend", {}), ("resume", {}), ("delete", {"name": "Oak & Son"})]
)
async def test_an_owner_does_none_of_it(open_instance: OpenInstance, path: str, more: dict[str, str]) -> None:
    async with open_instance() as (api, org_id):
        reply = await api("POST", f"/organizations/{path}", json={"id": org_id, **more}, token="owner")
        assert (reply.status, reply.code) == (403, "forbidden")
        assert (await api("GET", "/organizations/list", token="owner")).status == 403
        found = await api.store.read(lambda tx: organizations.get(tx, org_id))
        assert (found.name, found.suspended_at, found.deleting_since) == ("Oak & Son", None, None)


async def test_an_organization_is_renamed_suspended_and_resumed(open_instance: OpenInstance) -> None:
    async with open_instance() as (api, org_id):
        renamed = await api("POST", "/organizations/rename", json={"id": org_id, "name": "Elm"})
        assert renamed.json()["name"] == "Elm"
        for name, code in (("   ", "out_of_range"), ("a\nb", "invalid_format")):
            refused = await api("POST", "/organizations/rename", json={"id": org_id, "name": name})
            assert [(one["path"], one["code"]) for one in refused.json()["errors"]] == [("name", code)]
        moved = await api("POST", "/organizations/rename", json={"id": org_id, "timeZone": "Asia/Tokyo"})
        assert (moved.json()["name"], moved.json()["timeZone"]) == ("Elm", "Asia/Tokyo")
        for body, path, code in (
            ({"timeZone": "Asia/Nowhere"}, "timeZone", "invalid_format"),
            ({}, "name", "required"),
        ):
            refused = await api("POST", "/organizations/rename", json={"id": org_id, **body})
            assert [(one["path"], one["code"]) for one in refused.json()["errors"]] == [(path, code)]
        suspended = await api("POST", "/organizations/suspend", json={"id": org_id, "reason": "Unpaid."})
        assert (suspended.json()["suspendedAt"], suspended.json()["suspendedReason"]) == (
            "2026-11-20T09:30:00.000Z",
            "Unpaid.",
        )
        listed = (await api("GET", "/organizations/list")).json()["data"]
        assert [one.get("suspendedReason") for one in listed if one["id"] == org_id] == ["Unpaid."]
        resumed = await api("POST", "/organizations/resume", json={"id": org_id})
        assert "suspendedAt" not in resumed.json()
        assert (await api("POST", "/organizations/resume", json={"id": "org_none"})).status == 404
        assert (await api("GET", "/organizations/list", query="cursor=x")).code == "invalid_cursor"


async def test_a_deletion_wants_the_name_and_cannot_be_taken_back(open_instance: OpenInstance) -> None:
    async with open_instance() as (api, org_id):
        refused = await api("POST", "/organizations/delete", json={"id": org_id, "name": "oak & son"})
        assert [(one["path"], one["code"]) for one in refused.json()["errors"]] == [("name", "conflict")]
        deleting = await api("POST", "/organizations/delete", json={"id": org_id, "name": "Oak & Son"})
        assert deleting.json()["deletingSince"] == "2026-11-20T09:30:00.000Z"
        resumed = await api("POST", "/organizations/resume", json={"id": org_id})
        assert (resumed.status, resumed.code) == (409, "invalid_state")
