"""API keys: made, listed, rotated and revoked by the people of one organization (Spec §5, API keys).

A key acts as the organization of the transaction it was made in, with the role its creator has there, and ends with
their membership. One that belongs to the organization has a role of its own, acts for no user, and ends with nobody's.
Only a key's hash is stored; the text leaves `create` and `rotate` once. Nothing is deleted: revoked and expired keys
stay in the list.
"""

import datetime
from collections.abc import Collection, Sequence
from typing import Literal

import msgspec

from gatewayd.clock import DAY, Instant, to_wire
from gatewayd.contract.holding import Held
from gatewayd.contract.scopes import ordered
from gatewayd.contract.wire import Response, Timestamp, encode
from gatewayd.errors import FieldError, Problem, invalid, invalid_field, invalid_state, not_found
from gatewayd.identity import audit
from gatewayd.identity.key_format import hash_key, hint_of, make_key
from gatewayd.identity.keys.key_restrictions import (
    effective_scopes,
    held_mistakes,
    held_to,
    validate_networks,
    validate_scopes,
)
from gatewayd.identity.open_access import Opening, Sought
from gatewayd.identity.people import memberships
from gatewayd.identity.people.organizations import LAST, validate_name
from gatewayd.store import ReadTx, Row, WriteTx

KeyRole = Literal["admin", "member"]
"""The role of a key that belongs to an organization. Chosen: none is an owner, who says who belongs to it."""
OVERLAP_MAX = 30 * DAY  # Chosen
LIST_LIMIT = 10_000  # Chosen

_COLUMNS = """id, org_id, user_id, name, hint, scopes, networks, tax_approved_at, expires_at, last_used_day,
revoked_at, replaced_by, created_at, role, held_entities, held_from, held_to"""
_INSERT = """
INSERT INTO api_keys (
    id, org_id, user_id, name, hash, hint, scopes, networks, tax_approved_at, expires_at, created_at, role,
    held_entities, held_from, held_to
) VALUES (
    :id, :org_id, :user_id, :name, :hash, :hint, :scopes, :networks, :tax_approved_at, :expires_at, :now, :role,
    :held_entities, :held_from, :held_to
)
"""
_GET = f"SELECT {_COLUMNS} FROM api_keys WHERE org_id = :org_id AND id = :id"
_MADE_OF = f"SELECT {_COLUMNS} FROM api_keys WHERE org_id = :org_id AND hash = :hash"
_LIST = f"SELECT {_COLUMNS} FROM api_keys WHERE org_id = :org_id ORDER BY id DESC LIMIT :limit"
_LIST_ALL = f"SELECT {_COLUMNS} FROM api_keys ORDER BY id DESC LIMIT :limit"
_LIVES = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)"
_OF = "(CAST(:user_id AS TEXT) IS NULL OR (user_id = :user_id AND role IS NULL))"
_LIST_LIVE = f"""
SELECT {_COLUMNS} FROM api_keys WHERE org_id = :org_id AND id < :before AND {_LIVES} AND {_OF}
ORDER BY id DESC LIMIT :limit
"""
_LIST_ENDED = f"""
SELECT {_COLUMNS} FROM api_keys WHERE org_id = :org_id AND id < :before AND NOT ({_LIVES}) AND {_OF}
ORDER BY id DESC LIMIT :limit
"""
_COUNT_LIVE = f"SELECT count(id) FROM api_keys WHERE org_id = :org_id AND {_LIVES} AND {_OF}"
_COUNT_ENDED = f"SELECT count(id) FROM api_keys WHERE org_id = :org_id AND NOT ({_LIVES}) AND {_OF}"
_LIST_FOR_TAXES = f"""
SELECT {_COLUMNS} FROM api_keys
WHERE org_id = :org_id AND {_LIVES} AND {_OF} AND (scopes = '' OR scopes LIKE '%tax:%' ESCAPE '!')
ORDER BY id DESC LIMIT :limit
"""
_TAX_APPROVED_ANY_ORG = f"""
SELECT {_COLUMNS} FROM api_keys WHERE tax_approved_at IS NOT NULL AND {_LIVES} ORDER BY id LIMIT :limit
"""
_TAX_CHOSEN_ANY_ORG = f"""
SELECT {_COLUMNS} FROM api_keys WHERE tax_approved_at IS NULL AND scopes LIKE '%tax:%' ESCAPE '!' AND {_LIVES}
ORDER BY id LIMIT :limit
"""
_WORKS = """
SELECT 1 FROM api_keys
WHERE org_id = :org_id AND id = :id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :at)
"""
_SELECT_OPEN = """
SELECT k.id, k.name, k.user_id, k.role, k.created_at, k.expires_at, k.last_used_day
FROM api_keys k LEFT JOIN memberships m ON m.org_id = k.org_id AND m.user_id = k.user_id
WHERE k.org_id = :org_id AND k.id >= :first AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > :at)
    AND (k.role IS NOT NULL OR m.user_id IS NOT NULL)
    AND (CAST(:user_id AS TEXT) IS NULL OR (k.user_id = :user_id AND k.role IS NULL))
ORDER BY k.id LIMIT :limit
"""
_IS_ENTITY = "SELECT 1 FROM legal_entities WHERE org_id = :org_id AND id = :id"
_OWNER = "SELECT org_id FROM api_keys WHERE id = :id"
_REVOKE = "UPDATE api_keys SET revoked_at = :now WHERE org_id = :org_id AND id = :id AND revoked_at IS NULL"
_REVOKE_OF_MEMBER = f"""
UPDATE api_keys SET revoked_at = :now WHERE org_id = :org_id AND user_id = :user_id AND role IS NULL AND {_LIVES}
RETURNING id, org_id
"""
_REVOKE_OF_USER_ANY_ORG = f"""
UPDATE api_keys SET revoked_at = :now WHERE user_id = :user_id AND role IS NULL AND {_LIVES} RETURNING id, org_id
"""
_REPLACE = """
UPDATE api_keys SET replaced_by = :replaced_by, expires_at = :expires_at WHERE org_id = :org_id AND id = :id
"""
_SET_TAX = "UPDATE api_keys SET tax_approved_at = :tax_approved_at WHERE org_id = :org_id AND id = :id"
_NOTE_USE = """
UPDATE api_keys SET last_used_day = :day WHERE id = :id AND (last_used_day IS NULL OR last_used_day < :day)
"""


class ApiKey(Response, frozen=True, kw_only=True):
    """A key as lists show it, which is without the key.

    `scopes` are those that were chosen; `full_access` marks a legacy key for which none were. `effective_scopes` are
    those that open anything now: `tax:*` only once approved. `last_used` is a day, UTC. `user_id` is who made it;
    `role` that of a key which belongs to the organization, None: it belongs to who made it. `held_entities` are the ids
    of the legal entities that it sees alone, None: all; `held_from` and `held_to` the days, None: any.
    """

    id: str
    org_id: str
    user_id: str
    name: str
    hint: str
    scopes: list[str]
    full_access: bool
    effective_scopes: list[str]
    tax_approved: bool
    networks: list[str]
    expires_at: Timestamp | None
    last_used: str | None
    revoked_at: Timestamp | None
    replaced_by: str | None
    created_at: Timestamp
    role: KeyRole | None
    held_entities: list[str] | None
    held_from: str | None
    held_to: str | None


class CreatedKey(Response, frozen=True, kw_only=True):
    """The response that shows the key, the only time."""

    id: str
    key: str
    scopes: list[str]

    def __repr__(self) -> str:
        return f"CreatedKey(id={self.id!r})"


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key to be made. No scopes: legacy full access. No networks: anywhere. `expires_at` None: never.

    `role` makes it the organization's, and needs scopes. None: it belongs to its maker `user_id`. `held`: what it sees
    alone, and reads alone; None: all that its scopes open.
    """

    name: str
    user_id: str
    scopes: Sequence[str] = ()
    networks: Sequence[str] = ()
    expires_at: Instant | None = None
    role: KeyRole | None = None
    held: Held | None = None


class _KeyRow(msgspec.Struct, frozen=True):
    """A row, in the order of `_COLUMNS`."""

    id: str
    org_id: str
    user_id: str
    name: str
    hint: str
    scopes: str
    networks: str
    tax_approved_at: int | None
    expires_at: int | None
    last_used_day: str | None
    revoked_at: int | None
    replaced_by: str | None
    created_at: int
    role: KeyRole | None
    held_entities: str | None
    held_from: str | None
    held_to: str | None


def create(tx: WriteTx, new: NewKey, random: bytes, actor: str) -> CreatedKey:
    """Make a key in the transaction's organization of 32 `random` bytes.

    Raises `Problem` `validation_failed`, also when the creator is no member or is disabled, and `forbidden` for a key
    of the organization that neither an owner nor an admin makes.
    """
    creator = _validate_creator(tx, new.user_id)
    if new.role is not None:
        _check_given_to_organization(tx, new)
    if new.held is not None:
        _check_held(tx, new.held, new.scopes)
    entities = None if new.held is None else new.held.entities
    stored = _KeyRow(
        id=tx.new_id("key"),
        org_id=tx.org_id,
        user_id=creator,
        name=validate_name("name", new.name),
        hint="",
        scopes=" ".join(validate_scopes(new.scopes)),
        networks=" ".join(validate_networks(new.networks)),
        tax_approved_at=None,
        expires_at=_validate_expiry(tx, new.expires_at),
        last_used_day=None,
        revoked_at=None,
        replaced_by=None,
        created_at=tx.now,
        role=new.role,
        held_entities=None if entities is None else encode(sorted(entities)).decode(),
        held_from=None if new.held is None else new.held.first,
        held_to=None if new.held is None else new.held.last,
    )
    detail: audit.Detail = {"name": stored.name, "scopes": stored.scopes.split()}
    if stored.role is not None:
        detail["role"] = stored.role
    if new.held is not None:
        detail["heldEntities"] = None if entities is None else sorted(entities)
        detail |= {"heldFrom": new.held.first, "heldTo": new.held.last}
    _record(tx, "key.created", stored.id, actor, detail)
    return _insert(tx, stored, random)


def rotate(tx: WriteTx, key_id: str, overlap: int, random: bytes, actor: str) -> CreatedKey:
    """Make a key with the settings of another, which goes on for `overlap` microseconds at most.

    A key that was to expire is followed by one with the same lifetime, counted from now.
    Raises `Problem`: `not_found`; `invalid_state` for one that is revoked, expired, rotated
    already, or whose creator is no longer a member or is disabled, unless it is the organization's.
    """
    if not 0 <= overlap <= OVERLAP_MAX:
        raise invalid_field("overlap", "out_of_range", f"At most {OVERLAP_MAX // DAY} days.")
    old = _find(tx, key_id)
    _check_rotation(tx, old)
    lifetime = None if old.expires_at is None else old.expires_at - old.created_at
    successor = msgspec.structs.replace(
        old,
        id=tx.new_id("key"),
        expires_at=None if lifetime is None else tx.now + lifetime,
        created_at=tx.now,
    )
    created = _insert(tx, successor, random)
    end = tx.now + overlap if old.expires_at is None else min(tx.now + overlap, old.expires_at)
    tx.run(_REPLACE, id=old.id, replaced_by=created.id, expires_at=end)
    _record(tx, "key.rotated", old.id, actor, {"replacedBy": created.id, "worksUntil": to_wire(Instant(end))})
    return created


def revoke(tx: WriteTx, key_id: str, actor: str) -> ApiKey:
    """End a key now (Spec §5, API keys, rule 8). Revoking again changes nothing. Raises `Problem` `not_found`."""
    if tx.run(_REVOKE, id=key_id):
        _record(tx, "key.revoked", key_id, actor, {})
    return _to_api_key(_find(tx, key_id))


def revoke_membership(tx: WriteTx, user_id: str, actor: str) -> int:
    """End the keys of one person in the transaction's organization; returns how many. Its own keys go on."""
    return _record_revoked(tx, tx.rows(_REVOKE_OF_MEMBER, user_id=user_id), actor)


def revoke_user(tx: WriteTx, user_id: str, actor: str) -> int:
    """End the keys of one person, in every organization; returns how many. Those of organizations go on."""
    return _record_revoked(tx, tx.rows(_REVOKE_OF_USER_ANY_ORG, user_id=user_id), actor)


def set_tax_approval(tx: WriteTx, key_id: str, attestation: str | None, actor: str) -> ApiKey:
    """Make the key's `tax:*` scopes effective, or with None no longer effective. Raises `Problem` `not_found`.

    `attestation` is what the vendor declared, recorded word for word.
    """
    approved = attestation is not None
    tx.run(_SET_TAX, id=key_id, tax_approved_at=tx.now if approved else None)
    key = _to_api_key(_find(tx, key_id))
    _record(tx, "key.tax_approved" if approved else "key.tax_withdrawn", key_id, actor, {"attestation": attestation})
    return key


def get(tx: ReadTx, key_id: str) -> ApiKey:
    """One key of the transaction's organization. Raises `Problem` `not_found`."""
    return _to_api_key(_find(tx, key_id))


def find_made_of(tx: ReadTx, random: bytes) -> CreatedKey | None:
    """The key of the transaction's organization that was made of these bytes, as it was answered; None: none was."""
    key = make_key(random)
    row = tx.row(_MADE_OF, hash=hash_key(key))
    if row is None:
        return None
    stored = _KeyRow(*row)
    return CreatedKey(id=stored.id, key=key, scopes=stored.scopes.split())


def list_keys(tx: ReadTx) -> list[ApiKey]:
    """The keys of the transaction's organization, newest first."""
    return [_to_api_key(_KeyRow(*row)) for row in tx.rows(_LIST, limit=LIST_LIMIT)]


def list_live(tx: ReadTx, user_id: str | None, before: str, limit: int) -> list[ApiKey]:
    """Keys of the organization that are neither revoked nor expired, newest first: those below an id, empty: from the
    newest on. `user_id`: those alone that act for this person; None: all.
    """
    rows = tx.rows(_LIST_LIVE, user_id=user_id, before=before or LAST, now=tx.now, limit=limit)
    return [_to_api_key(_KeyRow(*row)) for row in rows]


def list_ended(tx: ReadTx, user_id: str | None, limit: int) -> list[ApiKey]:
    """The newest of those that are revoked or expired; `user_id` as in `list_live`."""
    rows = tx.rows(_LIST_ENDED, user_id=user_id, before=LAST, now=tx.now, limit=limit)
    return [_to_api_key(_KeyRow(*row)) for row in rows]


def list_for_taxes(tx: ReadTx, user_id: str | None) -> list[ApiKey]:
    """Those of `list_live` to which an approval would open anything: with a scope of taxes, or legacy full access."""
    rows = tx.rows(_LIST_FOR_TAXES, user_id=user_id, now=tx.now, limit=LIST_LIMIT)
    return [_to_api_key(_KeyRow(*row)) for row in rows]


def count_live(tx: ReadTx, user_id: str | None) -> int:
    """How many `list_live` has on all its pages."""
    return int(tx.value(_COUNT_LIVE, user_id=user_id, now=tx.now))


def count_ended(tx: ReadTx, user_id: str | None) -> int:
    """How many are revoked or expired."""
    return int(tx.value(_COUNT_ENDED, user_id=user_id, now=tx.now))


def list_all(tx: ReadTx) -> list[ApiKey]:
    """The keys of every organization, newest first."""
    return [_to_api_key(_KeyRow(*row)) for row in tx.rows(_LIST_ALL, limit=LIST_LIMIT)]


def list_tax_approved(tx: ReadTx) -> list[ApiKey]:
    """The keys of every organization that work and have access to taxes, oldest first."""
    return [_to_api_key(_KeyRow(*row)) for row in tx.rows(_TAX_APPROVED_ANY_ORG, limit=LIST_LIMIT)]


def list_tax_chosen(tx: ReadTx) -> list[ApiKey]:
    """The keys that work and have a restricted scope, which opens nothing yet; oldest first."""
    return [_to_api_key(_KeyRow(*row)) for row in tx.rows(_TAX_CHOSEN_ANY_ORG, limit=LIST_LIMIT)]


def works(tx: ReadTx, key_id: str) -> bool:
    """Whether a key of the transaction's organization is neither revoked nor expired."""
    return tx.value(_WORKS, id=key_id, at=tx.now) is not None


def list_open(tx: ReadTx, sought: Sought) -> list[Opening]:
    """The keys that work, by id."""
    rows = tx.rows(_SELECT_OPEN, **sought._asdict())
    return [
        Opening(key_id, name, user_id if role is None else None, user_id, created_at, expires_at, last_used)
        for key_id, name, user_id, role, created_at, expires_at, last_used in rows
    ]


def organization_of(tx: ReadTx, key_id: str) -> str:
    """Which organization a key belongs to, for the operator. Raises `Problem` `not_found`."""
    org_id = find_organization(tx, key_id)
    if org_id is None:
        raise not_found("API key")
    return org_id


def find_organization(tx: ReadTx, key_id: str) -> str | None:
    """Which organization a key belongs to. None: it is gone with its organization."""
    org_id: str | None = tx.value(_OWNER, id=key_id)
    return org_id


def note_use(tx: WriteTx, key_ids: Collection[str]) -> None:
    """Record that these keys were used on the transaction's day; ids of other things are ignored."""
    day = (datetime.datetime.fromtimestamp(tx.now // 1_000_000, datetime.UTC)).date().isoformat()
    for key_id in key_ids:
        tx.run(_NOTE_USE, id=key_id, day=day)


def _insert(tx: WriteTx, stored: _KeyRow, random: bytes) -> CreatedKey:
    key = make_key(random)
    tx.run(
        _INSERT,
        id=stored.id,
        user_id=stored.user_id,
        name=stored.name,
        hash=hash_key(key),
        hint=hint_of(key),
        scopes=stored.scopes,
        networks=stored.networks,
        tax_approved_at=stored.tax_approved_at,
        expires_at=stored.expires_at,
        role=stored.role,
        held_entities=stored.held_entities,
        held_from=stored.held_from,
        held_to=stored.held_to,
    )
    return CreatedKey(id=stored.id, key=key, scopes=stored.scopes.split())


def _validate_creator(tx: ReadTx, user_id: str) -> str:
    if not memberships.is_active(tx, user_id):
        raise invalid_field(
            "userId", "unknown_reference", "The creator is no member of this organization, or is disabled."
        )
    return user_id


def _check_given_to_organization(tx: ReadTx, new: NewKey) -> None:
    if memberships.role_of(tx, new.user_id) == "member":
        raise Problem("forbidden", "Owners and admins alone make keys of the organization.")
    if not new.scopes:  # Chosen: full access is what the maker can do, and this key is not the maker's
        raise invalid_field("scopes", "required", "A key of the organization has at least one scope.")


def _check_held(tx: ReadTx, held: Held, scopes: Collection[str]) -> None:
    errors = [*held_mistakes(held, scopes)]
    for entity_id in sorted(held.entities or ()):
        if tx.value(_IS_ENTITY, id=entity_id) is None:
            errors.append(FieldError("heldEntities", "unknown_reference", f"There is no legal entity {entity_id}."))
    if errors:
        raise invalid(*errors)


def _validate_expiry(tx: ReadTx, expires_at: Instant | None) -> Instant | None:
    if expires_at is not None and expires_at <= tx.now:
        raise invalid_field("expiresAt", "out_of_range", "The expiry must lie ahead.")
    return expires_at


def _check_rotation(tx: ReadTx, old: _KeyRow) -> None:
    if old.revoked_at is not None:
        raise invalid_state("The key is revoked: make a new one.", "revoked", ("active",))
    if old.replaced_by is not None:
        raise invalid_state(f"The key was rotated already: rotate {old.replaced_by}.", "rotated", ("active",))
    if old.expires_at is not None and old.expires_at <= tx.now:
        raise invalid_state("The key has expired: make a new one.", "expired", ("active",))
    if old.role is None and not memberships.is_active(tx, old.user_id):
        message = "Whoever made the key is no longer a member, or is disabled: make a new one."
        raise invalid_state(message, "without_owner", ("active",))


def _record(tx: WriteTx, action: audit.Action, key_id: str, actor: str, detail: audit.Detail) -> None:
    audit.record(tx, audit.Act(actor=actor, action=action, subject=key_id, org_id=tx.org_id, detail=detail))


def _record_revoked(tx: WriteTx, rows: list[Row], actor: str) -> int:
    for key_id, org_id in rows:
        audit.record(tx, audit.Act(actor=actor, action="key.revoked", subject=key_id, org_id=org_id))
    return len(rows)


def _find(tx: ReadTx, key_id: str) -> _KeyRow:
    row = tx.row(_GET, id=key_id)
    if row is None:
        raise not_found("API key")
    return _KeyRow(*row)


def _to_api_key(stored: _KeyRow) -> ApiKey:
    tax_approved = stored.tax_approved_at is not None
    held = held_to(stored.held_entities, stored.held_from, stored.held_to)
    return ApiKey(
        id=stored.id,
        org_id=stored.org_id,
        user_id=stored.user_id,
        name=stored.name,
        hint=stored.hint,
        scopes=stored.scopes.split(),
        full_access=not stored.scopes,
        effective_scopes=ordered(effective_scopes(stored.scopes, tax_approved)),
        tax_approved=tax_approved,
        networks=stored.networks.split(),
        expires_at=_instant(stored.expires_at),
        last_used=stored.last_used_day,
        revoked_at=_instant(stored.revoked_at),
        replaced_by=stored.replaced_by,
        created_at=Instant(stored.created_at),
        role=stored.role,
        held_entities=None if held is None or held.entities is None else sorted(held.entities),
        held_from=stored.held_from,
        held_to=stored.held_to,
    )


def _instant(instant: int | None) -> Instant | None:
    return None if instant is None else Instant(instant)
