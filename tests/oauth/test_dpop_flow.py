"""DPoP from the authorization to the API: tokens that serve nobody but the client that holds the key."""

from typing import Any

import pytest
import trio

from gatewayd.http.api import SLOW_BODY_SECONDS, Api, ApiParts
from gatewayd.http1.cors import Cors
from gatewayd.identity.clients import oauth_clients
from gatewayd.identity.tokens import authorizations
from gatewayd.oauth import addresses as at
from gatewayd.performing.rate_limits import RateLimits
from tests.http.probes import OPERATIONS
from tests.oauth.test_token import claims_of, error_of
from tests.support.api import Body, FakeAuthenticator, Reply, TestedApi
from tests.support.dpop import KeyHolder
from tests.support.oauth import ISSUER, Provider

TOKEN_URL = ISSUER + at.TOKEN
READ, WRITE = "/probe/read", "/probe/write"


def showing(provider: Provider, holder: KeyHolder, **changed: object) -> list[tuple[bytes, bytes]]:
    """The header of a request to the token endpoint."""
    return [(b"dpop", holder.proof("POST", TOKEN_URL, provider.store.now(), **changed).encode())]


async def bound(provider: Provider, client_id: str, holder: KeyHolder) -> dict[str, str]:
    code = await provider.code(client_id)
    reply = await provider.redeem(client_id, code, headers=showing(provider, holder))
    assert reply.status == 200, reply.body
    answer: dict[str, str] = reply.json()
    return answer


async def test_tokens_are_bound_to_the_key_that_was_shown(provider: Provider) -> None:
    client_id, holder = await provider.register(), KeyHolder()
    answer = await bound(provider, client_id, holder)
    assert answer["token_type"] == "DPoP"
    assert claims_of(answer["access_token"])["cnf"] == {"jkt": holder.thumbprint}
    again = await provider.refresh(client_id, answer["refresh_token"], headers=showing(provider, holder))
    assert (again.status, again.json()["token_type"]) == (200, "DPoP")


async def test_a_refresh_needs_the_same_key(provider: Provider) -> None:
    client_id, holder = await provider.register(), KeyHolder()
    token = (await bound(provider, client_id, holder))["refresh_token"]
    assert error_of(await provider.refresh(client_id, token)) == (400, "invalid_dpop_proof")
    other = showing(provider, KeyHolder())
    assert error_of(await provider.refresh(client_id, token, headers=other)) == (400, "invalid_grant")
    assert (await provider.refresh(client_id, token, headers=showing(provider, holder))).status == 200


async def test_the_answer_that_was_lost_is_given_to_the_holder_alone(provider: Provider) -> None:
    client_id, holder = await provider.register(), KeyHolder()
    token = (await bound(provider, client_id, holder))["refresh_token"]
    first = await provider.refresh(client_id, token, headers=showing(provider, holder))
    assert error_of(await provider.refresh(client_id, token)) == (400, "invalid_dpop_proof")
    again = await provider.refresh(client_id, token, headers=showing(provider, holder))
    assert (again.status, again.body) == (200, first.body)


@pytest.mark.parametrize(
    "changed",
    [{"htm": "GET"}, {"htu": ISSUER}, {"iat": 0}, {"jti": None}],
)
async def test_a_proof_that_shows_nothing_is_refused(provider: Provider, changed: dict[str, object]) -> None:
    client_id, holder = await provider.register(), KeyHolder()
    code = await provider.code(client_id)
    wrong = showing(provider, holder, **changed)
    assert error_of(await provider.redeem(client_id, code, headers=wrong)) == (400, "invalid_dpop_proof")
    assert (await provider.redeem(client_id, code, headers=showing(provider, holder))).status == 200


async def test_a_proof_serves_once(provider: Provider) -> None:
    client_id, holder = await provider.register(), KeyHolder()
    token = (await bound(provider, client_id, holder))["refresh_token"]
    proof = showing(provider, holder)
    token = (await provider.refresh(client_id, token, headers=proof)).json()["refresh_token"]
    assert error_of(await provider.refresh(client_id, token, headers=proof)) == (400, "invalid_dpop_proof")
    two = showing(provider, holder) + showing(provider, holder)
    assert error_of(await provider.refresh(client_id, token, headers=two)) == (400, "invalid_request")


async def test_a_client_may_ask_that_its_tokens_are_always_bound(provider: Provider) -> None:
    client_id = await provider.register(dpop_bound_access_tokens=True)
    code = await provider.code(client_id)
    assert error_of(await provider.redeem(client_id, code)) == (400, "invalid_dpop_proof")
    assert (await provider.redeem(client_id, code, headers=showing(provider, KeyHolder()))).status == 200


async def test_a_code_may_be_bound_to_a_key(provider: Provider) -> None:
    client_id, holder = await provider.register(), KeyHolder()
    code = await provider.code(client_id, dpop_jkt=holder.thumbprint)
    assert error_of(await provider.redeem(client_id, code)) == (400, "invalid_dpop_proof")
    other = showing(provider, KeyHolder())
    assert error_of(await provider.redeem(client_id, code, headers=other)) == (400, "invalid_grant")
    assert (await provider.redeem(client_id, code, headers=showing(provider, holder))).status == 200


async def test_a_pushed_request_may_be_bound_by_a_proof(provider: Provider) -> None:
    client_id, holder = await provider.register(), KeyHolder()

    async def push(**changed: str) -> Reply:
        proof = holder.proof("POST", ISSUER + at.PAR, provider.store.now())
        form = provider.request_of(client_id, **changed)
        return await provider("POST", at.PAR, form=form, headers=[(b"dpop", proof.encode())])

    assert error_of(await push(dpop_jkt=KeyHolder().thumbprint)) == (400, "invalid_dpop_proof")
    assert (await push(dpop_jkt=holder.thumbprint)).status == 201
    request_uri = (await push()).json()["request_uri"]
    pending = await provider.store.read(
        lambda tx: authorizations.load(tx, request_uri.removeprefix(at.REQUEST_URI_PREFIX))
    )
    assert pending is not None
    assert pending.parameters.dpop_jkt == holder.thumbprint


async def test_a_key_over_its_quota_is_told_to_wait_at_each_endpoint(provider: Provider) -> None:
    client_id, holder, other = await provider.register(), KeyHolder(), KeyHolder()
    answer, others = await bound(provider, client_id, holder), await bound(provider, client_id, other)

    async def ask(shown: KeyHolder, token: str) -> Reply:
        proof = shown.proof("GET", ISSUER + at.USERINFO, provider.store.now(), token)
        headers = [(b"authorization", f"DPoP {token}".encode()), (b"dpop", proof.encode())]
        return await provider("GET", at.USERINFO, headers=headers)

    provider.authenticator._replays._per_key_max = 2
    assert (await ask(holder, answer["access_token"])).status == 200
    full = (
        await ask(holder, answer["access_token"]),
        await provider.refresh(client_id, answer["refresh_token"], headers=showing(provider, holder)),
    )
    for reply in full:
        assert (*error_of(reply), reply["retry-after"]) == (429, "temporarily_unavailable", "60")
    assert (await ask(other, others["access_token"])).status == 200


async def test_proofs_of_pushed_requests_have_a_memory_of_their_own(provider: Provider) -> None:
    """Anybody may push, with as many keys as they like: it keeps nobody from their tokens."""
    client_id, holder = await provider.register(), KeyHolder()
    provider.parts.pushed_replays._in_all_max = 1

    async def push(shown: KeyHolder) -> Reply:
        proof = shown.proof("POST", ISSUER + at.PAR, provider.store.now())
        return await provider("POST", at.PAR, form=provider.request_of(client_id), headers=[(b"dpop", proof.encode())])

    assert [(await push(KeyHolder())).status for _ in range(3)] == [201, 429, 429]
    assert (await bound(provider, client_id, holder))["token_type"] == "DPoP"


async def test_user_info_asks_for_the_proof(provider: Provider) -> None:
    client_id, holder = await provider.register(), KeyHolder()
    token = (await bound(provider, client_id, holder))["access_token"]

    async def ask(scheme: str, proof: str | None) -> Reply:
        headers = [(b"authorization", f"{scheme} {token}".encode())]
        if proof is not None:
            headers.append((b"dpop", proof.encode()))
        return await provider("GET", at.USERINFO, headers=headers)

    def proof() -> str:
        return holder.proof("GET", ISSUER + at.USERINFO, provider.store.now(), token)

    assert (await ask("DPoP", proof())).status == 200
    for reply in (await ask("Bearer", None), await ask("Bearer", proof()), await ask("DPoP", None)):
        assert (reply.status, reply["www-authenticate"].startswith("DPoP ")) == (401, True)
    refused = await ask("DPoP", "x")
    assert 'error="invalid_dpop_proof"' in refused["www-authenticate"]
    assert 'algs="ES256 RS256 PS256"' in refused["www-authenticate"]


# -- the API


@pytest.fixture
def api(provider: Provider) -> TestedApi:
    """The probe rows, behind the provider's authenticator."""
    limits = RateLimits(0, 64)
    parts = ApiParts(
        operations=OPERATIONS,
        store=provider.store,
        authenticate=provider.authenticator.authenticate,
        limits=limits,
        cors=Cors(()),
        log=provider.errors,
        observe=lambda exchange, answer: None,
        public_url=ISSUER,
    )
    return TestedApi(Api(parts), provider.store, provider.clock, FakeAuthenticator(), provider.errors, limits, [])


def challenge_of(reply: Reply) -> dict[str, str]:
    """The parameters of the one challenge, and its scheme."""
    scheme, _, listed = reply["www-authenticate"].partition(" ")
    pairs = [pair.partition("=") for pair in listed.split(", ")]
    return {"scheme": scheme, **{name: value.strip('"') for name, _, value in pairs}}


METADATA = f"{ISSUER}/.well-known/oauth-protected-resource"


async def test_an_access_token_opens_the_api(provider: Provider, api: TestedApi) -> None:
    token = (await provider.tokens(await provider.register()))["access_token"]
    reply = await api("GET", READ, token=token, query={"word": "w"})
    assert (reply.status, reply.json()["org"]) == (200, provider.person.org_id)


async def test_the_api_says_where_tokens_come_from(provider: Provider, api: TestedApi) -> None:
    reply = await api("GET", READ, token=None, query={"word": "w"})
    assert reply.status == 401
    assert challenge_of(reply) == {
        "scheme": "Bearer",
        "scope": "entities:read",
        "resource_metadata": METADATA,
    }
    refused = challenge_of(await api("GET", READ, token="eyJ.a.b", query={"word": "w"}))
    assert (refused["error"], refused["resource_metadata"]) == ("invalid_token", METADATA)


async def test_the_api_names_every_scope_that_is_needed(provider: Provider, api: TestedApi) -> None:
    answer = await provider.tokens(await provider.register(), scope="vault:read")
    reply = await api("GET", READ, token=answer["access_token"], query={"word": "w"})
    assert reply.status == 403
    assert challenge_of(reply) == {
        "scheme": "Bearer",
        "error": "insufficient_scope",
        "scope": "entities:read",
        "resource_metadata": METADATA,
    }


async def test_the_api_asks_for_a_proof_with_each_request(provider: Provider, api: TestedApi) -> None:
    holder = KeyHolder()
    token = (await bound(provider, await provider.register(), holder))["access_token"]

    async def ask(scheme: str, *proofs: str) -> Reply:
        headers = [(b"authorization", f"{scheme} {token}".encode()), *((b"dpop", each.encode()) for each in proofs)]
        return await api("GET", READ, token=None, query={"word": "w"}, headers=headers)

    def proof(url: str = ISSUER + READ, method: str = "GET") -> str:
        return holder.proof(method, url, provider.store.now(), token)

    good = proof()
    assert (await ask("DPoP", good)).status == 200
    assert (await ask("dpop", proof(f"{ISSUER}{READ}?word=w"))).status == 200
    for reply, error in (
        (await ask("Bearer"), "invalid_token"),
        (await ask("Bearer", proof()), "invalid_token"),
        (await ask("DPoP"), "invalid_token"),
        (await ask("DPoP", good), "invalid_dpop_proof"),
        (await ask("DPoP", proof(ISSUER + "/elsewhere")), "invalid_dpop_proof"),
        (await ask("DPoP", proof(method="POST")), "invalid_dpop_proof"),
    ):
        challenge = challenge_of(reply)
        assert (reply.status, challenge["scheme"], challenge["error"]) == (401, "DPoP", error)
        assert challenge["algs"] == "ES256 RS256 PS256"
        assert challenge["resource_metadata"] == METADATA
    assert (await ask("DPoP", proof(), proof())).code == "invalid_request"


async def test_a_request_over_the_rate_limit_leaves_its_proof_unused(provider: Provider, api: TestedApi) -> None:
    """What is refused fills no memory; and nobody's limit is charged for a proof that was replayed."""
    holder = KeyHolder()
    token = (await bound(provider, await provider.register(), holder))["access_token"]
    limits = RateLimits(2, 64)
    parts = ApiParts(
        operations=OPERATIONS,
        store=provider.store,
        authenticate=provider.authenticator.authenticate,
        limits=limits,
        cors=Cors(()),
        log=provider.errors,
        observe=lambda exchange, answer: None,
        public_url=ISSUER,
    )
    limited = TestedApi(Api(parts), provider.store, provider.clock, FakeAuthenticator(), provider.errors, limits, [])

    async def ask(proof: str) -> Reply:
        headers = [(b"authorization", f"DPoP {token}".encode()), (b"dpop", proof.encode())]
        return await limited("GET", READ, token=None, query={"word": "w"}, headers=headers)

    first, second, third = (holder.proof("GET", ISSUER + READ, provider.store.now(), token) for _ in range(3))
    used = len(provider.authenticator._replays._expiring)
    replies = [await ask(proof) for proof in (first, first, second, third)]
    assert [reply.status for reply in replies] == [200, 401, 200, 429]
    assert len(provider.authenticator._replays._expiring) == used + 2


async def test_a_bearer_token_is_not_sent_as_dpop(provider: Provider, api: TestedApi) -> None:
    token = (await provider.tokens(await provider.register()))["access_token"]
    proof = KeyHolder().proof("GET", ISSUER + READ, provider.store.now(), token)
    headers = [(b"authorization", f"DPoP {token}".encode()), (b"dpop", proof.encode())]
    assert (await api("GET", READ, token=None, query={"word": "w"}, headers=headers)).status == 401


async def test_a_write_with_a_slow_body_needs_one_proof(provider: Provider, api: TestedApi) -> None:
    holder = KeyHolder()
    code = await provider.code(await provider.register(), scope="entities:read entities:write")
    client_id = (await provider.store.read(oauth_clients.list_clients))[0].id
    answer = (await provider.redeem(client_id, code, headers=showing(provider, holder))).json()
    proof = holder.proof("POST", ISSUER + WRITE, provider.store.now(), answer["access_token"])
    headers = [
        (b"authorization", f"DPoP {answer['access_token']}".encode()),
        (b"dpop", proof.encode()),
        (b"content-type", b"application/json"),
    ]
    reply = await api("POST", WRITE, token=None, body=SlowBody(b'{"word":"w"}'), headers=headers)
    assert reply.status == 200, reply.body


class SlowBody(Body):
    """A body that takes longer than the door trusts what it knew before."""

    async def receive(self) -> dict[str, Any]:
        await trio.sleep(2 * SLOW_BODY_SECONDS)
        return await super().receive()
