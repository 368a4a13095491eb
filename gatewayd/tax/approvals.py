"""Who may use the restricted scopes: asked for, then approved or refused by an operator (Spec §5, rule 4).

Owns the table `tax_requests`. What decides is the approval on the key or the client itself, which acts on the next
request; this is the story of how it came about. A key that chose a restricted scope when it was made is a request too.
Each step leaves one line in the audit log, whoever takes it; a step that changes nothing leaves none. Who has access is
an API key of one organization, or a client of the instance.
"""

from typing import Final, Literal, NamedTuple

from gatewayd.clock import Instant
from gatewayd.contract.scopes import RESTRICTED
from gatewayd.contract.wire import Response, Timestamp
from gatewayd.errors import Problem, invalid_field, invalid_state, not_found
from gatewayd.identity import audit
from gatewayd.identity.clients import oauth_clients
from gatewayd.identity.keys import api_keys
from gatewayd.identity.keys.api_keys import ApiKey
from gatewayd.store import ReadTx, WriteTx

Status = Literal["pending", "approved", "refused"]

LIST_LIMIT: Final = 1_000  # Chosen
ATTESTATION_MAX: Final = 4_000  # Chosen, characters
REASON_MAX: Final = 1_000  # Chosen, characters
BY_OPERATOR: Final = "Approved by the operator of this instance, who answers for the vendor's compliance."

_COLUMNS = "id, org_id, kind, subject, status, attestation, requested_by, created_at, decided_by, decided_at, reason"
_INSERT_ANY_ORG = """
INSERT INTO tax_requests (id, org_id, kind, subject, status, attestation, requested_by, created_at)
VALUES (:id, :of_org, :kind, :subject, 'pending', :attestation, :actor, :now)
"""
_PENDING_ANY_ORG = f"""
SELECT {_COLUMNS} FROM tax_requests WHERE kind = :kind AND subject = :subject AND status = 'pending'
"""
_LAST_ANY_ORG = f"""
SELECT {_COLUMNS} FROM tax_requests WHERE kind = :kind AND subject = :subject ORDER BY id DESC LIMIT 1
"""
_LIST_ANY_ORG = f"SELECT {_COLUMNS} FROM tax_requests WHERE status = 'pending' ORDER BY id LIMIT :limit"
_DECIDE_ANY_ORG = """
UPDATE tax_requests SET status = :status, attestation = :attestation, reason = :reason, decided_by = :actor,
    decided_at = :now
WHERE id = :id
"""
Kind = Literal["key", "client"]


class Holder(NamedTuple):
    """What a subject is called, and what it is. `org_id` None: of the whole instance; `ended`: it works no more."""

    name: str
    org_id: str | None
    scopes: list[str]
    approved: bool
    ended: bool


class Subject(NamedTuple):
    """A key or a client by its id."""

    kind: Kind
    id: str


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


class Standing(NamedTuple):
    """How a key or client stands. `status` None: nobody has asked.

    `at` is when it was decided, or asked while it waits, and `by` who did that; both None where that is not known.
    `attestation` is what was declared last, `reason` why it was refused.
    """

    status: Status | None = None
    attestation: str | None = None
    reason: str | None = None
    at: Instant | None = None
    by: str | None = None


class Approved(NamedTuple):
    """A key or client that has access now. `org_id` is None for a client."""

    subject: Subject
    name: str
    org_id: str | None
    scopes: list[str]
    standing: Standing


class _Row(NamedTuple):
    """A row of the table."""

    id: str
    org_id: str | None
    kind: Kind
    subject: str
    status: Status
    attestation: str | None
    requested_by: str
    created_at: int
    decided_by: str | None
    decided_at: int | None
    reason: str | None


# -- what is done


def request(tx: WriteTx, subject: Subject, attestation: str | None, actor: str) -> TaxRequest:
    """Ask for access; asking again while it is undecided replaces what was declared.

    Raises `Problem`: `not_found`; `invalid_state` where there is nothing to ask for; `validation_failed` for an
    attestation that is too long.
    """
    holder, declared = holder_of(tx, subject), _check_attestation(attestation)
    _refuse_request(holder)
    pending = _pending(tx, subject)
    if pending is not None and pending.attestation == declared:
        return _render(pending, holder)
    if pending is not None:
        _decide(tx, pending, "refused", pending.attestation, "Asked again.", actor)
    _record(tx, subject, holder, actor, "requested", {"attestation": declared})
    return _render(_ask(tx, subject, holder, declared, actor), holder)


def approve(tx: WriteTx, subject: Subject, attestation: str | None, actor: str) -> Decision:
    """Open the restricted scopes to a key or client, from its next request on.

    `attestation` is what the vendor declared; None: what was declared with the request, or that the operator answers
    for it. Raises `Problem`: `not_found`; `invalid_state` for what works no more, or was made without a tax scope;
    `validation_failed` for an attestation that is too long.
    """
    holder, attested = holder_of(tx, subject), _check_attestation(attestation)
    refuse_useless(holder)
    if holder.approved and attested is None:
        return _decision(subject, holder, "approved", standing(tx, subject).attestation, None)
    pending = _pending(tx, subject)
    declared = attested or (None if pending is None else pending.attestation) or BY_OPERATOR
    _set(tx, subject, declared, actor)
    _decide(tx, pending or _ask(tx, subject, holder, None, actor), "approved", declared, None, actor)
    return _decision(subject, holder, "approved", declared, None)


def refuse(tx: WriteTx, subject: Subject, reason: str | None, actor: str) -> Decision:
    """Refuse a key or client the restricted scopes; those it had are withdrawn, from its next request on.

    Raises `Problem` `not_found`, or `validation_failed` for a reason that is too long.
    """
    if reason is not None and len(reason) > REASON_MAX:
        raise invalid_field("reason", "out_of_range", f"At most {REASON_MAX} characters.")
    holder = holder_of(tx, subject)
    pending, before = _pending(tx, subject), standing(tx, subject)
    if before.status == "refused":
        return _decision(subject, holder, "refused", None, before.reason)
    if holder.approved:
        _set(tx, subject, None, actor)
    else:
        _record(tx, subject, holder, actor, "refused", {"reason": reason})
    request = pending or _ask(tx, subject, holder, None, actor)
    _decide(tx, request, "refused", request.attestation, reason, actor)
    return _decision(subject, holder, "refused", None, reason)


# -- what is seen


def list_requests(tx: ReadTx) -> list[TaxRequest]:
    """What waits for a decision, the oldest first: requests, and keys that ask by their scopes alone."""
    requests = []
    for row in (_Row(*each) for each in tx.rows(_LIST_ANY_ORG, limit=LIST_LIMIT)):
        holder = find_holder(tx, Subject(row.kind, row.subject))
        if holder is not None and not holder.ended:
            requests.append(_render(row, holder))
    requests += [_of_key(key) for key in api_keys.list_tax_chosen(tx) if _last(tx, Subject("key", key.id)) is None]
    return sorted(requests, key=lambda request: request.requested_at)


def list_approved(tx: ReadTx) -> list[Approved]:
    """Who has access now: keys, then clients, each the oldest first."""
    approved = []
    for key in api_keys.list_tax_approved(tx):
        subject = Subject("key", key.id)
        approved.append(Approved(subject, key.name, key.org_id, key.scopes, _approval_of(tx, subject)))
    for client in oauth_clients.list_tax_approved(tx):
        subject = Subject("client", client.id)
        approved.append(Approved(subject, client.name, None, sorted(RESTRICTED), _approval_of(tx, subject)))
    return approved


def find_request(tx: ReadTx, subject: Subject) -> TaxRequest | None:
    """What waits for a decision of this key or client, as `list_requests` shows it."""
    holder, pending = find_holder(tx, subject), _pending(tx, subject)
    if holder is None or holder.ended:
        return None
    if pending is not None:
        return _render(pending, holder)
    key = api_keys.get(tx, subject.id) if subject.kind == "key" else None
    return None if key is None or not _asks(tx, key) else _of_key(key)


def standing(tx: ReadTx, subject: Subject) -> Standing:
    """How a key or client stands. Raises `Problem` `not_found`."""
    if holder_of(tx, subject).approved:
        return _approval_of(tx, subject)
    last = _last(tx, subject)
    if last is None:
        asking = find_request(tx, subject)
        if asking is None:
            return Standing()
        return Standing("pending", at=asking.requested_at, by=asking.requested_by)
    if last.status == "pending":
        return Standing("pending", last.attestation, None, Instant(last.created_at), last.requested_by)
    return Standing("refused", last.attestation, last.reason, _instant(last.decided_at), last.decided_by)


# -- parts


def _approval_of(tx: ReadTx, subject: Subject) -> Standing:
    """The approval of a key or client that has access. One that replaced another has no request."""
    last = _last(tx, subject)
    if last is None:
        return Standing("approved")
    return Standing("approved", last.attestation, None, _instant(last.decided_at), last.decided_by)


def _ask(tx: WriteTx, subject: Subject, holder: Holder, attestation: str | None, actor: str) -> _Row:
    """Store a request; a decision that nobody asked for has one too."""
    values = {**subject._asdict(), "subject": subject.id, "id": tx.new_id("txr")}
    tx.run(_INSERT_ANY_ORG, of_org=holder.org_id, attestation=attestation, actor=actor, **values)
    made = _pending(tx, subject)
    assert made is not None
    return made


def _decide(
    tx: WriteTx, request: _Row, status: Status, attestation: str | None, reason: str | None, actor: str
) -> None:
    tx.run(_DECIDE_ANY_ORG, id=request.id, status=status, attestation=attestation, reason=reason, actor=actor)


def _set(tx: WriteTx, subject: Subject, attestation: str | None, actor: str) -> None:
    """Approve, or with None withdraw; the audit log is told there. `get` has bound a key's organization."""
    if subject.kind == "client":
        oauth_clients.set_tax_approval(tx, subject.id, attestation, actor)
        return
    api_keys.set_tax_approval(tx, subject.id, attestation, actor)


def _record(
    tx: WriteTx,
    subject: Subject,
    holder: Holder,
    actor: str,
    done: Literal["requested", "refused"],
    detail: audit.Detail,
) -> None:
    actions: dict[tuple[Kind, str], audit.Action] = {
        ("key", "requested"): "key.tax_requested",
        ("key", "refused"): "key.tax_refused",
        ("client", "requested"): "client.tax_requested",
        ("client", "refused"): "client.tax_refused",
    }
    action = actions[subject.kind, done]
    detail = {"name": holder.name, **detail}
    audit.record(tx, audit.Act(actor=actor, action=action, subject=subject.id, org_id=holder.org_id, detail=detail))


def _refuse_request(holder: Holder) -> None:
    if holder.approved:
        message = f"{holder.name} has access already: there is nothing to ask for."
        raise invalid_state(message, "approved", ("unapproved",))
    refuse_useless(holder)


def _pending(tx: ReadTx, subject: Subject) -> _Row | None:
    row = tx.row(_PENDING_ANY_ORG, kind=subject.kind, subject=subject.id)
    return None if row is None else _Row(*row)


def _last(tx: ReadTx, subject: Subject) -> _Row | None:
    row = tx.row(_LAST_ANY_ORG, kind=subject.kind, subject=subject.id)
    return None if row is None else _Row(*row)


def _asks(tx: ReadTx, key: ApiKey) -> bool:
    """Whether a key asks by its scopes alone, and nobody has decided."""
    if key.tax_approved or not RESTRICTED.intersection(key.scopes):
        return False
    return _last(tx, Subject("key", key.id)) is None


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


def _render(row: _Row, holder: Holder) -> TaxRequest:
    return TaxRequest(
        id=row.id,
        kind=row.kind,
        subject=row.subject,
        name=holder.name,
        org_id=row.org_id,
        scopes=holder.scopes,
        attestation=row.attestation,
        requested_by=row.requested_by,
        requested_at=Instant(row.created_at),
    )


def _decision(
    subject: Subject, holder: Holder, status: Status, attestation: str | None, reason: str | None
) -> Decision:
    return Decision(
        kind=subject.kind,
        subject=subject.id,
        name=holder.name,
        status=status,
        attestation=attestation,
        reason=reason,
    )


def _check_attestation(attestation: str | None) -> str | None:
    if attestation is not None and len(attestation) > ATTESTATION_MAX:
        raise invalid_field("attestation", "out_of_range", f"At most {ATTESTATION_MAX} characters.")
    return attestation


def _instant(microseconds: int | None) -> Instant | None:
    return None if microseconds is None else Instant(microseconds)


def holder_of(tx: ReadTx, subject: Subject) -> Holder:
    """The key or client, the transaction bound to the organization of a key. Raises `Problem` `not_found`."""
    holder = find_holder(tx, subject)
    if holder is None:
        raise not_found("API key" if subject.kind == "key" else "client")
    return holder


def find_holder(tx: ReadTx, subject: Subject) -> Holder | None:
    """The same; None where there is no such key or client."""
    if subject.kind == "client":
        client = oauth_clients.find(tx, subject.id)
        if client is None:
            return None
        return Holder(client.name, None, sorted(RESTRICTED), client.tax_approved, client.revoked)
    try:
        org_id = api_keys.organization_of(tx, subject.id)
    except Problem:
        return None
    tx.bind(org_id)
    key = api_keys.get(tx, subject.id)
    ended = key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= tx.now)
    return Holder(key.name, org_id, key.scopes, key.tax_approved, ended)


def refuse_useless(holder: Holder) -> None:
    """Raises `Problem` `invalid_state` for what approval would open nothing to."""
    if holder.ended:
        raise invalid_state(f"{holder.name} does not work any more: ask for another.", "ended", ("unapproved",))
    if holder.scopes and not RESTRICTED.intersection(holder.scopes):
        message = f"{holder.name} was made without a tax scope: make a key that has one."
        raise invalid_state(message, "without_tax_scope", ("unapproved",))
