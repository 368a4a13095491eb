"""Organizations are listed page by page."""

from gatewayd.identity import audit
from gatewayd.identity.people import organizations
from tests.areas.organizations.test_organizations import OpenInstance, open_instance

__all__ = ["open_instance"]


async def test_organizations_come_page_by_page(open_instance: OpenInstance) -> None:
    async with open_instance() as (api, _):
        for name in ("Ash", "Elm"):
            await api.store.write(lambda tx, of=name: organizations.create(tx, of, audit.OPERATOR))
        whole = (await api("GET", "/organizations/list")).json()
        assert (len(whole["data"]), whole["nextCursor"]) == (4, None)
        first = (await api("GET", "/organizations/list", query={"limit": 3})).json()
        rest = (await api("GET", "/organizations/list", query={"limit": 3, "cursor": first["nextCursor"]})).json()
        assert (len(first["data"]), rest["nextCursor"]) == (3, None)
        assert [*first["data"], *rest["data"]] == whole["data"]
