"""Authorization requests: what is checked, what may be redirected, and the way of a request to its code."""

import base64
import hashlib

import pytest

from gatewayd.clock import DAY, HOUR, MINUTE, SECOND, Instant
from gatewayd.identity import audit
from gatewayd.identity.clients import client_metadata, grants, oauth_clients
from gatewayd.identity.clients.oauth_clients import Client
from gatewayd.identity.clients.oauth_errors import DirectFailure, OAuthFailure
from gatewayd.identity.clients.oauth_parameters import Audiences
from gatewayd.identity.sign_in import sessions
from gatewayd.identity.tokens import authorization_codes, authorizations
from gatewayd.identity.tokens.authorizations import DEFAULT_SCOPES, AuthorizationParameters, PendingRequest, Target
from tests.support.consents import CHALLENGE, ISSUER, REDIRECT, SCOPE, Flow, request_parameters
from tests.support.store import START, MemoryStore

Changes = dict[str, str | list[str] | None]


@pytest.fixture
def client(store: MemoryStore) -> Client:
    raw = {"client_name": "App", "redirect_uris": [REDIRECT, "http://localhost/cb"]}
    return store.write(lambda tx: oauth_clients.register(tx, client_metadata.validate(raw)))


def check(client: Client | None, **changes: str | list[str] | None) -> AuthorizationParameters:
    return authorizations.check(client, request_parameters(**changes), Audiences(ISSUER))


def test_a_whole_request(client: Client) -> None:
    asked = check(
        client, nonce="n-1", prompt="login consent", max_age="60", login_hint="a@b.example", dpop_jkt="j" * 43
    )
    assert asked == AuthorizationParameters(
        client_id=client.id,
        redirect_uri=REDIRECT,
        scope=SCOPE.split(),
        left_out=[],
        state="s-1",
        code_challenge=CHALLENGE,
        nonce="n-1",
        prompt=["login", "consent"],
        max_age=60,
        login_hint="a@b.example",
        resource=None,
        dpop_jkt="j" * 43,
    )
    bare = check(client, state=None, resource=None)
    assert (bare.state, bare.nonce, bare.prompt, bare.max_age, bare.login_hint) == (None, None, [], None, None)
    assert (bare.resource, bare.dpop_jkt) == (None, None)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"redirect_uri": None}, "invalid_request"),
        ({"redirect_uri": ""}, "invalid_request"),
        ({"redirect_uri": "https://evil.example/callback"}, "invalid_request"),
        ({"redirect_uri": REDIRECT + "/"}, "invalid_request"),
        ({"redirect_uri": [REDIRECT, REDIRECT]}, "invalid_request"),
        ({"redirect_uri": [REDIRECT, "https://evil.example/"]}, "invalid_request"),
        ({"client_id": ["a", "b"]}, "invalid_request"),
        ({"state": ["a", "a"]}, "invalid_request"),
        ({"state": "x" * 4097}, "invalid_request"),
    ],
)
def test_what_is_shown_and_never_redirected(client: Client, changes: Changes, code: str) -> None:
    with pytest.raises(DirectFailure) as caught:
        check(client, **changes)
    assert caught.value.code == code
    assert not isinstance(caught.value, OAuthFailure)


def test_a_client_that_is_unknown_or_revoked_is_never_redirected_to(store: MemoryStore, client: Client) -> None:
    revoked = store.write(lambda tx: oauth_clients.revoke(tx, client.id, "operator"))
    for each in (None, revoked):
        with pytest.raises(DirectFailure) as caught:
            check(each)
        assert caught.value.code == "invalid_client"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"response_type": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"response_type": ["code", "code"]}, "invalid_request"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"response_mode": "form_post"}, "invalid_request"),
        ({"request": "e30.e30."}, "request_not_supported"),
        ({"request_uri": "https://app.example/request"}, "request_uri_not_supported"),
        ({"resource": "https://other.example"}, "invalid_target"),
        ({"resource": f"{ISSUER}//"}, "invalid_target"),
        ({"resource": f"{ISSUER}/api/rpc"}, "invalid_target"),
        ({"resource": f"{ISSUER}:443"}, "invalid_target"),
        ({"resource": ISSUER.upper()}, "invalid_target"),
        ({"resource": [ISSUER, "https://other.example"]}, "invalid_target"),
        ({"scope": "everything"}, "invalid_scope"),
        ({"scope": "tax:read tax:write"}, "invalid_scope"),
        ({"scope": "tax:read everything"}, "invalid_scope"),
        ({"scope": ["openid", "openid"]}, "invalid_request"),
        ({"scope": "openid " + "x" * 4096}, "invalid_scope"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"code_challenge": CHALLENGE[:-1]}, "invalid_request"),
        ({"code_challenge": CHALLENGE + "A"}, "invalid_request"),
        ({"code_challenge": CHALLENGE + "="}, "invalid_request"),
        ({"code_challenge": CHALLENGE[:-1] + "~"}, "invalid_request"),
        ({"code_challenge": CHALLENGE[:-1] + "\n"}, "invalid_request"),
        ({"code_challenge": [CHALLENGE, CHALLENGE]}, "invalid_request"),
        ({"prompt": "none login"}, "invalid_request"),
        ({"prompt": "select_account none"}, "invalid_request"),
        ({"prompt": "create"}, "invalid_request"),
        ({"prompt": "Login"}, "invalid_request"),
        ({"max_age": "-1"}, "invalid_request"),
        ({"max_age": "1.5"}, "invalid_request"),
        ({"max_age": "soon"}, "invalid_request"),
        ({"max_age": "٣"}, "invalid_request"),
        ({"max_age": "9" * 10}, "invalid_request"),
        ({"nonce": "x" * 1025}, "invalid_request"),
        ({"dpop_jkt": "short"}, "invalid_request"),
    ],
)
def test_what_is_refused_in_a_redirect(client: Client, changes: Changes, code: str) -> None:
    raw = request_parameters(**changes)
    assert authorizations.target(client, raw) == Target(REDIRECT, "s-1")
    with pytest.raises(OAuthFailure) as caught:
        authorizations.check(client, raw, Audiences(ISSUER))
    assert caught.value.code == code


@pytest.mark.parametrize(
    "changes",
    [
        {"resource": f"{ISSUER}/"},
        {"resource": ""},
        {"resource": [ISSUER, f"{ISSUER}/", ISSUER]},
        {"response_mode": "query"},
        {"response_mode": ""},
        {"redirect_uri": "http://localhost:51234/cb"},
        {"state": "x" * 4096},
        {"state": ""},
        {"request": ""},
        {"login_hint": "x" * 255},
        {"prompt": "none"},
        {"prompt": "login login select_account consent"},
        {"max_age": "0"},
        {"display": "touch", "ui_locales": ["de", "en"], "acr_values": "x", "unknown": "y"},
    ],
)
def test_what_is_taken(client: Client, changes: Changes) -> None:
    assert check(client, **changes).resource is None


@pytest.mark.parametrize(
    ("prompt", "values"),
    [
        ("none", ["none"]),
        ("login login  consent", ["login", "consent"]),
        ("", []),
        ("select_account", ["select_account"]),
    ],
)
def test_prompts(client: Client, prompt: str, values: list[str]) -> None:
    assert check(client, prompt=prompt).prompt == values


def test_a_login_hint_that_is_no_address_is_passed_over(client: Client) -> None:
    assert check(client, login_hint="x" * 255).login_hint is None


@pytest.mark.parametrize(
    ("asked", "scope", "left_out"),
    [
        (None, list(DEFAULT_SCOPES), []),
        ("", list(DEFAULT_SCOPES), []),
        ("  ", list(DEFAULT_SCOPES), []),
        ("openid", ["openid"], []),
        ("offline_access openid", ["openid", "offline_access"], []),
        ("accounting:read openid everything accounting:read", ["openid", "accounting:read"], []),
        ("tax:write accounting:read tax:read", ["accounting:read"], ["tax:read", "tax:write"]),
        ("crm:write landlord:read", ["landlord:read", "crm:write"], []),
    ],
)
def test_scopes_of_a_client_that_is_not_approved(
    client: Client, asked: str | None, scope: list[str], left_out: list[str]
) -> None:
    found = check(client, scope=asked)
    assert (found.scope, found.left_out) == (scope, left_out)


def test_the_default_scopes_read_and_are_not_restricted() -> None:
    assert DEFAULT_SCOPES == (
        "entities:read",
        "accounting:read",
        "banking:read",
        "vault:read",
        "billing:read",
        "periods:read",
        "webhooks:read",
    )


def test_an_approved_client_gets_its_restricted_scopes(store: MemoryStore, client: Client) -> None:
    approved = store.write(lambda tx: oauth_clients.set_tax_approval(tx, client.id, "declared", "operator"))
    found = check(approved, scope="tax:write tax:read")
    assert (found.scope, found.left_out) == (["tax:read", "tax:write"], [])


def test_the_registered_scopes_are_those_of_a_request_without_any(store: MemoryStore) -> None:
    flow = Flow(store)
    client = flow.register(scope="vault:read tax:read offline_access")
    unnamed, named = check(client, scope=None), check(client, scope="openid")
    assert (unnamed.scope, unnamed.left_out) == (["offline_access", "vault:read"], ["tax:read"])
    assert named.scope == ["openid"]


def test_a_description_is_plain_whatever_was_sent() -> None:
    failure = OAuthFailure("invalid_request", 'a "b" \\ é \n')
    assert failure.description == "a ?b? ? ? ?"
    assert DirectFailure("invalid_request", '"').description == "?"


# -- on their way


def save(store: MemoryStore, client: Client, *, pushed: bool) -> str:
    return store.write(lambda tx: authorizations.save(tx, check(client), pushed=pushed))


def load(store: MemoryStore, handle: str) -> PendingRequest | None:
    return store.read(lambda tx: authorizations.load(tx, handle))


@pytest.mark.parametrize(("pushed", "life"), [(True, 10 * MINUTE), (False, HOUR)])
def test_a_request_is_kept_under_its_hash_for_its_time(
    store: MemoryStore, client: Client, pushed: bool, life: int
) -> None:
    handle = save(store, client, pushed=pushed)
    assert len(handle) == 43
    assert handle.encode() not in store.stored()
    pending = load(store, handle)
    assert pending is not None
    assert (pending.parameters, pending.pushed, pending.session_id) == (check(client), pushed, None)
    assert (pending.created_at, pending.expires_at) == (START, START + life)
    assert load(store, handle + "x") is None
    store.clock.advance(life - 1)
    assert load(store, handle) is not None
    store.clock.advance(1)
    assert load(store, handle) is None


def another_session(flow: Flow) -> str:
    visitor = sessions.Visitor(user_agent="Other", address="")
    return flow.store.write(lambda tx: sessions.start(tx, flow.user_id, ["pwd"], visitor))[1].id


def test_a_request_is_of_the_first_browser_that_shows_it(store: MemoryStore) -> None:
    flow = Flow(store)
    other = another_session(flow)
    handle = save(store, flow.client, pushed=True)
    store.clock.advance(9 * MINUTE)
    store.write(lambda tx: authorizations.bind(tx, handle, flow.session_id))
    store.write(lambda tx: authorizations.bind(tx, handle, flow.session_id))
    with pytest.raises(DirectFailure) as caught:
        store.write(lambda tx: authorizations.bind(tx, handle, other))
    assert caught.value.code == "invalid_request"
    pending = load(store, handle)
    assert pending is not None
    assert (pending.session_id, pending.expires_at) == (flow.session_id, START + HOUR)
    with pytest.raises(DirectFailure):
        store.write(lambda tx: authorizations.bind(tx, handle, other, replacing=other))
    store.write(lambda tx: authorizations.bind(tx, handle, other, replacing=flow.session_id))
    with pytest.raises(DirectFailure):
        store.write(lambda tx: authorizations.bind(tx, handle, flow.session_id))
    store.clock.advance(HOUR)
    with pytest.raises(DirectFailure):
        store.write(lambda tx: authorizations.bind(tx, handle, other))


def test_a_refused_request_is_gone(store: MemoryStore, client: Client) -> None:
    handle = save(store, client, pushed=False)
    dropped = [store.write(lambda tx: authorizations.drop(tx, handle)) for _ in range(2)]
    assert dropped == [True, False]
    assert load(store, handle) is None


@pytest.mark.parametrize(
    ("changes", "age", "needed"),
    [
        ({}, 30 * DAY, False),
        ({"prompt": "login"}, 1, True),
        ({"prompt": "login"}, 0, False),
        ({"prompt": "login"}, -MINUTE, False),
        ({"prompt": "consent select_account"}, DAY, False),
        ({"max_age": "60"}, 60 * SECOND, False),
        ({"max_age": "60"}, 60 * SECOND + 1, True),
        ({"max_age": "0"}, 1, True),
        ({"max_age": "0"}, 0, False),
        ({"max_age": "0"}, -MINUTE, False),
    ],
)
def test_who_has_to_sign_in_anew(store: MemoryStore, changes: Changes, age: int, needed: bool) -> None:
    """`age`: how long before the request they did; below zero since then."""
    pending = Flow(store).pending_request(**changes)
    now = Instant(START + max(0, -age) + (HOUR if age < 0 else 0))
    assert authorizations.needs_sign_in(pending, Instant(START - age), now) is needed


def test_sweeps_requests_past_their_time(store: MemoryStore, client: Client) -> None:
    pushed, shown = save(store, client, pushed=True), save(store, client, pushed=False)
    store.clock.advance(10 * MINUTE)
    assert [store.write(authorizations.sweep) for _ in range(2)] == [1, 0]
    assert load(store, pushed) is None
    assert load(store, shown) is not None
    assert store.read(lambda tx: tx.value("SELECT count(*) FROM authorization_requests")) == 1


# -- consent


def test_a_consent_makes_a_grant_and_a_code_and_ends_the_request(store: MemoryStore) -> None:
    flow = Flow(store)
    pending = flow.pending_request(nonce="n-1", dpop_jkt="j" * 43)
    code = flow.consent(pending, scopes=frozenset({"accounting:read", "openid", "vault:write"}), methods=("pwd", "otp"))
    assert code.startswith("gwc_")
    assert len(code) == 47
    assert code.encode() not in store.stored()
    state = flow.read_code(code)
    assert (state.redirect_uri, state.code_challenge, state.key_thumbprint) == (REDIRECT, CHALLENGE, "j" * 43)
    assert (state.expires_at, state.used) == (START + 10 * MINUTE, False)
    grant = state.grant
    assert (grant.org_id, grant.user_id, grant.client_id) == (flow.org_id, flow.user_id, flow.client.id)
    assert grant.scopes == grant.consented == {"openid", "accounting:read"}
    assert (grant.session_id, grant.authenticated_at, grant.methods) == (flow.session_id, START, ("pwd", "otp"))
    assert (grant.nonce, grant.key_thumbprint, grant.generation, grant.ended) == ("n-1", None, 0, False)
    assert (grant.id_token_alg, grant.dpop_required) == ("ES256", False)
    entry = store.read(audit.list_entries, flow.org_id)[0]
    assert (entry.action, entry.subject, entry.actor) == ("grant.created", grant.id, flow.user_id)
    assert entry.detail == {"client": flow.client.id, "host": "app.example", "scopes": ["openid", "accounting:read"]}
    assert store.read(lambda tx: tx.value("SELECT count(*) FROM authorization_requests")) == 0


@pytest.mark.parametrize(("scope", "life"), [(SCOPE, 30 * DAY), ("openid accounting:read", 10 * MINUTE + HOUR)])
def test_a_grant_lives_as_long_as_its_tokens_can(store: MemoryStore, scope: str, life: int) -> None:
    flow = Flow(store)
    assert flow.read_code(flow.code(scope=scope)).grant.expires_at == START + life


def test_a_request_is_consented_to_once(store: MemoryStore) -> None:
    flow = Flow(store)
    pending = flow.pending_request()
    flow.consent(pending)
    with pytest.raises(DirectFailure) as caught:
        flow.consent(pending)
    assert caught.value.code == "invalid_request"
    assert store.read(lambda tx: tx.value("SELECT count(*) FROM grants")) == 1


def test_a_request_is_consented_to_in_its_own_browser_and_in_time(store: MemoryStore) -> None:
    flow = Flow(store)
    handle = save(store, flow.client, pushed=False)
    store.write(lambda tx: authorizations.bind(tx, handle, flow.session_id))
    pending = load(store, handle)
    assert pending is not None
    with pytest.raises(DirectFailure):
        flow.consent(pending, session_id=another_session(flow))
    store.clock.advance(HOUR)
    with pytest.raises(DirectFailure):
        flow.consent(pending)
    assert store.read(lambda tx: tx.value("SELECT count(*) FROM grants")) == 0


def test_nothing_is_granted_without_a_scope_or_by_a_stranger(store: MemoryStore) -> None:
    flow = Flow(store)
    beta = store.org("Beta")
    pending = flow.pending_request()
    refused: list[dict[str, object]] = [
        {"scopes": frozenset()},
        {"scopes": frozenset({"vault:read"})},
        {"org_id": beta},
        {"user_id": store.user(beta)},
    ]
    for changes in refused:
        with pytest.raises(OAuthFailure) as caught:
            flow.consent(pending, **changes)
        assert caught.value.code == "access_denied"
    assert store.read(lambda tx: tx.value("SELECT count(*) FROM grants")) == 0
    flow.consent(pending)


def test_an_old_authentication_does_not_do_where_a_new_one_was_asked_for(store: MemoryStore) -> None:
    flow = Flow(store)
    pending = flow.pending_request(prompt="login")
    with pytest.raises(OAuthFailure) as caught:
        flow.consent(pending, authenticated_at=Instant(START - 1))
    assert caught.value.code == "login_required"
    flow.consent(pending)


# -- codes


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"client_id": "app_other"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_request"),
        ({"redirect_uri": REDIRECT + "/"}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": "A" * 43}, "invalid_grant"),
        ({"code_verifier": "A" * 42}, "invalid_grant"),
        ({"code_verifier": "A" * 129}, "invalid_grant"),
        ({"code_verifier": CHALLENGE}, "invalid_grant"),
        ({"code_verifier": "é" * 43}, "invalid_grant"),
        ({"code_verifier": ""}, "invalid_grant"),
    ],
)
def test_what_does_not_fit_is_refused_and_burns_nothing(
    store: MemoryStore, changes: dict[str, str | None], code: str
) -> None:
    flow = Flow(store)
    issued = flow.code()
    before = store.changed_rows()
    failure = flow.redeem(issued, "gwr_1", **changes)
    assert failure is not None
    assert failure.code == code
    assert store.changed_rows() == before
    assert flow.redeem(issued, "gwr_1") is None


def challenge_of(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


@pytest.mark.parametrize("verifier", ["A" * 42, "A" * 129, "A" * 43 + "+", "A" * 43 + "\n", "é" * 43])
def test_a_verifier_that_rfc_7636_does_not_know_is_refused_though_it_fits(store: MemoryStore, verifier: str) -> None:
    flow = Flow(store)
    failure = flow.redeem(flow.code(code_challenge=challenge_of(verifier)), code_verifier=verifier)
    assert failure is not None
    assert failure.code == "invalid_grant"


@pytest.mark.parametrize("length", [43, 128])
def test_verifiers_of_every_length(store: MemoryStore, length: int) -> None:

    flow = Flow(store)
    verifier = ("~._-" + "Az09" * 32)[:length]
    assert flow.redeem(flow.code(code_challenge=challenge_of(verifier)), code_verifier=verifier) is None


def test_the_vector_of_rfc_7636(store: MemoryStore) -> None:
    flow = Flow(store)
    code = flow.code(code_challenge="E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    assert flow.redeem(code, code_verifier="dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") is None


def test_a_code_has_its_time(store: MemoryStore) -> None:
    flow = Flow(store)
    code = flow.code()
    store.clock.advance(10 * MINUTE - 1)
    state = flow.read_code(code)
    store.clock.advance(1)
    with pytest.raises(OAuthFailure) as caught:
        authorization_codes.check_code(state, flow.token_request(), store.now())
    assert caught.value.code == "invalid_grant"
    late = flow.redeem(code)
    overtaken = store.write(lambda tx: authorization_codes.redeem_code(tx, state, None, None))
    assert late is not None
    assert overtaken is not None
    assert (late.code, overtaken.code) == ("invalid_grant", "invalid_grant")
    assert not flow.read_code(code).used
    assert store.read(lambda tx: authorization_codes.read_code(tx, "gwc_unknown")) is None


@pytest.mark.parametrize("with_refresh", [True, False])
@pytest.mark.parametrize("changes", [{}, {"client_id": "app_other"}, {"code_verifier": "A" * 43}])
def test_a_code_that_comes_again_ends_its_grant(
    store: MemoryStore, with_refresh: bool, changes: dict[str, str | None]
) -> None:
    flow = Flow(store)
    code, token = flow.code(), "gwr_first" if with_refresh else None
    assert flow.redeem(code, token) is None
    grant_id = flow.read_code(code).grant.id
    assert store.read(lambda tx: grants.find_live(tx, grant_id)) is not None
    store.clock.advance(HOUR)
    for _ in range(2):
        failure = flow.redeem(code, "gwr_second", **changes)
        assert failure is not None
        assert (failure.code, failure.description) == ("invalid_grant", "the code was used already")
    assert store.read(lambda tx: grants.find_live(tx, grant_id)) is None
    assert store.read(lambda tx: tx.value("SELECT count(*) FROM refresh_tokens")) == int(with_refresh)
    entries = [e for e in store.read(audit.list_entries, flow.org_id) if e.action == "grant.code_replayed"]
    assert [(e.subject, e.actor) for e in entries] == [(grant_id, flow.client.id)]


@pytest.mark.parametrize(("token", "generation"), [(None, 0), ("gwr_first", 1)])
def test_generations_are_counted_from_the_first_refresh_token(
    store: MemoryStore, token: str | None, generation: int
) -> None:
    flow = Flow(store)
    code = flow.code()
    assert flow.redeem(code, token) is None
    assert flow.read_code(code).grant.generation == generation


def test_two_at_once_redeem_a_code_once(store: MemoryStore) -> None:
    flow = Flow(store)
    state = flow.read_code(flow.code())
    first = store.write(lambda tx: authorization_codes.redeem_code(tx, state, b"1" * 32, None))
    second = store.write(lambda tx: authorization_codes.redeem_code(tx, state, b"2" * 32, None))
    assert first is None
    assert second is not None
    assert second.code == "invalid_grant"
    assert store.read(lambda tx: grants.find_live(tx, state.grant.id)) is None


@pytest.mark.parametrize("ended_by", ["revoked", "client", "member"])
def test_a_code_of_a_grant_that_is_over(store: MemoryStore, ended_by: str) -> None:
    flow = Flow(store)
    code = flow.code()
    overtaken = flow.read_code(code)
    match ended_by:
        case "revoked":
            store.write(lambda tx: grants.revoke(tx, overtaken.grant.id, "user", flow.user_id))
        case "client":
            store.write(lambda tx: oauth_clients.revoke(tx, flow.client.id, "operator"))
        case "member":
            store.write(lambda tx: tx.run("DELETE FROM memberships"))
    failure = flow.redeem(code, "gwr_1")
    assert failure is not None
    assert failure.code == "invalid_grant"
    if ended_by != "member":
        raced = store.write(lambda tx: authorization_codes.redeem_code(tx, overtaken, b"1" * 32, None))
        assert raced is not None
        assert raced.code == "invalid_grant"
    assert store.read(lambda tx: tx.value("SELECT count(*) FROM refresh_tokens")) == 0


@pytest.mark.parametrize(
    ("dpop_jkt", "required", "proof", "code"),
    [
        (None, False, None, None),
        (None, False, "k" * 43, None),
        (None, True, None, "invalid_dpop_proof"),
        (None, True, "k" * 43, None),
        ("k" * 43, False, "k" * 43, None),
        ("k" * 43, False, "j" * 43, "invalid_grant"),
        ("k" * 43, False, None, "invalid_dpop_proof"),
    ],
)
def test_tokens_are_bound_to_the_key_that_was_promised(
    store: MemoryStore, dpop_jkt: str | None, required: bool, proof: str | None, code: str | None
) -> None:
    flow = Flow(store)
    flow.client = flow.register(dpop_bound_access_tokens=required)
    issued = flow.code(dpop_jkt=dpop_jkt)
    failure = flow.redeem(issued, "gwr_1", key_thumbprint=proof)
    assert (None if failure is None else failure.code) == code
    assert flow.read_code(issued).grant.key_thumbprint == (proof if code is None else None)
    assert flow.read_code(issued).grant.generation == (1 if code is None else 0)


def test_sweeps_used_codes_a_day_after_their_time(store: MemoryStore) -> None:
    flow = Flow(store)
    used, unused = flow.code(), flow.code()
    flow.redeem(used)
    store.clock.advance(DAY + 10 * MINUTE - 1)
    assert store.write(authorization_codes.sweep) == 0
    store.clock.advance(1)
    assert [store.write(authorization_codes.sweep) for _ in range(2)] == [1, 0]
    assert store.read(lambda tx: authorization_codes.read_code(tx, used)) is None
    assert store.read(lambda tx: authorization_codes.read_code(tx, unused)) is not None
