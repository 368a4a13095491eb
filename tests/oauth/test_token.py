"""The token endpoint: what it gives, and every way in which it refuses."""

import base64
from typing import Any

import msgspec
import pytest
import trio

from gatewayd.clock import DAY, HOUR, MINUTE, SECOND
from gatewayd.identity import audit
from gatewayd.identity.clients import oauth_clients
from gatewayd.identity.people import memberships, suspensions
from gatewayd.oauth import addresses as at
from tests.support.api import Reply
from tests.support.oauth import CALLBACK, ISSUER, SCOPE, VERIFIER, Provider
from tests.support.store import START


def claims_of(token: str) -> dict[str, Any]:
    _, payload, _ = token.split(".")
    claims: dict[str, Any] = msgspec.json.decode(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims


def header_of(token: str) -> dict[str, Any]:
    head, _, _ = token.partition(".")
    header: dict[str, Any] = msgspec.json.decode(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    return header


def error_of(reply: Reply) -> tuple[int, str]:
    assert reply["content-type"] == "application/json"
    assert reply["cache-control"] == "no-store"
    assert reply["pragma"] == "no-cache"
    assert reply["access-control-allow-origin"] == "*"
    document = reply.json()
    assert document.keys() == {"error", "error_description"}
    return reply.status, document["error"]


async def lives(provider: Provider, token: str) -> bool:
    """Whether the API takes an access token."""
    key = await provider.key()
    reply = await provider(
        "POST", at.INTROSPECT, form={"token": token}, headers=[(b"authorization", f"Bearer {key}".encode())]
    )
    assert reply.status == 200
    return bool(reply.json()["active"])


async def test_a_code_gives_every_token(provider: Provider) -> None:
    client_id = await provider.register()
    reply = await provider.redeem(client_id, await provider.code(client_id, nonce="n-1"))
    assert (reply.status, reply["cache-control"], reply["pragma"]) == (200, "no-store", "no-cache")
    answer = reply.json()
    assert answer["token_type"] == "Bearer"
    assert answer["expires_in"] == 3600
    assert set(answer["scope"].split()) == set(SCOPE.split())
    access = claims_of(answer["access_token"])
    assert header_of(answer["access_token"])["typ"] == "at+jwt"
    person = provider.person
    assert (access["iss"], access["aud"], access["sub"]) == (ISSUER, ISSUER, person.user_id)
    assert (access["org"], access["client_id"]) == (person.org_id, client_id)
    assert (access["iat"], access["exp"]) == (START // SECOND, START // SECOND + 3600)
    assert access["jti"].startswith("jti_")
    assert "cnf" not in access
    assert answer["refresh_token"].startswith("gwr_")
    identity = claims_of(answer["id_token"])
    assert (identity["aud"], identity["nonce"], identity["amr"]) == (client_id, "n-1", ["pwd"])
    assert identity["sid"] == person.session.id
    assert identity["auth_time"] == person.session.authenticated_at // SECOND
    assert header_of(answer["id_token"])["alg"] == "ES256"


async def test_without_openid_and_offline_access_there_is_an_access_token_alone(provider: Provider) -> None:
    client_id = await provider.register()
    answer = await provider.tokens(client_id, scope="accounting:read")
    assert answer.keys() == {"access_token", "token_type", "expires_in", "scope"}
    assert answer["scope"] == "accounting:read"


async def test_the_id_token_is_signed_as_the_client_registered(provider: Provider) -> None:
    client_id = await provider.register(id_token_signed_response_alg="RS256")
    answer = await provider.tokens(client_id)
    assert header_of(answer["id_token"])["alg"] == "RS256"
    assert header_of(answer["access_token"])["alg"] == "ES256"


async def test_what_the_person_took_out_is_not_granted(provider: Provider) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id, scopes=["accounting:read"])
    answer = (await provider.redeem(client_id, code)).json()
    assert answer["scope"] == "accounting:read"
    assert "refresh_token" not in answer


@pytest.mark.parametrize("resource", [None, ISSUER, f"{ISSUER}/"])
async def test_the_audience_is_the_origin_however_it_is_written(provider: Provider, resource: str | None) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id, resource=resource)
    reply = await provider.redeem(client_id, code, resource=resource)
    assert claims_of(reply.json()["access_token"])["aud"] == ISSUER


@pytest.mark.parametrize(
    ("changed", "status", "error"),
    [
        ({"code_verifier": None}, 400, "invalid_request"),
        ({"code_verifier": "x" * 43}, 400, "invalid_grant"),
        ({"code_verifier": "short"}, 400, "invalid_grant"),
        ({"code_verifier": VERIFIER + "x"}, 400, "invalid_grant"),
        ({"redirect_uri": None}, 400, "invalid_request"),
        ({"redirect_uri": CALLBACK + "/"}, 400, "invalid_grant"),
        ({"redirect_uri": CALLBACK.upper()}, 400, "invalid_grant"),
        ({"redirect_uri": CALLBACK + "?x=1"}, 400, "invalid_grant"),
        ({"code": None}, 400, "invalid_request"),
        ({"code": "gwc_" + "A" * 43}, 400, "invalid_grant"),
        ({"grant_type": None}, 400, "invalid_request"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, 400, "unsupported_grant_type"),
        ({"grant_type": "implicit"}, 400, "unsupported_grant_type"),
        ({"client_id": None}, 400, "invalid_request"),
        ({"client_id": "app_unknown"}, 401, "invalid_client"),
        ({"client_secret": "s"}, 401, "invalid_client"),
        ({"client_assertion": "s"}, 401, "invalid_client"),
        ({"resource": "https://other.example.com"}, 400, "invalid_target"),
    ],
)
async def test_a_code_is_refused_and_still_serves(
    provider: Provider, changed: dict[str, str | None], status: int, error: str
) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id)
    sent: dict[str, Any] = {"client_id": client_id, "code": code, **changed}
    refused = await provider.redeem(**sent)
    assert error_of(refused) == (status, error)
    assert (await provider.redeem(client_id, code)).status == 200


async def test_a_scope_beside_a_code_means_nothing(provider: Provider) -> None:
    client_id = await provider.register()
    for scope in ("vault:read", "openid"):
        reply = await provider.redeem(client_id, await provider.code(client_id), scope=scope)
        assert (reply.status, set(reply.json()["scope"].split())) == (200, set(SCOPE.split()))


async def test_the_code_of_another_client_is_refused_and_still_serves(provider: Provider) -> None:
    client_id, thief = await provider.register(), await provider.register()
    code = await provider.code(client_id)
    assert error_of(await provider.redeem(thief, code)) == (400, "invalid_grant")
    assert (await provider.redeem(client_id, code)).status == 200


async def test_a_code_expires(provider: Provider) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id)
    provider.clock.advance(10 * MINUTE)
    assert error_of(await provider.redeem(client_id, code)) == (400, "invalid_grant")


async def test_a_code_serves_until_its_last_moment(provider: Provider) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id)
    provider.clock.advance(10 * MINUTE - 1)
    assert (await provider.redeem(client_id, code)).status == 200


async def test_a_replayed_code_ends_the_grant(provider: Provider) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id)
    answer = (await provider.redeem(client_id, code)).json()
    assert await lives(provider, answer["access_token"])
    assert error_of(await provider.redeem(client_id, code)) == (400, "invalid_grant")
    assert not await lives(provider, answer["access_token"])
    assert error_of(await provider.refresh(client_id, answer["refresh_token"])) == (400, "invalid_grant")


@pytest.mark.parametrize("verifier", ["x" * 43, None])
async def test_a_used_code_without_its_verifier_ends_nothing(provider: Provider, verifier: str | None) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id)
    answer = (await provider.redeem(client_id, code)).json()
    assert error_of(await provider.redeem(client_id, code, code_verifier=verifier)) == (400, "invalid_grant")
    assert await lives(provider, answer["access_token"])
    assert (await provider.refresh(client_id, answer["refresh_token"])).status == 200


async def test_two_who_redeem_one_code_at_once_get_one_answer_and_no_grant(provider: Provider) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id)
    replies: list[Reply] = []

    async def redeem() -> None:
        replies.append(await provider.redeem(client_id, code))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(redeem)
        nursery.start_soon(redeem)
    assert sorted(reply.status for reply in replies) == [200, 400]
    answer = next(reply.json() for reply in replies if reply.status == 200)
    assert not await lives(provider, answer["access_token"])


async def test_a_revoked_client_is_unknown(provider: Provider) -> None:
    client_id = await provider.register()
    answer = await provider.tokens(client_id)
    await provider.store.write(lambda tx: oauth_clients.revoke(tx, client_id, "operator"))
    assert error_of(await provider.refresh(client_id, answer["refresh_token"])) == (401, "invalid_client")
    assert not await lives(provider, answer["access_token"])


# -- refreshing


async def test_a_refresh_token_is_replaced(provider: Provider) -> None:
    client_id = await provider.register()
    first = await provider.tokens(client_id, nonce="n-1")
    reply = await provider.refresh(client_id, first["refresh_token"])
    assert (reply.status, reply["cache-control"]) == (200, "no-store")
    second = reply.json()
    assert second["refresh_token"] != first["refresh_token"]
    assert second["scope"] == first["scope"]
    assert "nonce" not in claims_of(second["id_token"])
    assert claims_of(second["access_token"])["gid"] == claims_of(first["access_token"])["gid"]
    assert (await provider.refresh(client_id, second["refresh_token"])).status == 200


async def test_who_lost_the_answer_gets_the_same_again(provider: Provider) -> None:
    client_id = await provider.register()
    first = await provider.tokens(client_id)
    second = await provider.refresh(client_id, first["refresh_token"])
    provider.clock.advance(119 * SECOND)
    again = await provider.refresh(client_id, first["refresh_token"])
    assert (again.status, again.body) == (200, second.body)
    assert (await provider.refresh(client_id, second.json()["refresh_token"])).status == 200


async def test_after_the_grace_window_a_used_token_ends_the_grant(provider: Provider) -> None:
    client_id = await provider.register()
    first = await provider.tokens(client_id)
    second = (await provider.refresh(client_id, first["refresh_token"])).json()
    provider.clock.advance(120 * SECOND)
    assert error_of(await provider.refresh(client_id, first["refresh_token"])) == (400, "invalid_grant")
    assert error_of(await provider.refresh(client_id, second["refresh_token"])) == (400, "invalid_grant")
    assert not await lives(provider, second["access_token"])
    entries = await provider.store.read(lambda tx: audit.list_entries(tx), provider.person.org_id)
    assert "grant.refresh_reused" in [entry.action for entry in entries]


async def test_an_older_generation_ends_the_grant_even_in_the_window(provider: Provider) -> None:
    client_id = await provider.register()
    first = await provider.tokens(client_id)
    second = (await provider.refresh(client_id, first["refresh_token"])).json()
    third = (await provider.refresh(client_id, second["refresh_token"])).json()
    assert error_of(await provider.refresh(client_id, first["refresh_token"])) == (400, "invalid_grant")
    assert error_of(await provider.refresh(client_id, third["refresh_token"])) == (400, "invalid_grant")


async def test_fifty_who_refresh_at_once_from_two_addresses_get_one_answer(provider: Provider) -> None:
    client_id = await provider.register()
    token = (await provider.tokens(client_id))["refresh_token"]
    replies: list[Reply] = []

    async def refresh(peer: str) -> None:
        replies.append(await provider.refresh(client_id, token, peer=peer))

    async with trio.open_nursery() as nursery:
        for number in range(50):
            nursery.start_soon(refresh, f"192.0.2.{1 + number % 2}")
    assert {reply.status for reply in replies} == {200}
    assert len({reply.body for reply in replies}) == 1
    assert (await provider.refresh(client_id, replies[0].json()["refresh_token"])).status == 200


@pytest.mark.parametrize(
    ("changed", "status", "error"),
    [
        ({"refresh_token": None}, 400, "invalid_request"),
        ({"refresh_token": "gwr_" + "A" * 43}, 400, "invalid_grant"),
        ({"client_id": "app_unknown"}, 401, "invalid_client"),
        ({"scope": "accounting:write"}, 400, "invalid_scope"),
        ({"resource": "https://other.example.com"}, 400, "invalid_target"),
        ({"client_secret": "s"}, 401, "invalid_client"),
    ],
)
async def test_a_refresh_is_refused_and_the_token_still_serves(
    provider: Provider, changed: dict[str, str | None], status: int, error: str
) -> None:
    client_id = await provider.register()
    token = (await provider.tokens(client_id))["refresh_token"]
    sent: dict[str, Any] = {"client_id": client_id, "token": token, **changed}
    assert error_of(await provider.refresh(**sent)) == (status, error)
    assert (await provider.refresh(client_id, token)).status == 200


async def test_a_refresh_token_of_another_client_is_refused_and_still_serves(provider: Provider) -> None:
    client_id, thief = await provider.register(), await provider.register()
    token = (await provider.tokens(client_id))["refresh_token"]
    assert error_of(await provider.refresh(thief, token)) == (400, "invalid_grant")
    assert (await provider.refresh(client_id, token)).status == 200


async def test_a_refresh_can_ask_for_less(provider: Provider) -> None:
    client_id = await provider.register()
    token = (await provider.tokens(client_id))["refresh_token"]
    less = (await provider.refresh(client_id, token, scope="accounting:read")).json()
    assert (less["scope"], "id_token" in less) == ("accounting:read", False)
    all_again = (await provider.refresh(client_id, less["refresh_token"])).json()
    assert set(all_again["scope"].split()) == set(SCOPE.split())


async def test_thirty_days_after_the_consent_there_is_no_refresh(provider: Provider) -> None:
    client_id = await provider.register()
    token = (await provider.tokens(client_id))["refresh_token"]
    provider.clock.advance(30 * DAY - HOUR)
    token = (await provider.refresh(client_id, token)).json()["refresh_token"]
    provider.clock.advance(HOUR)
    assert error_of(await provider.refresh(client_id, token)) == (400, "invalid_grant")


async def test_who_is_no_member_any_more_refreshes_nothing(provider: Provider) -> None:
    client_id = await provider.register()
    answer = await provider.tokens(client_id)
    person = provider.person
    await provider.key("admin")  # another member, who is made owner
    admin = await provider.store.read(lambda tx: memberships.list_members(tx), person.org_id)
    other = next(member.user_id for member in admin if member.user_id != person.user_id)
    await provider.store.write(lambda tx: memberships.change_role(tx, other, "owner", "operator"), person.org_id)
    await provider.store.write(lambda tx: memberships.remove(tx, person.user_id, "operator"), person.org_id)
    assert error_of(await provider.refresh(client_id, answer["refresh_token"])) == (400, "invalid_grant")


# -- the form


async def test_a_parameter_given_twice_is_refused(provider: Provider) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id)
    form = f"grant_type=authorization_code&client_id={client_id}&code={code}&code={code}"
    assert error_of(await provider("POST", at.TOKEN, form=form)) == (400, "invalid_request")


@pytest.mark.parametrize("name", ["code", "refresh_token", "code_verifier", "client_secret", "token"])
async def test_credentials_in_the_address_are_refused(provider: Provider, name: str) -> None:
    client_id = await provider.register()
    form = {"grant_type": "refresh_token", "client_id": client_id}
    assert error_of(await provider("POST", at.TOKEN, query={name: "x"}, form=form)) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (b"application/json", "{}"),
        (b"text/plain", "grant_type=refresh_token"),
        (b"multipart/form-data; boundary=x", "--x--"),
    ],
)
async def test_the_form_must_be_one(provider: Provider, content_type: bytes, body: str) -> None:
    reply = await provider("POST", at.TOKEN, form=body, headers=[(b"content-type", content_type)])
    assert error_of(reply) == (415, "invalid_request")


async def test_the_form_is_bounded(provider: Provider) -> None:
    reply = await provider("POST", at.TOKEN, form="a=" + "x" * 64 * 1024)
    assert error_of(reply) == (413, "invalid_request")
    reply = await provider("POST", at.TOKEN, form="a=1&" * 200)
    assert error_of(reply) == (400, "invalid_request")


@pytest.mark.parametrize("form", ["grant_type=%ff", "grant_type=\xff", "x"])
async def test_a_form_that_is_none_is_refused(provider: Provider, form: str) -> None:
    assert error_of(await provider("POST", at.TOKEN, form=form)) == (400, "invalid_request")


async def test_a_charset_on_the_form_is_fine(provider: Provider) -> None:
    client_id = await provider.register()
    typed = (b"content-type", b"application/x-www-form-urlencoded;charset=UTF-8")
    assert (await provider.redeem(client_id, await provider.code(client_id), headers=[typed])).status == 200


def basic(text: str) -> tuple[bytes, bytes]:
    return b"authorization", b"Basic " + base64.b64encode(text.encode())


async def test_a_client_may_name_itself_by_basic_without_a_password(provider: Provider) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id)
    reply = await provider.redeem(client_id, code, headers=[basic(f"{client_id}:")])
    assert reply.status == 200


@pytest.mark.parametrize("credentials", ["app_x:secret", ":", "app_unknown:"])
async def test_basic_with_a_secret_is_refused(provider: Provider, credentials: str) -> None:
    form = {"grant_type": "refresh_token", "refresh_token": "x"}
    reply = await provider("POST", at.TOKEN, form=form, headers=[basic(credentials)])
    assert error_of(reply) == (401, "invalid_client")
    assert reply["www-authenticate"].startswith("Basic ")


async def test_a_client_named_twice_and_differently_is_refused(provider: Provider) -> None:
    client_id = await provider.register()
    reply = await provider.refresh(client_id, "gwr_x", headers=[basic("app_other:")])
    assert error_of(reply) == (400, "invalid_request")


async def test_other_methods_are_not_allowed(provider: Provider) -> None:
    reply = await provider("GET", at.TOKEN)
    assert (reply.status, reply["allow"]) == (405, "POST")


async def test_a_page_of_any_origin_may_ask(provider: Provider) -> None:
    asked = [(b"origin", b"https://inspector.example"), (b"access-control-request-method", b"POST")]
    reply = await provider("OPTIONS", at.TOKEN, headers=asked)
    assert (reply.status, reply["access-control-allow-origin"]) == (204, "*")
    assert "POST" in reply["access-control-allow-methods"]
    for name in ("authorization", "content-type", "dpop", "mcp-protocol-version"):
        assert name in reply["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in reply


async def test_a_suspended_organization_gets_no_tokens_and_keeps_what_it_has(provider: Provider) -> None:
    client_id, org_id = await provider.register(), provider.person.org_id
    token = (await provider.tokens(client_id))["refresh_token"]
    code = await provider.code(client_id)
    await provider.store.write(lambda tx: suspensions.suspend(tx, org_id, None, audit.OPERATOR))
    assert error_of(await provider.refresh(client_id, token)) == (503, "temporarily_unavailable")
    assert error_of(await provider.redeem(client_id, code)) == (503, "temporarily_unavailable")
    await provider.store.write(lambda tx: suspensions.resume(tx, org_id, audit.OPERATOR))
    assert (await provider.refresh(client_id, token)).status == 200
    assert (await provider.redeem(client_id, code)).status == 200
