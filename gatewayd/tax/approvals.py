"""Who may use the restricted scopes: asked for, then approved or refused by an operator (Spec §5, rule 4).

Owns the table `tax_requests`. What decides is the approval on the key or the client itself, which acts on the next
request; this is the story of how it came about. A key that chose a restricted scope when it was made is a request too.
"""

from typing import Final, Literal, NamedTuple

from gatewayd.clock import Instant, to_wire
from gatewayd.contract.scopes import RESTRICTED
from gatewayd.contract.wire import Response, Timestamp
from gatewayd.errors import Problem, invalid_field, not_found
from gatewayd.identity import api_keys, oauth_clients
from gatewayd.identity.api_keys import ApiKey
from gatewayd.store import ReadTx, Row, WriteTx

Kind = Literal["key", "client"]
Status = Literal["pending", "approved", "refused"]

LIST_LIMIT: Final = 1_000  # Chosen
ATTESTATION_MAX: Final = 4_000  # Chosen, characters
BY_OPERATOR: Final = "Approved by the operator of this instance, who answers for the vendor's compliance."

_INSERT_ANY_ORG = """
INSERT INTO tax_requests (id, org_id, kind, subject, status, attestation, requested_by, created_at)
VALUES (:id, :of_org, :kind, :subject, 'pending', :attestation, :actor, :now)
"""
_PENDING_ANY_ORG = """
SELECT id, org_id, kind, subject, status, attestation, requested_by, created_at FROM tax_requests
WHERE kind = :kind AND subject = :subject AND status = 'pending'
"""
_LAST_ANY_ORG = """
SELECT status FROM tax_requests WHERE kind = :kind AND subject = :subject ORDER BY id DESC LIMIT 1
"""
_LIST_ANY_ORG = """
SELECT id, org_id, kind, subject, status, attestation, requested_by, created_at FROM tax_requests
WHERE status = 'pending' ORDER BY id LIMIT :limit
"""
_DECIDE_ANY_ORG = """
UPDATE tax_requests SET status = :status, attestation = :attestation, reason = :reason, decided_by = :actor,
    decided_at = :now
WHERE id = :id
"""


class TaxRequest(Response, frozen=True, kw_only=True):
    """A request that nobody has decided. `id` is None for a key that asks by its scopes alone.

    `subject` is the key's or client's id, `name` what it is called; `orgId` is None for a client.
    """

    id: str | None
    kind: Kind
    subject: str
    name: str
    org_id: str | None
    scopes: list[str]
    attestation: str | None
    requested_by: str
    requested_at: Timestamp


class Decision(Response, frozen=True, kw_only=True):
    """What became of a key's or client's access to taxes."""

    kind: Kind
    subject: str
    name: str
    status: Status
    attestation: str | None
    reason: str | None


class Subject(NamedTuple):
    """A key or a client by its id."""

    kind: Kind
    id: str


class _Named(NamedTuple):
    """What a subject is called. `org_id` None: of the whole instance."""

    name: str
    org_id: str | None
    scopes: list[str]


def request(tx: WriteTx, subject: Subject, attestation: str | None, actor: str) -> TaxRequest:
    """Ask for access; asking again while it is undecided replaces what was declared.

    Raises `Problem` `not_found`, or `validation_failed` for an attestation that is too long.
    """
    named, declared = _named(tx, subject), _checked(attestation)
    pending = tx.row(_PENDING_ANY_ORG, kind=subject.kind, subject=subject.id)
    if pending is not None:
        withdrawn = "Asked again."
        tx.run(_DECIDE_ANY_ORG, id=pending[0], status="refused", attestation=pending[5], reason=withdrawn, actor=actor)
    id_ = tx.new_id("txr")
    tx.run(
        _INSERT_ANY_ORG,
        id=id_,
        of_org=named.org_id,
        kind=subject.kind,
        subject=subject.id,
        attestation=declared,
        actor=actor,
    )
    row = tx.row(_PENDING_ANY_ORG, kind=subject.kind, subject=subject.id)
    assert row is not None
    return _shown(row, named)


def list_requests(tx: ReadTx) -> list[TaxRequest]:
    """What waits for a decision, the oldest first: requests, then keys that ask by their scopes alone."""
    requests = []
    for row in tx.rows(_LIST_ANY_ORG, limit=LIST_LIMIT):
        named = _find(tx, Subject(row[2], row[3]))
        if named is not None:
            requests.append(_shown(row, named))
    asked = {one.subject for one in requests}
    keys = [key for key in reversed(api_keys.list_all(tx)) if key.id not in asked and _asks(tx, key)]
    return [*requests, *map(_of_key, keys)]


def approve(tx: WriteTx, subject: Subject, attestation: str | None, actor: str) -> Decision:
    """Open the restricted scopes to a key or client, from its next request on.

    `attestation` is what the vendor declared; None: what was declared with the request, or that the operator answers
    for it. Raises `Problem` `not_found`, or `validation_failed` for an attestation that is too long.
    """
    named = _named(tx, subject)
    pending = tx.row(_PENDING_ANY_ORG, kind=subject.kind, subject=subject.id)
    declared = _checked(attestation) or (None if pending is None else pending[5]) or BY_OPERATOR
    _set(tx, subject, named, declared, actor)
    _decide(tx, subject, Decided("approved", declared, None, actor), named)
    return _decision(subject, named, "approved", declared, None)


def refuse(tx: WriteTx, subject: Subject, reason: str | None, actor: str) -> Decision:
    """Refuse a key or client the restricted scopes; those it had are withdrawn, from its next request on.

    Raises `Problem` `not_found`.
    """
    named = _named(tx, subject)
    _set(tx, subject, named, None, actor)
    _decide(tx, subject, Decided("refused", None, reason, actor), named)
    return _decision(subject, named, "refused", None, reason)


class Decided(NamedTuple):
    """How a request was decided, and by whom."""

    status: Status
    attestation: str | None
    reason: str | None
    actor: str


def _decide(tx: WriteTx, subject: Subject, decided: Decided, named: _Named) -> None:
    """Write the decision to the undecided request; one that nobody made is made for it."""
    pending = tx.row(_PENDING_ANY_ORG, kind=subject.kind, subject=subject.id)
    if pending is None:
        request(tx, subject, None, decided.actor)
        pending = tx.row(_PENDING_ANY_ORG, kind=subject.kind, subject=subject.id)
        assert pending is not None
    values = decided._asdict()
    values["attestation"] = decided.attestation or pending[5]
    tx.run(_DECIDE_ANY_ORG, id=pending[0], **values)


def _set(tx: WriteTx, subject: Subject, named: _Named, attestation: str | None, actor: str) -> None:
    if subject.kind == "client":
        oauth_clients.set_tax_approval(tx, subject.id, attestation, actor)
        return
    assert named.org_id is not None
    tx.bind(named.org_id)
    api_keys.set_tax_approval(tx, subject.id, attestation, actor)


def _named(tx: ReadTx, subject: Subject) -> _Named:
    found = _find(tx, subject)
    if found is None:
        raise not_found("API key" if subject.kind == "key" else "client")
    return found


def _find(tx: ReadTx, subject: Subject) -> _Named | None:
    if subject.kind == "client":
        client = oauth_clients.find(tx, subject.id)
        return None if client is None else _Named(client.name, None, sorted(RESTRICTED))
    try:
        org_id = api_keys.organization_of(tx, subject.id)
    except Problem:
        return None
    tx.bind(org_id)
    key = api_keys.get(tx, subject.id)
    return _Named(key.name, org_id, key.scopes)


def _asks(tx: ReadTx, key: ApiKey) -> bool:
    """Whether a key asks by its scopes alone, and nobody has decided."""
    if key.tax_approved or key.revoked_at is not None or not RESTRICTED.intersection(key.scopes):
        return False
    return tx.value(_LAST_ANY_ORG, kind="key", subject=key.id) is None


def _of_key(key: ApiKey) -> TaxRequest:
    return TaxRequest(
        id=None,
        kind="key",
        subject=key.id,
        name=key.name,
        org_id=key.org_id,
        scopes=key.scopes,
        attestation=None,
        requested_by=key.user_id,
        requested_at=key.created_at,
    )


def _shown(row: Row, named: _Named) -> TaxRequest:
    id_, org_id, kind, subject, _, attestation, requested_by, created_at = row
    return TaxRequest(
        id=id_,
        kind=kind,
        subject=subject,
        name=named.name,
        org_id=org_id,
        scopes=named.scopes,
        attestation=attestation,
        requested_by=requested_by,
        requested_at=to_wire(Instant(created_at)),
    )


def _decision(subject: Subject, named: _Named, status: Status, attestation: str | None, reason: str | None) -> Decision:
    return Decision(
        kind=subject.kind,
        subject=subject.id,
        name=named.name,
        status=status,
        attestation=attestation,
        reason=reason,
    )


def _checked(attestation: str | None) -> str | None:
    if attestation is not None and len(attestation) > ATTESTATION_MAX:
        raise invalid_field("attestation", "out_of_range", f"At most {ATTESTATION_MAX} characters.")
    return attestation
