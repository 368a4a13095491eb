"""What a caller is told of its limit, and when it is refused, on a clock that the test moves."""

from trio.testing import MockClock

from tests.http.conftest import OpenProbes
from tests.support.api import Reply, TestedApi


async def read(api: TestedApi, path: str = "/probe/read") -> Reply:
    return await api("GET", path, query={"word": "w"})


async def test_answers_tell_what_is_left(open_probes: OpenProbes, mock_clock: MockClock) -> None:
    async with open_probes(per_minute=60) as api:
        first = await read(api)
        assert first["ratelimit-policy"] == '"default";q=60;w=60'
        assert first["ratelimit"] == '"default";r=59;t=2'
        assert (await read(api, "/probe/dear"))["ratelimit"] == '"default";r=54;t=7'


async def test_past_the_limit_is_429_until_retry_after(open_probes: OpenProbes, mock_clock: MockClock) -> None:
    async with open_probes(per_minute=6) as api:
        for _ in range(6):
            assert (await read(api)).status == 200
        reply = await read(api)
        assert (reply.status, reply.code) == (429, "rate_limited")
        assert reply["ratelimit"].startswith('"default";r=0;')
        wait = int(reply["retry-after"])
        mock_clock.jump(wait - 2.0)
        assert (await read(api)).status == 429
        mock_clock.jump(2.0)
        assert (await read(api)).status == 200


async def test_who_is_not_known_is_not_counted(open_probes: OpenProbes) -> None:
    async with open_probes(per_minute=1) as api:
        for _ in range(3):
            reply = await api("GET", "/probe/read", token="unknown", query={"word": "w"})
            assert reply.status == 401
            assert "ratelimit" not in reply
