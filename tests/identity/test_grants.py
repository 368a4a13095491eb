"""Grants: what lives, what ends one, who may end it, what people see of it, and the sweep."""

from collections.abc import Callable

import pytest

from gatewayd.clock import DAY, HOUR, MINUTE, Instant
from gatewayd.contract.caller import Role
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.identity.clients import grant_lists, grants, oauth_clients
from gatewayd.identity.clients.grant_lists import GrantSummary
from gatewayd.identity.clients.grants import Grant, LiveGrant
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.identity.people import memberships, users
from gatewayd.identity.tokens import authorization_codes, refresh_tokens
from gatewayd.store import WriteTx
from tests.support.consents import REDIRECT, SCOPE, Flow
from tests.support.store import START, MemoryStore

TAX_SCOPE = "offline_access accounting:read tax:read"
SHORT = "accounting:read"


@pytest.fixture
def flow(store: MemoryStore) -> Flow:
    return Flow(store)


def find(store: MemoryStore, grant_id: str) -> Grant:
    grant = store.read(lambda tx: grants.find(tx, grant_id))
    assert grant is not None
    return grant


def find_live(store: MemoryStore, grant_id: str) -> LiveGrant | None:
    return store.read(lambda tx: grants.find_live(tx, grant_id))


def of_user(flow: Flow) -> list[GrantSummary]:
    return flow.store.read(lambda tx: grant_lists.of_user(tx, flow.user_id))


def approve(flow: Flow, attestation: str | None = "declared") -> None:
    client_id = flow.client.id
    flow.client = flow.store.write(lambda tx: oauth_clients.set_tax_approval(tx, client_id, attestation, "operator"))


# -- lives


def test_a_grant_lives_with_the_role_of_today(flow: Flow) -> None:
    store = flow.store
    store.user(flow.org_id)
    grant_id, _ = flow.connect()
    assert find_live(store, grant_id) == LiveGrant(flow.org_id, flow.user_id, flow.client.id, "owner", False)
    store.write(lambda tx: memberships.change_role(tx, flow.user_id, "member", "operator"), flow.org_id)
    approve(flow)
    assert find_live(store, grant_id) == LiveGrant(flow.org_id, flow.user_id, flow.client.id, "member", True)
    assert find_live(store, "grt_none") is None
    assert store.read(lambda tx: grants.find(tx, "grt_none")) is None


def test_a_role_in_another_organization_counts_for_nothing(flow: Flow) -> None:
    store = flow.store
    grant_id, _ = flow.connect()
    beta = store.org("Beta")
    store.write(lambda tx: memberships.add(tx, flow.user_id, "owner", "operator"), beta)
    store.write(lambda tx: tx.run("DELETE FROM memberships WHERE org_id = :org_id"), flow.org_id)
    assert find_live(store, grant_id) is None
    assert find(store, grant_id).ended


def test_a_revoked_client_ends_tokens_by_itself(flow: Flow) -> None:
    grant_id, _ = flow.connect()
    flow.store.write(lambda tx: tx.run("UPDATE oauth_clients SET revoked_at = :now"))
    assert find_live(flow.store, grant_id) is None
    assert find(flow.store, grant_id).ended


def reset_password(flow: Flow, tx: WriteTx) -> None:
    users.reset_password(tx, flow.user_id, "$argon2id$", "operator")


def change_password(flow: Flow, tx: WriteTx) -> None:
    users.change_password(tx, flow.user_id, "$argon2id$")


def remove_member(flow: Flow, tx: WriteTx) -> None:
    memberships.remove(tx, flow.user_id, "usr_boss")


def revoke_client(flow: Flow, tx: WriteTx) -> None:
    oauth_clients.revoke(tx, flow.client.id, "operator")


def revoke_own(flow: Flow, tx: WriteTx) -> None:
    grants.revoke_own(tx, grant_lists.of_user(tx, flow.user_id)[0].grant_id, flow.user_id)


@pytest.mark.parametrize(
    ("act", "reason", "actor"),
    [
        (reset_password, "password_changed", "operator"),
        (change_password, "password_changed", "user"),
        (remove_member, "member_removed", "usr_boss"),
        (revoke_client, "operator", "operator"),
        (revoke_own, "user", "user"),
    ],
)
def test_what_ends_a_grant(flow: Flow, act: Callable[[Flow, WriteTx], None], reason: str, actor: str) -> None:
    store = flow.store
    store.user(flow.org_id)
    grant_id, token = flow.connect()
    store.clock.advance(MINUTE)
    store.write(lambda tx: act(flow, tx), flow.org_id)
    assert find_live(store, grant_id) is None
    assert find(store, grant_id).ended
    refused = flow.refresh(token)
    assert isinstance(refused, OAuthFailure)
    assert refused.code == "invalid_grant"
    shown = of_user(flow)[0]
    assert (shown.revoked_at, shown.revoked_reason) == (START + MINUTE, reason)
    entry = next(e for e in store.read(audit.list_entries, flow.org_id) if e.action == "grant.revoked")
    assert (entry.subject, entry.actor) == (grant_id, flow.user_id if actor == "user" else actor)
    assert entry.detail == {"client": flow.client.id, "user": flow.user_id, "reason": reason}


def test_a_password_ends_the_grants_of_one_person_everywhere(flow: Flow) -> None:
    store = flow.store
    beta = store.org("Beta")
    store.write(lambda tx: memberships.add(tx, flow.user_id, "member", "operator"), beta)
    here, _ = flow.connect()
    there = flow.read_code(flow.consent(flow.pending_request(), org_id=beta)).grant.id
    other = flow.read_code(flow.consent(flow.pending_request(), user_id=store.user(flow.org_id))).grant.id
    store.write(lambda tx: users.reset_password(tx, flow.user_id, "$argon2id$", "operator"))
    assert [find_live(store, each) is not None for each in (here, there, other)] == [False, False, True]
    assert store.read(audit.list_entries, beta)[0].action == "grant.revoked"


def test_removal_ends_the_grants_of_one_person_here(flow: Flow) -> None:
    store = flow.store
    beta = store.org("Beta")
    store.write(lambda tx: memberships.add(tx, flow.user_id, "member", "operator"), beta)
    other_user = store.user(flow.org_id)
    here, _ = flow.connect()
    there = flow.read_code(flow.consent(flow.pending_request(), org_id=beta)).grant.id
    other = flow.read_code(flow.consent(flow.pending_request(), user_id=other_user)).grant.id
    store.write(lambda tx: memberships.remove(tx, flow.user_id, "operator"), flow.org_id)
    assert [find_live(store, each) is not None for each in (here, there, other)] == [False, True, True]
    store.write(lambda tx: memberships.add(tx, flow.user_id, "member", "operator"), flow.org_id)
    assert find_live(store, here) is None


def test_a_grant_is_revoked_once(flow: Flow) -> None:
    store = flow.store
    grant_id, _ = flow.connect()
    revoked = [store.write(lambda tx: grants.revoke(tx, grant_id, "client", flow.client.id)) for _ in range(2)]
    assert revoked == [True, False]
    assert not store.write(lambda tx: grants.revoke(tx, "grt_none", "client", flow.client.id))
    assert of_user(flow)[0].revoked_reason == "client"
    assert [e.action for e in store.read(audit.list_entries, flow.org_id)].count("grant.revoked") == 1


def test_nobody_ends_what_is_not_theirs(flow: Flow) -> None:
    store = flow.store
    grant_id, _ = flow.connect()
    colleague = store.user(flow.org_id)
    for work in [
        lambda tx: grants.revoke_own(tx, grant_id, colleague),
        lambda tx: grants.revoke_own(tx, "grt_none", flow.user_id),
    ]:
        with pytest.raises(Problem) as caught:
            store.write(work, flow.org_id)
        assert caught.value.code == "not_found"
    assert find_live(store, grant_id) is not None


def test_what_ended_by_itself_is_not_revoked_again(flow: Flow) -> None:
    """But an access token may outlive its grant's last refresh, and is ended with it."""
    store = flow.store
    grant_id, _ = flow.connect()
    store.clock.advance(30 * DAY + HOUR - 1)
    assert store.write(lambda tx: grants.revoke_user(tx, flow.user_id, "user", flow.user_id)) == 1
    assert find_live(store, grant_id) is None
    flow.connect()
    store.clock.advance(30 * DAY + HOUR)
    assert store.write(lambda tx: grants.revoke_user(tx, flow.user_id, "user", flow.user_id)) == 0
    assert store.write(lambda tx: grants.revoke_client(tx, flow.client.id, "user", flow.user_id)) == 0
    assert store.write(lambda tx: grants.revoke_membership(tx, flow.user_id, flow.user_id), flow.org_id) == 0


ENDINGS: list[Callable[[WriteTx, Flow], int]] = [
    lambda tx, flow: grants.revoke_user(tx, flow.user_id, "user", flow.user_id),
    lambda tx, flow: grants.revoke_client(tx, flow.client.id, "user", flow.user_id),
    lambda tx, flow: grants.revoke_membership(tx, flow.user_id, flow.user_id),
]


@pytest.mark.parametrize("end", ENDINGS, ids=["user", "client", "membership"])
def test_every_ending_reaches_the_last_access_token(flow: Flow, end: Callable[[WriteTx, Flow], int]) -> None:
    store = flow.store
    grant_id, _ = flow.connect()
    store.clock.advance(30 * DAY + HOUR - 1)
    assert store.write(lambda tx: end(tx, flow), flow.org_id) == 1
    assert find_live(store, grant_id) is None


def test_who_has_let_in_what(flow: Flow) -> None:
    store = flow.store
    grant_id, _ = flow.connect()
    other_user, other_client = store.user(flow.org_id), flow.register()

    def granted(user_id: str, client_id: str) -> bool:
        return store.read(lambda tx: grants.has_granted(tx, user_id, client_id))

    assert granted(flow.user_id, flow.client.id)
    assert not granted(other_user, flow.client.id)
    assert not granted(flow.user_id, other_client.id)
    store.write(lambda tx: grants.revoke(tx, grant_id, "user", flow.user_id))
    assert not granted(flow.user_id, flow.client.id)


def test_a_grant_is_read_as_it_was_made(flow: Flow) -> None:
    store = flow.store
    code = flow.consent(flow.pending_request(nonce="n-1"), authenticated_at=Instant(START - 1), methods=("pwd", "otp"))
    assert flow.redeem(code, "gwr_1", key_thumbprint="k" * 43) is None
    grant_id = flow.read_code(code).grant.id
    assert find(store, grant_id) == Grant(
        id=grant_id,
        org_id=flow.org_id,
        user_id=flow.user_id,
        client_id=flow.client.id,
        scopes=frozenset(SCOPE.split()),
        consented=frozenset(SCOPE.split()),
        session_id=flow.session_id,
        authenticated_at=Instant(START - 1),
        methods=("pwd", "otp"),
        nonce="n-1",
        key_thumbprint="k" * 43,
        generation=1,
        expires_at=Instant(START + 30 * DAY),
        ended=False,
        id_token_alg="ES256",
        dpop_required=False,
        resource=None,
    )


# -- scopes


@pytest.mark.parametrize(
    ("asked", "carried"),
    [
        (None, SCOPE.split()),
        ("", SCOPE.split()),
        (" ", SCOPE.split()),
        (SCOPE, SCOPE.split()),
        ("accounting:read  openid", ["openid", "accounting:read"]),
        ("accounting:write accounting:write", ["accounting:write"]),
    ],
)
def test_a_token_carries_what_was_granted_or_less(flow: Flow, asked: str | None, carried: list[str]) -> None:
    grant_id, _ = flow.connect()
    assert grants.narrow(find(flow.store, grant_id), asked) == carried


@pytest.mark.parametrize("asked", ["vault:read", "accounting:read vault:read", "everything", "tax:read"])
def test_a_token_never_carries_more(flow: Flow, asked: str) -> None:
    grant_id, _ = flow.connect()
    with pytest.raises(OAuthFailure) as caught:
        grants.narrow(find(flow.store, grant_id), asked)
    assert caught.value.code == "invalid_scope"


def test_a_withdrawn_approval_takes_the_scope_out_of_tokens(flow: Flow) -> None:
    approve(flow)
    grant_id, _ = flow.connect(scope=TAX_SCOPE)
    assert grants.narrow(find(flow.store, grant_id), None) == TAX_SCOPE.split()
    approve(flow, None)
    grant = find(flow.store, grant_id)
    assert grant.consented - grant.scopes == {"tax:read"}
    assert grants.narrow(grant, TAX_SCOPE) == ["offline_access", "accounting:read"]
    with pytest.raises(OAuthFailure) as caught:
        grants.narrow(grant, "tax:read")
    assert caught.value.code == "invalid_scope"


def test_what_a_client_registered_shapes_its_tokens(flow: Flow) -> None:
    flow.client = flow.register(id_token_signed_response_alg="RS256", dpop_bound_access_tokens=True)
    grant = flow.read_code(flow.code()).grant
    assert (grant.id_token_alg, grant.dpop_required) == ("RS256", True)


# -- people


def test_what_people_see(flow: Flow) -> None:
    store = flow.store
    grant_id, _ = flow.connect()
    store.clock.advance(DAY)
    store.write(lambda tx: grants.note_use(tx, {grant_id, "key_other"}))
    assert of_user(flow) == [
        GrantSummary(
            grant_id=grant_id,
            org_id=flow.org_id,
            organization="Example Ltd",
            user_id=flow.user_id,
            client_id=flow.client.id,
            client_name="App",
            hosts=("app.example",),
            scopes=tuple(SCOPE.split()),
            connected_at=START,
            last_used_day="2026-11-21",
            expires_at=Instant(START + 30 * DAY),
            revoked_at=None,
            revoked_reason=None,
        )
    ]


def test_a_document_is_known_by_its_host(flow: Flow) -> None:
    store, url = flow.store, "https://docs.example/client.json"
    metadata = flow.register(redirect_uris=["http://localhost/", "cursor://a/cb", REDIRECT]).metadata
    flow.client = store.write(lambda tx: oauth_clients.save_document(tx, url, metadata, store.now()))
    flow.connect()
    assert of_user(flow)[0].hosts == ("docs.example", "app.example")
    assert flow.client.all_hosts == ["docs.example", "localhost", "cursor:", "app.example"]


def test_an_app_is_known_by_where_the_person_was_sent(flow: Flow) -> None:
    """Not by what it registered besides: anybody can register the address of somebody they are not."""
    respectable = [f"https://{name}.example/cb" for name in ("bank", "mail", "tax", "post", "rail")]
    flow.client = flow.register(redirect_uris=[*respectable, "https://evil.example/cb"])
    flow.code(redirect_uri="https://evil.example/cb")
    flow.store.write(lambda tx: tx.run("UPDATE authorization_codes SET used_at = 1"))
    assert of_user(flow)[0].hosts == ("evil.example",)
    (created,) = [each for each in flow.store.read(audit.list_all) if each.action == "grant.created"]
    assert created.detail["host"] == "evil.example"


def test_a_grant_of_before_hosts_were_kept_has_all_that_are_registered(flow: Flow) -> None:
    flow.client = flow.register(redirect_uris=[REDIRECT, "https://other.example/cb"])
    flow.connect()
    flow.store.write(lambda tx: tx.run("UPDATE grants SET redirect_host = NULL"))
    assert of_user(flow)[0].hosts == ("app.example", "other.example")


def test_lists_of_a_person_an_organization_and_a_client(flow: Flow) -> None:
    store = flow.store
    first, _ = flow.connect()
    first_client, flow.client = flow.client.id, flow.register()
    second, _ = flow.connect()
    beta = store.org("Beta")
    store.write(lambda tx: memberships.add(tx, flow.user_id, "member", "operator"), beta)
    code = flow.consent(flow.pending_request(), org_id=beta)
    flow.redeem(code)
    third = flow.read_code(code).grant.id
    assert [app.grant_id for app in of_user(flow)] == [third, second, first]
    assert [app.grant_id for app in store.read(grant_lists.of_org, flow.org_id)] == [second, first]
    assert [app.grant_id for app in store.read(grant_lists.of_org, beta)] == [third]
    assert [app.grant_id for app in store.read(lambda tx: grant_lists.of_client(tx, first_client))] == [first]
    stranger = store.user(beta)
    assert store.read(lambda tx: grant_lists.of_user(tx, stranger)) == []


def test_what_is_shown_and_for_how_long(flow: Flow) -> None:
    store = flow.store
    short = flow.code(scope=SHORT)
    assert of_user(flow) == []  # nobody has redeemed it yet
    flow.redeem(short)
    revoked, _ = flow.connect()
    lasting, _ = flow.connect()
    store.clock.advance(HOUR)
    store.write(lambda tx: grants.revoke(tx, revoked, "user", flow.user_id))
    short_id = flow.read_code(short).grant.id
    assert [app.grant_id for app in of_user(flow)] == [lasting, revoked, short_id]
    store.clock.advance(10 * MINUTE)
    assert [app.grant_id for app in of_user(flow)] == [lasting, revoked]
    store.clock.advance(29 * DAY)
    assert [app.grant_id for app in of_user(flow)] == [lasting, revoked]
    store.clock.advance(DAY)
    assert of_user(flow) == []


@pytest.mark.parametrize("role", ["owner", "admin", "member"])
def test_a_list_of_the_organization_does_not_ask_for_roles(flow: Flow, role: Role) -> None:
    user_id = flow.store.user(flow.org_id, role)
    code = flow.consent(flow.pending_request(), user_id=user_id)
    flow.redeem(code)
    assert [app.user_id for app in flow.store.read(grant_lists.of_org, flow.org_id)] == [user_id]


def test_notes_the_day_of_use_once(flow: Flow) -> None:
    store = flow.store
    grant_id, _ = flow.connect()

    def note() -> int:
        before = store.changed_rows()
        store.write(lambda tx: grants.note_use(tx, {grant_id}))
        return store.changed_rows() - before

    assert [note(), note()] == [1, 0]
    store.clock.advance(DAY)
    assert note() == 1


# -- the sweep


def sweep(store: MemoryStore) -> int:
    return store.write(grants.sweep)


def count(store: MemoryStore, table: str) -> int:
    return int(store.read(lambda tx: tx.value(f"SELECT count(*) FROM {table}")))


def test_a_grant_whose_code_nobody_redeemed_is_swept_with_it(flow: Flow) -> None:
    store = flow.store
    flow.code()
    used, _ = flow.connect()
    store.clock.advance(10 * MINUTE - 1)
    assert sweep(store) == 0
    store.clock.advance(1)
    assert [sweep(store), sweep(store)] == [1, 0]
    assert (count(store, "grants"), count(store, "authorization_codes")) == (1, 1)
    assert find_live(store, used) is not None


def test_old_grants_are_swept_and_then_their_client(flow: Flow) -> None:
    store = flow.store
    flow.connect()
    store.clock.advance(120 * DAY)
    young, _ = flow.connect()
    assert sweep(store) == 0
    store.clock.advance(1000)
    assert [sweep(store), sweep(store)] == [1, 0]
    assert [app.grant_id for app in of_user(flow)] == [young]
    assert (count(store, "authorization_codes"), count(store, "refresh_tokens")) == (1, 1)
    store.clock.advance(121 * DAY)
    assert sweep(store) == 1
    assert store.write(oauth_clients.sweep) == 1


def test_a_sweep_has_its_limit(flow: Flow) -> None:
    store = flow.store
    pending = flow.pending_request()
    new = grants.NewGrant(
        org_id=flow.org_id,
        user_id=flow.user_id,
        client_id=flow.client.id,
        scopes=[SHORT],
        session_id=flow.session_id,
        authenticated_at=START,
        methods=("pwd",),
        nonce=None,
        redirect_host="app.example",
    )
    for _ in range(grants.SWEEP_ROWS + 1):
        store.write(lambda tx: grants.create(tx, new))
    store.clock.advance(121 * DAY)
    assert [sweep(store), sweep(store), sweep(store)] == [grants.SWEEP_ROWS, 1, 0]
    assert pending.parameters.resource is None


def test_every_sweep_leaves_what_lives(flow: Flow) -> None:
    store = flow.store
    flow.pending_request()
    grant_id, token = flow.connect()
    for each in (authorization_codes.sweep, refresh_tokens.sweep, grants.sweep, oauth_clients.sweep):
        assert store.write(each) == 0
    assert find_live(store, grant_id) is not None
    assert isinstance(flow.refresh(token), str)
