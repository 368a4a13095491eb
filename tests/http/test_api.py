"""The steps of a request and their order: what is refused before what, and how answers look."""

from typing import Any

import msgspec
import pytest
import trio.testing

from gatewayd.http1.request import Request
from tests.http.conftest import OpenProbes
from tests.http.probes import said
from tests.support.api import Body, Reply, TestedApi
from tests.support.scopes import request_of

JSON = (b"content-type", b"application/json")
READ = "/probe/read"
WRITE = "/probe/write"


async def test_a_read_takes_its_query_and_answers_json(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        reply = await api("GET", READ, query={"word": "hello", "count": 3})
    assert (reply.status, reply.json()) == (200, {"said": "hello", "org": "org_a"})
    assert reply["content-type"] == "application/json"
    assert reply["content-length"] == str(len(reply.body))
    assert reply["cache-control"] == "no-store"
    assert reply["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("mount", ["", "/api/rpc"])
async def test_rows_and_aliases_answer_under_both_mounts(open_probes: OpenProbes, mount: str) -> None:
    async with open_probes() as api:
        by_path = await api("GET", f"{mount}/things/t1")
        by_alias = await api("GET", f"{mount}/probe/getThing", query={"thingId": "t1"})
        patched = await api("PATCH", f"{mount}/things/t1", json={"word": "w"})
        posted = await api("POST", f"{mount}/probe/changeThing", json={"thingId": "t1", "word": "w"})
    assert by_path.body == by_alias.body
    assert patched.body == posted.body
    assert said(patched.body) == "t1 w"


async def test_a_body_that_contradicts_the_path_is_refused(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        reply = await api("PATCH", "/things/t1", json={"thingId": "t2"})
    assert (reply.status, reply.json()["errors"][0]["path"]) == (422, "thingId")


# -- the order of the steps


async def test_a_bad_body_without_a_token_is_401(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        body = Body(b"{")
        reply = await api("POST", WRITE, token=None, body=body, headers=[JSON])
        assert (reply.status, reply.code) == (401, "authentication_required")
        assert reply["www-authenticate"] == "Bearer"
        assert body.read == 0


async def test_a_bad_body_with_the_wrong_scope_is_403(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        api.token("org_a", "reader", ["entities:read"])
        body = Body(b"{")
        reply = await api("POST", WRITE, token="reader", body=body, headers=[JSON])
        assert (reply.status, reply.code) == (403, "insufficient_scope")
        assert body.read == 0


async def test_the_rate_limit_is_charged_before_the_scope_is_checked(open_probes: OpenProbes) -> None:
    async with open_probes(per_minute=2) as api:
        api.token("org_a", "reader", ["entities:read"])
        replies = [await api("POST", WRITE, token="reader", json={}) for _ in range(3)]
    assert [reply.status for reply in replies] == [403, 403, 429]


class _Noting(Body):
    """A body that notes whether its sender was known when it was asked for."""

    def __init__(self, request: Request, piece: bytes) -> None:
        super().__init__(piece)
        self._request = request
        self.admitted: list[bool] = []

    async def receive(self) -> dict[str, Any]:
        self.admitted.append(self._request.admitted)
        return await super().receive()


async def test_a_body_is_read_of_who_is_known_alone_and_the_server_is_told(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        api.token("org_a", "reader", ["entities:read"])
        for token, status, noted in (("good", 200, [True]), ("reader", 403, []), ("bad", 401, [])):
            fields = [JSON, (b"authorization", f"Bearer {token}".encode())]
            request = request_of("POST", WRITE, headers=fields)
            body = _Noting(request, b'{"word":"w"}')
            assert (await api.send(request, body)).status == status
            assert (body.admitted, request.admitted) == (noted, bool(noted))


async def test_the_server_is_told_who_is_known_where_it_is_answered_at_once(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        for token, status, known in (("good", 200, True), ("bad", 401, False)):
            request = request_of("GET", READ, query=b"word=w", headers=[(b"authorization", f"Bearer {token}".encode())])
            response = api.api.at_once(request)
            assert response is not None
            assert (response.status, request.admitted) == (status, known)


async def test_an_unknown_path_and_a_wrong_method_need_no_token(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        assert (await api("GET", "/nowhere", token=None)).code == "not_found"
        assert (await api("DELETE", READ, token=None)).code == "method_not_allowed"
        assert api.authenticator.asked == []


async def test_a_bad_idempotency_key_is_told_after_a_bad_body(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        too_long = [(b"idempotency-key", b"k" * 256)]
        assert (await api("POST", WRITE, json={}, headers=[*too_long, JSON])).code == "validation_failed"
        assert (await api("POST", WRITE, json={"word": "w"}, headers=[*too_long, JSON])).code == "invalid_request"


# -- credentials


async def test_an_unknown_token_is_challenged(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        reply = await api("GET", READ, token="other", query={"word": "w"})
    assert (reply.status, reply.code) == (401, "invalid_token")
    assert reply["www-authenticate"].startswith('Bearer error="invalid_token", error_description="')


@pytest.mark.parametrize(
    "field", [b"Basic Zm9vOmJhcg==", b"Bearer", b"Bearer ", b"good", b"Bearer " + b"x" * 8193], ids=lambda f: f[:14]
)
async def test_what_is_no_bearer_token_is_invalid(open_probes: OpenProbes, field: bytes) -> None:
    async with open_probes() as api:
        reply = await api("GET", READ, query={"word": "w"}, headers=[(b"authorization", field)])
        assert (reply.status, reply.code) == (401, "invalid_token")
        assert api.authenticator.asked == []


@pytest.mark.parametrize("field", [b"bearer good", b"BEARER good", b"Bearer   good "])
async def test_the_scheme_is_read_in_any_letter_case(open_probes: OpenProbes, field: bytes) -> None:
    async with open_probes() as api:
        assert (await api("GET", READ, query={"word": "w"}, headers=[(b"authorization", field)])).status == 200


async def test_the_authenticator_is_told_the_peer(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        await api("GET", READ, query={"word": "w"})
        assert api.authenticator.asked == [("good", "192.0.2.7")]


async def test_a_missing_scope_names_all_that_are_needed(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        reply = await api("GET", "/probe/both", query={"word": "w"})
    assert reply["www-authenticate"] == 'Bearer error="insufficient_scope", scope="entities:read tax:read"'
    assert reply.json()["requiredScopes"] == ["entities:read", "tax:read"]


async def test_a_narrower_scope_opens_its_area_and_is_not_advertised(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        api.token("org_a", "landlord", ["landlord:read"])
        api.token("org_a", "nothing", [])
        assert (await api("GET", "/landlord/narrow", token="landlord", query={"word": "w"})).status == 200
        refused = await api("GET", "/landlord/narrow", token="nothing", query={"word": "w"})
    assert 'scope="accounting:read"' in refused["www-authenticate"]


# -- headers


@pytest.mark.parametrize("name", [b"authorization", b"idempotency-key", b"content-type", b"content-length"])
async def test_a_second_value_of_a_single_field_is_refused(open_probes: OpenProbes, name: bytes) -> None:
    value = {b"authorization": b"Bearer good", b"idempotency-key": b"k", b"content-length": b"14"}
    twice = [(name, value.get(name, b"application/json"))] * 2
    async with open_probes() as api:
        reply = await api("POST", WRITE, body=b'{"word": "w"}', headers=twice)
        assert (reply.status, reply.code) == (400, "invalid_request")
        assert name.decode() in reply.json()["message"]
        assert "x-request-id" in reply


async def test_repeated_lists_are_joined(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        accept = [(b"accept", b"text/html"), (b"accept", b"application/json;q=0.5")]
        assert (await api("GET", READ, query={"word": "w"}, headers=accept)).status == 200


@pytest.mark.parametrize(
    "accept", [b"application/json", b"*/*", b"", b"Application/*", b"text/html, application/*;q=0.1"]
)
async def test_an_accept_that_json_satisfies(open_probes: OpenProbes, accept: bytes) -> None:
    async with open_probes() as api:
        assert (await api("GET", READ, query={"word": "w"}, headers=[(b"accept", accept)])).status == 200


async def test_an_accept_without_json_is_406(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        reply = await api("GET", READ, query={"word": "w"}, headers=[(b"accept", b"text/html, image/png")])
    assert (reply.status, reply.code) == (406, "not_acceptable")


async def test_every_request_has_an_id_of_its_own(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        replies = [
            await api("GET", READ, query={"word": "w"}),
            await api("GET", "/nowhere"),
            await api("OPTIONS", READ),
            await api("POST", WRITE, token=None),
        ]
        seen = [call.request.id for call, _ in api.observed]
    ids = [reply["x-request-id"] for reply in replies]
    assert len(set(ids)) == len(ids)
    assert ids == seen
    assert replies[3].json()["requestId"] == ids[3]


# -- methods


async def test_a_wrong_method_is_405_with_the_ones_there_are(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        reply = await api("DELETE", "/things/t1")
    assert (reply.status, reply.code, reply["allow"]) == (405, "method_not_allowed", "GET, HEAD, OPTIONS, PATCH")


async def test_options_names_the_methods(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        reply = await api("OPTIONS", WRITE, token=None)
    assert (reply.status, reply.body, reply["allow"]) == (204, b"", "OPTIONS, POST")
    assert "content-length" not in reply  # RFC 9110 §8.6


async def test_head_answers_the_headers_of_get(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        got = await api("GET", READ, query={"word": "w"})
        head = await api("HEAD", READ, query={"word": "w"})
    assert (head.status, head.body) == (200, b"")
    assert head["content-length"] == str(len(got.body))
    assert head["content-type"] == "application/json"


async def test_head_is_no_way_into_a_post(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        assert (await api("HEAD", WRITE)).status == 405


# -- bodies


@pytest.mark.parametrize("media_type", [b"text/plain", b"multipart/form-data; boundary=x", b""])
async def test_a_body_of_another_type_is_415_and_not_read(open_probes: OpenProbes, media_type: bytes) -> None:
    async with open_probes() as api:
        body = Body(b'{"word": "w"}')
        reply = await api("POST", WRITE, body=body, headers=[(b"content-type", media_type)])
        assert (reply.status, reply.code, body.read) == (415, "unsupported_media_type", 0)


@pytest.mark.parametrize("media_type", [b"application/json; charset=utf-8", b"APPLICATION/JSON", b"application/x+json"])
async def test_json_by_any_of_its_names(open_probes: OpenProbes, media_type: bytes) -> None:
    async with open_probes() as api:
        reply = await api("POST", WRITE, body=b'{"word": "w"}', headers=[(b"content-type", media_type)])
        assert reply.status == 200


async def test_a_body_without_a_type_is_taken_for_json(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        assert (await api("POST", WRITE, body=b'{"word": "w"}')).status == 200


async def test_a_coded_body_is_415(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        reply = await api("POST", WRITE, body=b"..", headers=[JSON, (b"content-encoding", b"gzip")])
        assert reply.status == 415


async def test_a_body_declared_too_large_is_413_and_not_read(open_probes: OpenProbes) -> None:
    async with open_probes(json_body_bytes=100) as api:
        body = Body(b"{" + b" " * 100)
        reply = await api("POST", WRITE, body=body, headers=[JSON, (b"content-length", b"101")])
        assert (reply.status, reply.code, body.read) == (413, "payload_too_large", 0)


@pytest.mark.parametrize("pieces", [(b" " * 101,), (b" " * 60, b" " * 60, b" " * 60)], ids=["at once", "in pieces"])
async def test_a_body_that_grows_too_large_is_413(open_probes: OpenProbes, pieces: tuple[bytes, ...]) -> None:
    async with open_probes(json_body_bytes=100) as api:
        body = Body(*pieces)
        reply = await api("POST", WRITE, body=body, headers=[JSON])
        assert (reply.status, reply.code) == (413, "payload_too_large")
        assert body.read == min(2, len(pieces))  # the third piece is not asked for


async def test_a_body_of_exactly_the_limit_in_pieces(open_probes: OpenProbes) -> None:
    raw = b'{"word": "w"}'
    async with open_probes(json_body_bytes=len(raw)) as api:
        reply = await api("POST", WRITE, body=Body(raw[:4], raw[4:]), headers=[JSON, (b"content-length", b"13")])
        assert reply.status == 200


async def test_a_byte_order_mark_is_ignored(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        whole = await api("POST", WRITE, body=b'\xef\xbb\xbf{"word": "w"}', headers=[JSON])
        split = await api("POST", WRITE, body=Body(b"\xef\xbb", b'\xbf{"word": "w"}'), headers=[JSON])
        assert (whole.status, split.status) == (200, 200)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b'{"word": "w"', "invalid_json"),
        (b'{"word": "\xe9"}', "invalid_json"),
        ('{"word": "w"}'.encode("utf-16"), "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b'["w"]', "invalid_request"),
        (b"", "validation_failed"),
        (b'{"word": "w", "wrod": 1}', "unknown_parameter"),
        (b'{"word": "a\\u0000b"}', "validation_failed"),
    ],
)
async def test_bodies_that_are_not_the_request(open_probes: OpenProbes, raw: bytes, code: str) -> None:
    async with open_probes() as api:
        assert (await api("POST", WRITE, body=raw, headers=[JSON])).code == code


async def test_a_query_beside_a_body_is_refused(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        reply = await api("POST", WRITE, json={"word": "w"}, query="word=w")
        assert (reply.status, reply.code) == (400, "unknown_parameter")


async def test_a_caller_that_leaves_in_its_body_changes_nothing(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        reply = await api("POST", WRITE, body=Body(b'{"word":', broken_off=True), headers=[JSON])
        assert reply.code == "invalid_request"
        assert await _name(api) == "org_a"


async def test_a_key_revoked_while_its_body_arrives_changes_nothing(
    open_probes: OpenProbes, mock_clock: trio.testing.MockClock
) -> None:
    class SlowBody(Body):
        async def receive(self) -> dict[str, Any]:
            mock_clock.jump(1)
            api.authenticator.callers.pop("good", None)
            return await super().receive()

    async with open_probes() as api:
        reply = await api("POST", WRITE, body=SlowBody(b'{"word": "late"}'), headers=[JSON])
        assert (reply.status, reply.code) == (401, "invalid_token")
        assert await _name(api) == "org_a"


# -- queries and pages


async def test_a_query_is_percent_encoded_utf_8(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        assert said((await api("GET", READ, query="word=%C3%A9")).body) == "é"
        for malformed in ("word=%E9", "word=é", "word=\udce9"):
            assert (await api("GET", READ, query=malformed)).code == "invalid_request"


async def test_a_page_links_to_the_next(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        reply = await api("GET", "/api/rpc/words", query="limit=2&cursor=abc&like=%C3%A9%3E")
    assert reply["link"] == '</api/rpc/words?limit=2&like=%C3%A9%3E&cursor=bmV4dA==>; rel="next"'
    assert reply.json() == {"data": [{"said": "a", "org": "b"}], "nextCursor": "bmV4dA=="}


async def test_a_link_holds_what_a_header_can(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        reply = await api("GET", "/words", query='like=>;rel="x')
    assert reply["link"] == '</words?like=%3E;rel=%22x&cursor=bmV4dA==>; rel="next"'


async def test_a_search_by_post_is_a_read(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        api.token("org_a", "reader", ["entities:read"])
        reply = await api("POST", "/probe/search", token="reader", json={"word": "w"})
        assert (reply.status, said(reply.body)) == (200, "w")
        assert (await api("POST", "/probe/search", token=None, body=b"{")).status == 401


async def test_each_caller_acts_for_its_own_organization(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        await api.org("org_b", "b")
        replies = [await api("POST", WRITE, token=token, json={"word": "!"}) for token in ("good", "b")]
        assert [reply.json()["org"] for reply in replies] == ["org_a", "org_b"]
        assert [said(reply.body) for reply in replies] == ["org_a!", "org_b!"]


async def test_a_problem_has_the_members_of_the_domain_model(open_probes: OpenProbes) -> None:
    async with open_probes() as api:
        reply: Reply = await api("GET", READ)
    document = reply.json()
    assert document == {
        "type": "urn:gatewayd:problem:validation_failed",
        "title": "Some values are not valid",
        "status": 422,
        "detail": "word: This parameter is required. Expected text of 1 to 20 characters.",
        "code": "validation_failed",
        "message": "word: This parameter is required. Expected text of 1 to 20 characters.",
        "requestId": reply["x-request-id"],
        "errors": [
            {
                "path": "word",
                "code": "required",
                "message": "This parameter is required. Expected text of 1 to 20 characters.",
            }
        ],
    }


async def _name(api: TestedApi) -> str:
    answer = await api.store.read(lambda tx: tx.value("SELECT name FROM organizations WHERE id = :org_id"), "org_a")
    return msgspec.convert(answer, str)


@pytest.mark.parametrize("name", ["if-match", "if-unmodified-since"])
async def test_a_condition_that_would_not_be_kept_is_refused(open_probes: OpenProbes, name: str) -> None:
    """Its sender means not to undo what another wrote. A read is not harmed by it."""
    async with open_probes() as api:
        condition = [(name.encode(), b'"1"')]
        changing = await api("POST", WRITE, json={"word": "w"}, headers=condition)
        assert (changing.status, changing.code) == (400, "invalid_request")
        assert "expectedVersion" in changing.json()["message"]
        reading = await api("GET", READ, query={"word": "w"}, headers=condition)
        assert (reading.status, said(reading.body)) == (200, "w")
        assert (await api("POST", WRITE, json={"word": "w"})).status == 200
