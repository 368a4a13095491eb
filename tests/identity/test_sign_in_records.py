"""What the audit log says of who signed in and out, and who could not."""

import pytest
from soft_webauthn import SoftWebauthnDevice

from gatewayd.clock import MINUTE, to_wire
from gatewayd.identity import audit
from gatewayd.identity.audit import AuditEntry
from gatewayd.identity.people import users
from gatewayd.identity.sign_in import challenges, one_time_links, sign_in_records
from gatewayd.identity.sign_in.sessions import Visitor
from gatewayd.identity.sign_in.sign_in import NewSession, SecondFactorStep, WrongCredentials
from gatewayd.identity.sign_in.throttling import Locked
from tests.identity.test_passkeys import PARTY, created, registered
from tests.identity.test_sign_in import ATTEMPTS, EMAIL, HERE, PASSWORD, Firm
from tests.support.passwords import quick_hasher
from tests.support.store import MemoryStore

HEADER = Visitor(user_agent="Mozilla\x1b[31m" + "x" * 400, address="2001:db8::1")


@pytest.fixture
def firm(store: MemoryStore) -> Firm:
    return Firm(store, quick_hasher())


def entries(firm: Firm) -> list[AuditEntry]:
    """What was recorded of sign-ins, oldest first."""
    found = firm.store.read(lambda tx: audit.list_all(tx, audit.PAGE_MAX))
    return [entry for entry in reversed(found) if entry.action in audit.SIGN_IN_ACTIONS]


async def test_a_sign_in_tells_who_from_where_and_by_what(firm: Firm) -> None:
    first = await firm.password()
    assert isinstance(first, NewSession)
    again = Visitor(user_agent="Test", address="192.0.2.8", device=first.device)
    second = await firm.sign_in.with_password(EMAIL, PASSWORD, again)
    assert isinstance(second, NewSession)
    new, known = entries(firm)
    assert (new.action, new.actor, new.subject, new.org_id) == ("user.signed_in", firm.user_id, firm.user_id, None)
    expected = {"address": "192.0.2.7", "userAgent": "Test", "methods": ["pwd"], "session": first.session.id}
    assert new.detail == {**expected, "device": "new"}
    assert (known.detail["address"], known.detail["device"]) == ("192.0.2.8", "known")


async def test_a_second_factor_is_told_and_a_wrong_code_too(firm: Firm) -> None:
    code = firm.second_factor()
    step = await firm.password()
    assert isinstance(step, SecondFactorStep)
    assert entries(firm) == []  # half of it is no sign-in
    with pytest.raises(WrongCredentials):
        await firm.sign_in.with_code(step.first_factor, "000000", HERE)
    await firm.sign_in.with_code(step.first_factor, code(), HERE)
    wrong, right = entries(firm)
    assert (wrong.action, wrong.actor, wrong.subject) == ("user.sign_in_failed", "nobody", firm.user_id)
    assert (wrong.detail["method"], wrong.detail["reason"]) == ("otp", "wrong code")
    assert right.detail["methods"] == ["pwd", "otp", "mfa"]


async def test_a_wrong_password_tells_until_when_it_locked(firm: Firm) -> None:
    for _ in range(ATTEMPTS):
        with pytest.raises(WrongCredentials):
            await firm.password("wrong")
    for _ in range(5):  # a lock refuses without a look: nothing is recorded
        with pytest.raises(Locked):
            await firm.password("wrong")
    found = entries(firm)
    assert [entry.action for entry in found] == ["user.sign_in_failed"] * ATTEMPTS
    assert found[0].detail == {"address": "192.0.2.7", "userAgent": "Test", "method": "pwd", "reason": "wrong password"}
    until = to_wire(type(firm.store.now())(firm.store.now() + MINUTE))
    assert [entry.detail.get("lockedUntil") for entry in found] == [*[None] * (ATTEMPTS - 1), until]


async def test_what_was_typed_as_an_address_is_not_kept(firm: Firm) -> None:
    with pytest.raises(WrongCredentials):
        await firm.password(email=PASSWORD)
    (entry,) = entries(firm)
    assert (entry.action, entry.actor, entry.subject) == ("network.sign_in_failed", "nobody", "192.0.2.7")
    rows = firm.store.read(lambda tx: tx.rows("SELECT actor, action, subject, detail FROM audit_log"))
    assert PASSWORD not in str(rows)


async def test_who_is_disabled_is_told_apart_here_alone(firm: Firm) -> None:
    firm.store.write(lambda tx: users.disable(tx, firm.user_id, "operator"))
    with pytest.raises(WrongCredentials):
        await firm.password()
    (entry,) = entries(firm)
    assert (entry.subject, entry.detail["reason"]) == (firm.user_id, "disabled or changed")


async def test_a_passkey_is_told_and_one_that_is_refused(firm: Firm) -> None:
    user = firm.store.read(lambda tx: users.get(tx, firm.user_id))
    device = registered(firm.store, user)
    assert isinstance(await firm.sign_in.with_passkey(PARTY, firm.signed(device), HERE), NewSession)
    strange = SoftWebauthnDevice()
    created(user, strange)
    with pytest.raises(challenges.PasskeyError):
        await firm.sign_in.with_passkey(PARTY, firm.signed(strange), HERE)
    right, refused = entries(firm)
    assert (right.action, right.subject) == ("user.signed_in", firm.user_id)
    assert (refused.action, refused.subject) == ("network.sign_in_failed", "192.0.2.7")
    assert refused.detail["method"] == "swk"


async def test_a_link_is_told_and_one_that_is_none(firm: Firm) -> None:
    token = firm.store.write(lambda tx: one_time_links.make(tx, firm.user_id, "sign_in"))
    await firm.sign_in.with_link(token, HERE)
    with pytest.raises(WrongCredentials):
        await firm.sign_in.with_link(token, HERE)
    right, used = entries(firm)
    assert (right.detail["methods"], used.detail["reason"]) == (["otp"], "no such link")
    assert token not in str(used)


def test_strangers_push_out_strangers_and_nobody_else(firm: Firm) -> None:
    store = firm.store
    store.write(lambda tx: sign_in_records.failed(tx, firm.user_id, HERE, "pwd", "wrong password"))

    def flood(count: int, name: str) -> None:
        def work(tx: object) -> None:
            for number in range(count):
                visitor = Visitor(user_agent="", address=f"{name}{number}")
                sign_in_records.failed(tx, None, visitor, "pwd", "wrong password")  # type: ignore[arg-type]

        store.write(work)

    flood(audit.STRANGERS_MAX, "a")
    flood(3, "b")
    found = store.read(lambda tx: tx.rows("SELECT action, subject FROM audit_log ORDER BY id"))
    strangers = [subject for action, subject in found if action == "network.sign_in_failed"]
    assert len(strangers) == audit.STRANGERS_MAX
    assert (strangers[0], strangers[-1]) == ("a3", "b2")
    assert [subject for action, subject in found if action == "user.sign_in_failed"] == [firm.user_id]


def test_what_a_browser_says_of_itself_is_bounded_and_printable(firm: Firm) -> None:
    firm.store.write(lambda tx: sign_in_records.failed(tx, None, HEADER, "pwd", "wrong password"))
    firm.store.write(lambda tx: sign_in_records.failed(tx, None, Visitor(user_agent="", address=""), "pwd", "x"))
    named, local = entries(firm)
    agent = named.detail["userAgent"]
    assert isinstance(agent, str)
    assert agent.startswith("Mozilla[31mx")
    assert len(agent) == 300
    assert local.subject == sign_in_records.NO_ADDRESS
