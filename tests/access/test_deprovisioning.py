"""What ends when a member is removed or a person is disabled, and what stays."""

import secrets

import pytest

from gatewayd.access import deprovisioning
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.identity.key_format import RANDOM_BYTES
from gatewayd.identity.keys import api_keys, calendar_feeds
from gatewayd.identity.people import memberships, users
from gatewayd.identity.sign_in import one_time_links, passkeys, sessions
from gatewayd.identity.tokens import refresh_tokens
from gatewayd.identity.tokens.authorization_codes import Consent
from tests.identity.test_passkeys import registered
from tests.support.consents import Flow, refresh_token_for
from tests.support.store import MemoryStore

OPERATOR = audit.OPERATOR


def counts(ended: deprovisioning.EndedAccess) -> dict[str, int]:
    """What was ended at all, without its names."""
    found = {name: getattr(ended, name) for name in ended.__struct_fields__ if name not in ("items", "handed_over")}
    return {name: int(count) for name, count in found.items() if count}


class Leaver:
    """An owner beside another, who holds one of everything in `org_id`; sessions and passkeys belong to no one."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        flow = Flow(store)
        self.flow, self.org_id, self.user_id = flow, flow.org_id, flow.user_id
        store.user(self.org_id)
        registered(store, store.read(lambda tx: users.get(tx, self.user_id)))
        self.key_id, self.refresh_token = self.key(self.org_id), self.connect(self.org_id)
        self.link = store.write(lambda tx: one_time_links.make(tx, self.user_id, "sign_in"))

    def key(self, org_id: str) -> str:
        new = api_keys.NewKey(name="Shop", user_id=self.user_id)
        random = secrets.token_bytes(RANDOM_BYTES)
        return self.store.write(lambda tx: api_keys.create(tx, new, random, OPERATOR), org_id).id

    def connect(self, org_id: str) -> str:
        consent = Consent(
            user_id=self.user_id,
            org_id=org_id,
            session_id=self.flow.session_id,
            scopes=frozenset({"accounting:read", "offline_access"}),
            authenticated_at=self.store.now(),
            methods=("pwd",),
        )
        return self.store.write(lambda tx: refresh_token_for(tx, self.flow.client, consent))

    def join(self) -> str:
        """Another organization that the person owns."""
        org_id = self.store.org("Beta")
        self.store.write(lambda tx: memberships.add(tx, self.user_id, "owner", OPERATOR), org_id)
        return org_id

    def remove(self) -> deprovisioning.EndedAccess:
        return self.store.write(lambda tx: deprovisioning.remove_member(tx, self.user_id, OPERATOR), self.org_id)

    def disable(self) -> deprovisioning.EndedAccess:
        return self.store.write(lambda tx: deprovisioning.disable(tx, self.user_id, OPERATOR))

    def held(self) -> tuple[int, int, bool]:
        """Sessions, passkeys, and whether the link works."""
        return self.store.read(
            lambda tx: (
                len(sessions.of_user(tx, self.user_id)),
                len(passkeys.of_user(tx, self.user_id)),
                one_time_links.find(tx, self.link, "sign_in") is not None,
            )
        )

    def revoked(self, key_id: str, org_id: str) -> bool:
        return self.store.read(lambda tx: api_keys.get(tx, key_id), org_id).revoked_at is not None

    def ended(self, refresh_token: str) -> bool:
        state = self.store.read(lambda tx: refresh_tokens.read_refresh(tx, refresh_token))
        assert state is not None
        return state.grant.ended


def test_a_member_of_nothing_else_leaves_nothing_behind(store: MemoryStore) -> None:
    leaver = Leaver(store)
    assert counts(leaver.remove()) == {"sessions": 1, "passkeys": 1, "sign_in_links": 1, "keys": 1, "grants": 1}
    assert leaver.held() == (0, 0, False)
    assert leaver.revoked(leaver.key_id, leaver.org_id)
    assert leaver.ended(leaver.refresh_token)
    done = {(entry.actor, entry.action) for entry in store.read(audit.list_all)}
    acts = ("membership.removed", "key.revoked", "grant.revoked", "user.signed_out_everywhere", "user.passkey_removed")
    assert {(OPERATOR, act) for act in acts} <= done


def test_a_member_of_another_organization_keeps_what_is_theirs_there(store: MemoryStore) -> None:
    leaver = Leaver(store)
    beta = leaver.join()
    key_id, refresh_token = leaver.key(beta), leaver.connect(beta)
    ended = leaver.remove()
    assert counts(ended) == {"keys": 1, "grants": 1}
    assert leaver.held() == (1, 1, True)
    assert [leaver.revoked(leaver.key_id, leaver.org_id), leaver.revoked(key_id, beta)] == [True, False]
    assert [leaver.ended(leaver.refresh_token), leaver.ended(refresh_token)] == [True, False]


def test_who_comes_back_does_not_get_the_old_key_back(store: MemoryStore) -> None:
    leaver = Leaver(store)
    leaver.remove()
    store.write(lambda tx: memberships.add(tx, leaver.user_id, "member", OPERATOR), leaver.org_id)
    assert leaver.revoked(leaver.key_id, leaver.org_id)
    assert leaver.ended(leaver.refresh_token)


def test_disabling_ends_everything_everywhere_and_again_nothing(store: MemoryStore) -> None:
    leaver = Leaver(store)
    beta = leaver.join()
    key_id, refresh_token = leaver.key(beta), leaver.connect(beta)
    ended = leaver.disable()
    assert counts(ended) == {"sessions": 1, "passkeys": 1, "sign_in_links": 1, "keys": 2, "grants": 2}
    assert leaver.held() == (0, 0, False)
    assert leaver.revoked(leaver.key_id, leaver.org_id)
    assert leaver.revoked(key_id, beta)
    assert leaver.ended(leaver.refresh_token)
    assert leaver.ended(refresh_token)
    assert counts(leaver.disable()) == {}
    assert [entry.action for entry in store.read(audit.list_all)].count("user.disabled") == 1


def test_who_is_disabled_gets_neither_keys_nor_grants(store: MemoryStore) -> None:
    leaver = Leaver(store)
    leaver.disable()
    with pytest.raises(Problem) as caught:
        leaver.key(leaver.org_id)
    assert caught.value.errors[0].code == "unknown_reference"
    with pytest.raises(OAuthFailure) as refused:
        leaver.connect(leaver.org_id)
    assert refused.value.code == "access_denied"


def test_a_disabled_owner_is_no_other_owner(store: MemoryStore) -> None:
    leaver = Leaver(store)
    (other,) = (
        each.user_id for each in store.read(memberships.list_members, leaver.org_id) if each.user_id != leaver.user_id
    )
    store.write(lambda tx: deprovisioning.disable(tx, other, OPERATOR))
    with pytest.raises(Problem) as caught:
        leaver.remove()
    assert caught.value.code == "invalid_state"
    assert leaver.held() == (1, 1, True)
    store.write(lambda tx: deprovisioning.remove_member(tx, other, OPERATOR), leaver.org_id)
    assert store.read(lambda tx: memberships.solely_owned(tx, leaver.user_id)) == [leaver.org_id]


# -- calendar feeds, whose addresses may lie in anybody's telephone


def feed(store: MemoryStore, org_id: str, user_id: str | None) -> str:
    """The token of one that the person made; None: that the operator made."""
    wanted = calendar_feeds.NewFeed("Phone", None, user_id, user_id or OPERATOR)
    return store.write(lambda tx: calendar_feeds.create(tx, wanted)[1], org_id)


def opens(store: MemoryStore, token: str) -> bool:
    return store.read(lambda tx: calendar_feeds.find(tx, token)) is not None


def test_a_members_feeds_end_with_the_membership_and_no_others(store: MemoryStore) -> None:
    leaver = Leaver(store)
    other_org = leaver.join()
    mine, elsewhere = feed(store, leaver.org_id, leaver.user_id), feed(store, other_org, leaver.user_id)
    operators = feed(store, leaver.org_id, None)
    leaver.remove()
    assert [opens(store, token) for token in (mine, elsewhere, operators)] == [False, True, True]
    acts = store.read(audit.list_entries, leaver.org_id)
    assert [act.actor for act in acts if act.action == "feed.revoked"] == [OPERATOR]


def test_a_disabled_persons_feeds_end_everywhere(store: MemoryStore) -> None:
    leaver = Leaver(store)
    other_org = leaver.join()
    tokens = [feed(store, org_id, leaver.user_id) for org_id in (leaver.org_id, other_org)]
    leaver.disable()
    assert [opens(store, token) for token in tokens] == [False, False]


def test_after_a_restore_every_feed_ends(store: MemoryStore) -> None:
    """One that was revoked since the backup would open again."""
    org_id = store.org()
    tokens = [feed(store, org_id, None), feed(store, org_id, store.user(org_id))]
    store.write(lambda tx: deprovisioning.end_access_of_all(tx, OPERATOR))
    assert [opens(store, token) for token in tokens] == [False, False]


def test_after_a_restore_connected_apps_end_with_the_rest(store: MemoryStore) -> None:
    flow = Flow(store)
    _, token = flow.connect()
    ended = store.write(lambda tx: deprovisioning.end_access_of_all(tx, OPERATOR))
    assert (ended.sessions, ended.grants) == (1, 1)
    assert not isinstance(flow.refresh(token), str)
