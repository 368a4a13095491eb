"""Who is told what by mail: of what the audit log records of them, of invitations, of webhooks that take no events."""

from collections.abc import Iterator
from functools import partial

import pytest

from gatewayd.clock import DAY, HOUR, Instant
from gatewayd.console import addresses
from gatewayd.following import reactions
from gatewayd.identity import audit
from gatewayd.identity.audit import Act, Action
from gatewayd.identity.people import memberships, users
from gatewayd.mail import notices, outbox
from gatewayd.mail.letters import Letter
from gatewayd.mail.notices import FailingWebhook, Invited, Mailing
from gatewayd.store import ReadTx, WriteTx
from gatewayd.store.reactions import Reactions
from tests.support.store import MemoryStore

MAILING = Mailing("https://books.example")


class Told:
    """What was queued: to whom, of which kind, about whom, with its letter."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def __call__(self) -> list[tuple[str, str, str | None, Letter]]:
        return self._store.read(self._look)

    def _look(self, tx: ReadTx) -> list[tuple[str, str, str | None, Letter]]:
        rows = tx.rows("SELECT recipient, kind, org_id, id, letter_sealed FROM mails ORDER BY id")
        found = []
        for recipient, kind, org_id, id_, sealed in rows:
            letter = outbox.open_letter(tx, id_, sealed)
            assert letter is not None
            found.append((recipient, kind, org_id, letter))
        return found


@pytest.fixture
def store(database_image: bytes) -> Iterator[MemoryStore]:
    store = MemoryStore(database_image)
    yield store
    store.close()


def act(store: MemoryStore, action: Action, subject: str, actor: str, **detail: str) -> None:
    store.clock.advance(2 * HOUR)
    done = Act(actor=actor, action=action, subject=subject, org_id=None, detail=dict(detail))
    store.write(lambda tx: notices.tell_of_act(tx, MAILING, done))


def test_a_new_browser_is_told_and_a_known_one_is_not(store: MemoryStore) -> None:
    user, told = store.user(store.org(), email="ann@example.com"), Told(store)
    act(store, "user.signed_in", user, user, device="known")
    assert told() == []
    act(store, "user.signed_in", user, user, device="new", address="192.0.2.7", userAgent="Firefox")
    [(to, kind, org_id, letter)] = told()
    assert (to, kind, org_id) == ("ann@example.com", "new_device", None)
    assert ("Address", "192.0.2.7") in letter.facts
    assert ("When", "20 Nov 2026, 13:30 UTC") in letter.facts
    assert letter.action is not None
    assert letter.action.url == "https://books.example/account"


def test_nobody_is_told_of_the_browser_in_which_they_begin(store: MemoryStore) -> None:
    user = store.user(store.org())
    done = Act(actor=user, action="user.signed_in", subject=user, org_id=None, detail={"device": "new"})
    store.write(lambda tx: notices.tell_of_act(tx, MAILING, done))
    assert Told(store)() == []


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("user.password_changed", "sign_in_changed"),
        ("user.password_reset", "sign_in_changed"),
        ("user.password_removed", "sign_in_changed"),
        ("user.passkey_added", "sign_in_changed"),
        ("user.passkey_removed", "sign_in_changed"),
        ("user.totp_on", "sign_in_changed"),
        ("user.totp_off", "sign_in_changed"),
        ("user.recovery_code_used", "sign_in_changed"),
    ],
)
def test_what_the_operator_changes_is_told_to_whose_it_is(store: MemoryStore, action: Action, kind: str) -> None:
    user = store.user(store.org(), email="ann@example.com")
    act(store, action, user, audit.OPERATOR)
    assert [(to, of) for to, of, _, _ in Told(store)()] == [("ann@example.com", kind)]


def test_keys_and_apps_are_told_to_who_made_them(store: MemoryStore) -> None:
    user = store.user(store.org(), email="ann@example.com")
    act(store, "key.created", "key_1", user, name="Shop")
    act(store, "grant.created", "grant_1", user, host="app.example")
    act(store, "key.created", "key_2", audit.OPERATOR, name="Shop")  # nobody's in particular
    told = Told(store)()
    assert [kind for _, kind, _, _ in told] == ["key_created", "app_connected"]
    assert told[0][3].facts[-1] == ("Key", "Shop")
    assert told[1][3].facts[-1] == ("App at", "app.example")


def test_who_is_disabled_is_told_nothing(store: MemoryStore) -> None:
    user = store.user(store.org())
    store.write(lambda tx: users.disable(tx, user, audit.OPERATOR))
    act(store, "user.passkey_added", user, user)
    assert Told(store)() == []


def test_an_invitation_brings_its_link(store: MemoryStore) -> None:
    org_id = store.org("Oak & Son")
    link, ends = "https://books.example/sign-in/invitation/gwd_inv_x", Instant(store.now() + DAY)
    invited = Invited("ivt_1", "bob@example.com", "administrator", "Ann Oak", link, ends)
    store.write(lambda tx: notices.invite(tx, MAILING, invited), org_id)
    [(to, kind, of, letter)] = Told(store)()
    assert (to, kind, of) == ("bob@example.com", "invitation", org_id)
    assert letter.paragraphs == ("Ann Oak invites you to Oak & Son at books.example, as an administrator.",)
    assert letter.action is not None
    assert letter.action.url == link
    assert b"gwd_inv_x" not in store.stored()  # sealed


def test_who_leads_is_told_of_a_webhook_once_a_day(store: MemoryStore) -> None:
    org_id = store.org("Oak & Son")
    store.user(org_id, "owner", "ann@example.com")
    store.user(org_id, "admin", "bob@example.com")
    store.user(org_id, "member", "eve@example.com")
    store.user(store.org(), "owner", "other@example.com")
    failing = FailingWebhook("wsub_1", "https://shop.example/hooks?token=x", None)

    def tell(webhook: FailingWebhook) -> None:
        store.write(lambda tx: notices.tell_of_webhook(tx, MAILING, webhook), org_id)

    told = Told(store)
    tell(failing)
    tell(failing)
    assert [(to, kind) for to, kind, _, _ in told()] == [
        ("ann@example.com", "webhook_failing"),
        ("bob@example.com", "webhook_failing"),
    ]
    tell(failing._replace(id="wsub_2"))
    tell(failing._replace(reason="nothing but failures"))
    assert [kind for _, kind, _, _ in told()][2:] == ["webhook_failing"] * 2 + ["webhook_switched_off"] * 2
    store.clock.advance(DAY + HOUR)
    tell(failing)
    assert len(told()) == 8
    letter = told()[4][3]
    assert letter.action is not None
    assert letter.action.url == f"https://books.example{addresses.WEBHOOKS}/wsub_1"
    assert "token=x" not in repr(told())


def test_links_lead_to_pages(store: MemoryStore) -> None:
    for path in (addresses.ACCOUNT, addresses.KEYS, addresses.APPS):
        assert addresses.is_page(path)
    assert {"/account", "/developers/keys", "/developers/apps"} == {addresses.ACCOUNT, addresses.KEYS, addresses.APPS}


def test_what_is_recorded_is_told_in_its_transaction() -> None:
    following: Reactions = partial(reactions, MAILING)()
    assert len(following.follow_ups[audit.TABLE]) == 2
    assert len(reactions().follow_ups[audit.TABLE]) == 1  # no mail: nothing queued, and what waits is withdrawn


def status_of(store: MemoryStore, kind: str, recipient: str) -> list[tuple[str, int]]:
    sql = (
        "SELECT status, length(letter_sealed) > 0 FROM mails WHERE kind = :kind AND recipient = :recipient ORDER BY id"
    )
    return store.read(
        lambda tx: [(status, bool(kept)) for status, kept in tx.rows(sql, kind=kind, recipient=recipient)]
    )


def test_what_a_revoked_invitation_said_is_not_sent(store: MemoryStore) -> None:
    org, expires = store.org(), Instant(store.now() + DAY)
    for id_ in ("inv_1", "inv_2"):
        invited = Invited(id_, f"{id_}@example.com", "member", "Ann", "https://books.example/x", expires)
        store.write(lambda tx, invited=invited: notices.invite(tx, MAILING, invited), org)
    revoked = Act(actor="operator", action="invitation.revoked", subject="inv_1", org_id=org)
    store.write(lambda tx: notices.withdraw_after(tx, revoked))
    assert status_of(store, "invitation", "inv_1@example.com") == [("failed", False)]
    assert status_of(store, "invitation", "inv_2@example.com") == [("queued", True)]


def test_a_link_that_is_void_is_not_sent_and_what_is_on_its_way_is_not_tried_again(store: MemoryStore) -> None:
    user_id = store.user(store.org(), email="ann@example.com")
    user, ends = store.read(lambda tx: users.get(tx, user_id)), Instant(store.now() + HOUR)

    def ask(tx: WriteTx) -> None:
        notices.send_reset_link(tx, MAILING, user, "https://books.example/x", ends)

    for _ in range(3):
        store.write(ask)
    ids = [row[0] for row in store.read(lambda tx: tx.rows("SELECT id FROM mails ORDER BY id"))]
    begun = "UPDATE mails SET holder = 'a:1', attempts = 1 WHERE id = :id"
    failed = "UPDATE mails SET status = 'failed', due_at = NULL, completed_at = :now WHERE id = :id"
    store.write(lambda tx: (tx.run(begun, id=ids[0]), tx.run(failed, id=ids[1])))
    done = Act(actor=user_id, action="user.password_changed", subject=user_id, org_id=None)
    store.write(lambda tx: notices.withdraw_after(tx, done))
    assert status_of(store, "password_reset", "ann@example.com") == [
        ("queued", True),
        ("failed", False),
        ("failed", False),
    ]
    under_way = store.read(lambda tx: outbox.find(tx, ids[0]))
    assert under_way is not None
    assert under_way.expires_at == store.now()
    assert [store.write(lambda tx, id_=id_: outbox.resend(tx, id_)) for id_ in ids] == [False, False, False]


@pytest.mark.parametrize("how", ["removed", "demoted", "disabled"])
def test_who_leads_no_more_is_told_nothing_that_waits(store: MemoryStore, how: str) -> None:
    org = store.org()
    ann, ben = (store.user(org, email=email) for email in ("ann@example.com", "ben@example.com"))
    store.write(lambda tx: notices.tell_of_webhook(tx, MAILING, FailingWebhook("wh_1", "https://a.example", None)), org)
    work = {
        "removed": lambda tx: memberships.remove(tx, ben, ann),
        "demoted": lambda tx: memberships.change_role(tx, ben, "member", ann),
        "disabled": lambda tx: users.disable(tx, ben, ann),
    }[how]
    store.write(work, org)
    assert status_of(store, "webhook_failing", "ben@example.com") == [("failed", False)]
    assert status_of(store, "webhook_failing", "ann@example.com") == [("queued", True)]
