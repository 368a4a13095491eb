"""Each step of an approval leaves one line in the audit log, and a step that changes nothing leaves none."""

import secrets

import pytest

from gatewayd.clock import SECOND
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.identity.clients import client_metadata, oauth_clients
from gatewayd.identity.key_format import RANDOM_BYTES
from gatewayd.identity.keys import api_keys
from gatewayd.tax import approvals
from gatewayd.tax.approvals import ATTESTATION_MAX, BY_OPERATOR, REASON_MAX, Kind, Standing, Subject
from tests.support.store import START, MemoryStore

ANN, ROOT = "usr_ann", "usr_root"


class House:
    """One organization, and the subjects that ask."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.org_id = store.org()
        self.user_id = store.user(self.org_id)

    def key(self, *scopes: str) -> Subject:
        new = api_keys.NewKey(name="Till", user_id=self.user_id, scopes=scopes)
        random = secrets.token_bytes(RANDOM_BYTES)
        return Subject("key", self.store.write(lambda tx: api_keys.create(tx, new, random, ANN), self.org_id).id)

    def client(self) -> Subject:
        raw = {"client_name": "Sprout", "redirect_uris": ["https://app.example/"]}
        metadata = client_metadata.validate(raw)
        return Subject("client", self.store.write(lambda tx: oauth_clients.register(tx, metadata)).id)

    def subject(self, kind: Kind) -> Subject:
        return self.key("tax:read") if kind == "key" else self.client()

    def ask(self, subject: Subject, declared: str | None = "We comply.") -> None:
        self.store.write(lambda tx: approvals.request(tx, subject, declared, ANN))

    def approve(self, subject: Subject, declared: str | None = None) -> approvals.Decision:
        return self.store.write(lambda tx: approvals.approve(tx, subject, declared, ROOT))

    def refuse(self, subject: Subject, reason: str | None = "No terms.") -> approvals.Decision:
        return self.store.write(lambda tx: approvals.refuse(tx, subject, reason, ROOT))

    def standing(self, subject: Subject) -> Standing:
        return self.store.read(lambda tx: approvals.standing(tx, subject))

    def lines(self) -> list[tuple[str, str, str, str | None]]:
        """Actor, action, subject and organization, the oldest first."""
        entries = [each for each in reversed(self.store.read(audit.list_all)) if ".tax_" in each.action]
        return [(each.actor, each.action, each.subject, each.org_id) for each in entries]

    def detail(self) -> audit.Detail:
        """Of the newest line."""
        return self.store.read(audit.list_all)[0].detail


@pytest.fixture
def house(store: MemoryStore) -> House:
    return House(store)


@pytest.mark.parametrize("kind", ["key", "client"])
def test_each_step_leaves_one_line(house: House, kind: Kind) -> None:
    subject = house.subject(kind)
    org_id = house.org_id if kind == "key" else None
    expected = []
    for actor, step, action in (
        (ANN, house.ask, "requested"),
        (ROOT, house.approve, "approved"),
        (ROOT, house.refuse, "withdrawn"),
        (ANN, house.ask, "requested"),
        (ROOT, house.refuse, "refused"),
    ):
        step(subject)
        expected.append((actor, f"{kind}.tax_{action}", subject.id, org_id))
        assert house.lines() == expected


@pytest.mark.parametrize("kind", ["key", "client"])
def test_a_step_again_leaves_none(house: House, kind: Kind) -> None:
    subject = house.subject(kind)
    for step in (house.ask, house.approve, house.refuse):
        step(subject)
        before, standing = house.lines(), house.standing(subject)
        house.store.clock.advance(SECOND)
        if step != house.ask or standing.status == "pending":
            step(subject)
        assert (house.lines(), house.standing(subject)) == (before, standing)


@pytest.mark.parametrize("kind", ["key", "client"])
def test_a_decision_that_nobody_asked_for_leaves_one_line(house: House, kind: Kind) -> None:
    for step, action in ((house.approve, "approved"), (house.refuse, "refused")):
        before = len(house.lines())
        step(house.subject(kind))
        assert [line[1] for line in house.lines()[before:]] == [f"{kind}.tax_{action}"]


def test_the_lines_tell_what_was_declared_and_why(house: House) -> None:
    subject = house.key("tax:read")
    house.ask(subject, "A\n b ")
    assert house.detail() == {"name": "Till", "attestation": "A\n b "}
    house.refuse(subject, "Why?")
    assert house.detail() == {"name": "Till", "reason": "Why?"}
    house.approve(subject, "Signed.")
    assert house.detail() == {"attestation": "Signed."}


def test_a_new_declaration_of_what_is_approved_is_recorded(house: House) -> None:
    subject = house.client()
    house.approve(subject)
    assert house.standing(subject).attestation == BY_OPERATOR
    assert house.approve(subject).attestation == BY_OPERATOR
    house.approve(subject, "Signed since.")
    assert house.standing(subject).attestation == "Signed since."
    assert len(house.lines()) == 2


def test_how_something_stands(house: House) -> None:
    legacy, chosen = house.key(), house.key("tax:write")
    assert house.standing(legacy) == Standing()
    assert house.standing(chosen) == Standing("pending", None, None, START, house.user_id)
    house.store.clock.advance(SECOND)
    house.ask(legacy)
    assert house.standing(legacy) == Standing("pending", "We comply.", None, START + SECOND, ANN)
    house.approve(legacy)
    assert house.standing(legacy) == Standing("approved", "We comply.", None, START + SECOND, ROOT)
    house.refuse(legacy)
    assert house.standing(legacy) == Standing("refused", None, "No terms.", START + SECOND, ROOT)


def test_what_is_refused_asks_again_in_words_alone(house: House) -> None:
    subject = house.key("tax:read")
    assert [each.subject for each in house.store.read(approvals.list_requests)] == [subject.id]
    house.refuse(subject)
    assert house.store.read(approvals.list_requests) == []
    house.ask(subject)
    assert [each.subject for each in house.store.read(approvals.list_requests)] == [subject.id]


@pytest.mark.parametrize("what", ["approved", "revoked", "expired", "without a tax scope", "a revoked client"])
def test_there_must_be_something_to_ask_for(house: House, what: str) -> None:
    subject = house.key("accounting:read" if what == "without a tax scope" else "tax:read")
    if what == "approved":
        house.approve(subject)
    elif what == "revoked":
        house.store.write(lambda tx: api_keys.revoke(tx, subject.id, ANN), house.org_id)
    elif what == "expired":
        random = secrets.token_bytes(RANDOM_BYTES)
        house.store.write(lambda tx: api_keys.rotate(tx, subject.id, 0, random, ANN), house.org_id)
    elif what == "a revoked client":
        subject = house.client()
        house.store.write(lambda tx: oauth_clients.revoke(tx, subject.id, ROOT))
    before = house.lines()
    for step in (house.ask,) if what == "approved" else (house.ask, house.approve):
        with pytest.raises(Problem) as caught:
            step(subject)
        assert caught.value.code == "invalid_state"
    assert house.lines() == before


def test_texts_have_a_limit(house: House) -> None:
    subject = house.key("tax:read")
    for step, most in ((house.ask, ATTESTATION_MAX), (house.approve, ATTESTATION_MAX), (house.refuse, REASON_MAX)):
        with pytest.raises(Problem) as caught:
            step(subject, "x" * (most + 1))
        assert caught.value.code == "validation_failed"
    assert house.lines() == []


def test_what_ended_neither_waits_nor_has_access(house: House) -> None:
    waiting, approved = house.key("tax:read"), house.key("tax:read")
    app, open_app = house.client(), house.client()
    for subject in (waiting, app):
        house.ask(subject)
    for subject in (approved, open_app):
        house.approve(subject)
    assert len(house.store.read(approvals.list_requests)) == len(house.store.read(approvals.list_approved)) == 2
    for subject in (waiting, approved):
        house.store.write(lambda tx, id_=subject.id: api_keys.revoke(tx, id_, ANN), house.org_id)
    for subject in (app, open_app):
        house.store.write(lambda tx, id_=subject.id: oauth_clients.revoke(tx, id_, ROOT))
    assert house.store.read(approvals.list_requests) == house.store.read(approvals.list_approved) == []
    assert house.store.read(lambda tx: approvals.find_request(tx, waiting)) is None
