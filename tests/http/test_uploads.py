"""Bodies that are files: received a part at a time, bounded, hashed, and gone with their request."""

import hashlib
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem, not_found
from gatewayd.http import uploads
from gatewayd.http1.bodies import LEAST_RATE
from gatewayd.http1.request import Request
from gatewayd.store import StoreFailure
from gatewayd.store.files.incoming_files import IncomingFile, incoming_folder, sweep
from tests.http.conftest import OpenProbes
from tests.http.probes import OPERATIONS, Deps, Said, Word
from tests.support.api import ANSWER_SECONDS, Body, Reply, TestedApi

TAKE = "/probe/take"
OPERATION = next(operation for operation in OPERATIONS if operation.takes_file)


def under(key: str) -> list[tuple[bytes, bytes]]:
    return [(b"idempotency-key", key.encode())]


def left(directory: Path) -> list[Path]:
    return list((directory / "incoming").iterdir())


async def test_a_file_comes_in_parts_and_is_hashed(open_probes: OpenProbes, tmp_path: Path) -> None:
    deps = Deps()
    async with open_probes(deps=deps) as api:
        reply = await api("POST", TAKE, query="word=a", body=Body(b"one", b"", b"two", b""))
    assert reply.json() == {"said": "a", "org": "org_a"}
    assert deps.calls == [f"a 6 {hashlib.sha256(b'onetwo').hexdigest()} b'onetwo'"]
    assert left(tmp_path) == []


async def test_a_large_file_is_written_as_it_comes(open_probes: OpenProbes, tmp_path: Path) -> None:
    """More than a part is never held."""
    written: list[int] = []
    part = bytes(uploads.PART_BYTES)
    receiving = uploads.Uploads(folder=incoming_folder(tmp_path), max_bytes={"probe": 10 * len(part)})

    class Watched(Body):
        async def receive(self) -> dict[str, object]:
            written.append(sum(path.stat().st_size for path in left(tmp_path)))
            return await super().receive()

    request = Request("POST", TAKE, [])
    request.read_fields()
    async with receiving.receive(request, Watched(*[part] * 4).receive, OPERATION, "org_a") as file:
        assert file.size_bytes == 4 * len(part)
    assert written == [0, *(n * len(part) for n in range(1, 4))]
    assert left(tmp_path) == []


@pytest.mark.parametrize("declared", [True, False])
async def test_a_file_that_is_too_large_is_not_read_to_its_end(
    open_probes: OpenProbes, tmp_path: Path, declared: bool
) -> None:
    body = Body(*[bytes(2_000)] * 5)
    headers = [(b"content-length", b"10000")] if declared else []
    async with open_probes(deps=Deps()) as api:
        reply = await api("POST", TAKE, query="word=a", body=body, headers=headers)
    assert (reply.status, reply.code) == (413, "payload_too_large")
    assert body.read == (0 if declared else 5)
    assert left(tmp_path) == []


async def test_a_file_that_breaks_off_is_gone(open_probes: OpenProbes, tmp_path: Path) -> None:
    deps = Deps()
    async with open_probes(deps=deps) as api:
        reply = await api("POST", TAKE, query="word=a", body=Body(b"half", broken_off=True))
    assert (reply.status, reply.code, deps.calls) == (400, "invalid_request", [])
    assert left(tmp_path) == []


async def test_what_is_wrong_with_the_query_is_told_before_the_file_is_read(open_probes: OpenProbes) -> None:
    body = Body(b"x")
    async with open_probes(deps=Deps()) as api:
        reply = await api("POST", TAKE, query="word=a&other=b", body=body)
    assert (reply.code, body.read) == ("unknown_parameter", 0)


@pytest.mark.parametrize(
    ("name", "value"), [(b"content-type", b"multipart/form-data; boundary=x"), (b"content-encoding", b"gzip")]
)
async def test_a_form_and_a_coding_are_refused(open_probes: OpenProbes, name: bytes, value: bytes) -> None:
    async with open_probes(deps=Deps()) as api:
        reply = await api("POST", TAKE, query="word=a", body=b"x", headers=[(name, value)])
    assert (reply.status, reply.code) == (415, "unsupported_media_type")


async def test_a_file_of_any_type_is_taken_also_an_empty_one(open_probes: OpenProbes) -> None:
    deps = Deps()
    async with open_probes(deps=deps) as api:
        for media_type in (b"application/x-www-form-urlencoded", b"application/json", b"text/csv"):
            headers = [(b"content-type", media_type)]
            assert (await api("POST", TAKE, query="word=a", body=b"", headers=headers)).status == 200
    assert len(deps.calls) == 3


async def test_a_key_is_for_one_file(open_probes: OpenProbes) -> None:
    deps = Deps()
    async with open_probes(deps=deps) as api:
        first = await api("POST", TAKE, query="word=a", body=b"x", headers=under("k1"))
        again = await api("POST", TAKE, query="word=a", body=b"x", headers=under("k1"))
        await api.org("org_b", "other")
        other = await api("POST", TAKE, query="word=a", body=b"y", headers=under("k1"))
    assert (first.body, again["idempotent-replayed"], len(deps.calls)) == (again.body, "true", 1)
    assert (other.status, other.code) == (409, "idempotency_conflict")


async def test_a_file_goes_also_where_its_handler_fails(open_probes: OpenProbes, tmp_path: Path) -> None:
    async def refuse(caller: Caller, request: Word) -> Said:
        raise not_found("word")

    async with open_probes(deps=Deps(act=refuse)) as api:
        assert (await api("POST", TAKE, query="word=a", body=b"x")).status == 404
    assert left(tmp_path) == []


async def test_a_caller_whose_key_is_revoked_meanwhile_is_refused(open_probes: OpenProbes) -> None:
    deps = Deps()
    async with open_probes(deps=deps) as api:

        class Slow(Body):
            async def receive(self) -> dict[str, object]:
                del api.authenticator.callers["good"]
                await trio.sleep(0.06)  # longer than a body takes that counts as fast
                return await super().receive()

        reply = await api("POST", TAKE, query="word=a", body=Slow(b"x"))
    assert (reply.status, deps.calls) == (401, [])


class _Held(Body):
    """A body that does not come before it may."""

    def __init__(self, arrived: list[int], goes_on: trio.Event) -> None:
        super().__init__(b"x")
        self.arrived, self.goes_on = arrived, goes_on

    async def receive(self) -> dict[str, object]:
        self.arrived.append(1)
        await self.goes_on.wait()
        return await super().receive()


async def test_an_organization_has_its_share_of_the_files_that_arrive(
    open_probes: OpenProbes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "WAIT_SECONDS", 0.05)
    goes_on, arrived, replies = trio.Event(), list[int](), list[Reply]()

    async def send(api: TestedApi) -> None:
        replies.append(await api("POST", TAKE, query="word=a", body=_Held(arrived, goes_on)))

    async with open_probes(deps=Deps()) as api, trio.open_nursery() as nursery:
        for _ in range(2 * uploads.MAX_AT_ONCE):
            nursery.start_soon(send, api)
        with trio.fail_after(ANSWER_SECONDS):
            while len(replies) < 2 * uploads.MAX_AT_ONCE - uploads.MAX_AT_ONCE // 2:
                await trio.sleep(0.01)
        assert {(reply.status, reply.code, reply["retry-after"]) for reply in replies} == {(429, "rate_limited", "5")}
        assert len(arrived) == uploads.MAX_AT_ONCE // 2
        await api.org("org_b", "other")
        other = await api("POST", TAKE, query="word=a", body=b"x", token="other")
        assert other.json() == {"said": "a", "org": "org_b"}
        goes_on.set()
    assert sorted(reply.status for reply in replies)[: len(arrived)] == [200] * len(arrived)


async def test_a_place_comes_free_with_the_answer(open_probes: OpenProbes) -> None:
    goes_on, arrived, statuses = trio.Event(), list[int](), list[int]()

    async def send(api: TestedApi) -> None:
        statuses.append((await api("POST", TAKE, query="word=a", body=_Held(arrived, goes_on))).status)

    async with open_probes(deps=Deps()) as api, trio.open_nursery() as nursery:
        for _ in range(uploads.MAX_AT_ONCE):
            nursery.start_soon(send, api)
        await wait_all_tasks_blocked(0.05)
        goes_on.set()
    assert statuses == [200] * uploads.MAX_AT_ONCE


class _Slow(Body):
    """A byte every ten seconds."""

    async def receive(self) -> dict[str, object]:
        await trio.sleep(10)
        return await super().receive()


async def test_a_body_that_is_too_slow_ends(tmp_path: Path, autojump_clock: MockClock) -> None:
    receiving = uploads.Uploads(folder=incoming_folder(tmp_path), max_bytes={"probe": 1_000})
    request, body = Request("POST", TAKE, []), _Slow(*[b"x"] * 100)
    request.read_fields()
    with pytest.raises(Problem) as refused:
        await _received(receiving, request, body)
    assert (refused.value.code, refused.value.headers) == ("request_timeout", ((b"connection", b"close"),))
    assert body.read == 3
    assert (left(tmp_path), receiving.shares.count.held) == ([], {})


async def test_a_slow_body_at_the_least_rate_is_taken(tmp_path: Path, autojump_clock: MockClock) -> None:
    receiving = uploads.Uploads(folder=incoming_folder(tmp_path), max_bytes={"probe": 1 << 20})
    request, body = Request("POST", TAKE, []), _Slow(*[bytes(10 * LEAST_RATE)] * 50)
    request.read_fields()
    assert await _received(receiving, request, body) == 500 * LEAST_RATE


async def _received(receiving: uploads.Uploads, request: Request, body: Body) -> int:
    async with receiving.receive(request, body.receive, OPERATION, "org_a") as file:
        return file.size_bytes


def test_what_a_crash_left_is_swept(tmp_path: Path) -> None:
    folder = incoming_folder(tmp_path)
    file = IncomingFile(folder)
    file.write(b"half")
    file.close()
    assert (sweep(folder), left(tmp_path)) == (1, [])


def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreFailure, match="cannot be stored"):
        IncomingFile(tmp_path / "nowhere")
