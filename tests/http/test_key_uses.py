"""What a key asks for is counted, once for each call, however it is answered."""

import msgspec
import pytest

from tests.http.conftest import OpenProbes


@pytest.mark.parametrize(
    ("path", "operation", "count"),
    [
        ("/probe/read", "probe.read", "0"),
        ("/probe/long", "probe.long", "0"),
        ("/probe/busy", "probe.busy", "60000"),  # too long for the loop, and begun again on a thread
    ],
)
async def test_each_read_is_counted_once_also_where_its_answer_was_kept(
    open_probes: OpenProbes, path: str, operation: str, count: str
) -> None:
    async with open_probes() as api:
        key = api.token("org_a", "good")
        for _ in range(2):
            assert (await api("GET", path, query={"word": "w", "count": count})).status == 200
        assert api.key_uses.due() == {(key.credential_id, operation): 2}


async def test_what_changes_something_is_counted_too(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        key = api.token("org_a", "good")
        assert (await api("POST", "/probe/write", json={"word": "w"})).status == 200
        assert (await api("POST", "/probe/write", json={})).status == 422
        assert api.key_uses.due() == {(key.credential_id, "probe.write"): 2}


async def test_what_a_key_may_not_do_is_not_counted(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        api.token("org_a", "good", [])
        assert (await api("GET", "/probe/read", query={"word": "w"})).status == 403
        assert (await api("GET", "/probe/read", token="unknown", query={"word": "w"})).status == 401
        assert (await api("GET", "/probe/nothing")).status == 404
        assert api.key_uses.due() == {}


async def test_apps_are_not_counted(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        key = api.token("org_a", "good")
        api.authenticator.callers["good"] = msgspec.structs.replace(key, kind="access_token")
        assert (await api("GET", "/probe/read", query={"word": "w"})).status == 200
        assert api.key_uses.due() == {}
