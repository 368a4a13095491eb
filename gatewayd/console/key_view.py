"""What the pages of keys show: scopes in words, how each key stands, and what a form says of a new one."""

import re
import secrets
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final, Literal, NamedTuple, get_args

from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import NotFound

from gatewayd.clock import DAY, SECOND, Instant
from gatewayd.console.browser import optional, role_in, value
from gatewayd.contract.caller import Role
from gatewayd.contract.scopes import KEY_SCOPES, RESTRICTED, meaning, ordered
from gatewayd.errors import FieldError, gathered, invalid, invalid_field
from gatewayd.identity.keys import api_keys
from gatewayd.identity.keys.api_keys import ApiKey, KeyRole, NewKey
from gatewayd.identity.keys.key_restrictions import validate_networks
from gatewayd.identity.people import memberships, users
from gatewayd.identity.people.organizations import validate_name
from gatewayd.identity.people.users import User
from gatewayd.store import ReadTx
from gatewayd.tax import approvals
from gatewayd.tax.approvals import Standing, Subject

State = Literal["works", "replaced", "revoked", "expired", "without_owner"]
"""`replaced`: it was rotated, and goes on for a while."""
AREAS: Final[Mapping[str, str]] = {
    "entities": "Legal entities and businesses",
    "accounting": "Accounting",
    "banking": "Bank accounts",
    "vault": "Documents",
    "billing": "Credits",
    "periods": "Periods and deadlines",
    "webhooks": "Webhooks",
    "tax": "Taxes",
    "assets": "Investments, of accounting",
    "landlord": "Property, of accounting",
    "crm": "Leads",
    "access": "Open access",
}
"""The areas of scopes as people call them, in the order in which they are offered."""
LIFETIME: Final = 365 * DAY  # Chosen: what a new key is offered
_NONE_TICKED: Final = "Tick what the key may do."
_BOTH_TICKED: Final = "Tick either everything, or what the key may do."
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class ScopeChoice(NamedTuple):
    """A scope as it is offered: `read` or `write`, and what that opens."""

    scope: str
    word: str
    meaning: str


class ShownKey(NamedTuple):
    """One key. `maker` is an address; `tax` is None where the key has no scope of taxes."""

    key: ApiKey
    maker: str
    state: State
    scopes: str
    tax: Standing | None
    may_rotate: bool
    may_revoke: bool

    @property
    def works(self) -> bool:
        return self.state in ("works", "replaced")


class KeyForm(NamedTuple):
    """A new key as it was entered. `owner` is empty for the visitor's own, else the role of the organization's.

    `nonce` tells this form from others.
    """

    name: str
    owner: str
    scopes: list[str]
    everything: bool
    ends: str
    networks: str
    nonce: str

    @property
    def entered(self) -> tuple[str, ...]:
        """All of it, as texts."""
        return (
            self.nonce,
            self.name,
            self.owner,
            " ".join(self.scopes),
            str(self.everything),
            self.ends,
            self.networks,
        )


def choices() -> dict[str, list[ScopeChoice]]:
    """What a key can be given, by area."""
    of_area: dict[str, list[ScopeChoice]] = {label: [] for label in AREAS.values()}
    for scope in ordered(KEY_SCOPES):
        area, _, word = scope.partition(":")
        of_area[AREAS[area]].append(ScopeChoice(scope, word, meaning(scope)))
    return of_area


def in_words(scopes: Collection[str]) -> str:
    """Scopes by area: `Accounting (read, write), Documents (read)`."""
    words: dict[str, list[str]] = {}
    for scope in ordered(scopes):
        area, _, word = scope.partition(":")
        words.setdefault(AREAS[area], []).append(word)
    return ", ".join(f"{area} ({', '.join(those)})" for area, those in words.items())


def seen_by(tx: ReadTx, user: User) -> list[ShownKey]:
    """The keys of the transaction's organization that the visitor sees, newest first; members see their own.

    Raises `NotFound` where the organization is not theirs.
    """
    role, members = role_in(tx, user), _members(tx)
    keys = (key for key in api_keys.list_keys(tx) if role != "member" or _is_own(key, user))
    return [_shown(tx, key, user, role, members) for key in keys]


def one_seen_by(tx: ReadTx, user: User, key_id: str) -> ShownKey:
    """A key of whichever organization, for which the transaction acts from now on. Raises `NotFound`."""
    org_id = api_keys.find_organization(tx, key_id)
    if org_id is None:
        raise NotFound
    tx.bind(org_id)
    key, role = api_keys.get(tx, key_id), role_in(tx, user)
    if role == "member" and not _is_own(key, user):
        raise NotFound
    return _shown(tx, key, user, role, _members(tx))


def blank(now: Instant) -> KeyForm:
    """The form before anything is entered."""
    return KeyForm("", "", [], False, _day_of(now + LIFETIME), "", secrets.token_urlsafe(16))


def read_form(form: MultiDict[str, str]) -> KeyForm:
    """What was entered. Raises `BadRequest` for what no form of these pages sends."""
    return KeyForm(
        name=value(form, "name", 512),
        owner=optional(form, "owner", 16),
        scopes=[each[:64] for each in form.getlist("scope")][: len(KEY_SCOPES)],
        everything="everything" in form,
        ends=optional(form, "ends", 64).strip(),
        networks=optional(form, "networks", 4096),
        nonce=value(form, "nonce", 64),
    )


def to_key(form: KeyForm, user: User) -> NewKey:
    """The key that is asked for. Raises `Problem` `validation_failed` that names all that is wrong."""
    errors = [*_mistakes(form)]
    name = gathered(errors, validate_name, "name", form.name)
    networks = gathered(
        errors, validate_networks, re.split(r"[\s,]+", form.networks.strip()) if form.networks.strip() else []
    )
    expires_at = gathered(errors, _end_of, form.ends)
    if errors:
        raise invalid(*errors)
    assert name is not None
    return NewKey(
        name=name,
        user_id=user.id,
        scopes=() if form.everything else form.scopes,
        networks=networks or (),
        expires_at=expires_at,
        role=_role(form.owner),
    )


def _mistakes(form: KeyForm) -> Iterator[FieldError]:
    if form.everything and form.scopes:
        yield FieldError("scopes", "conflict", _BOTH_TICKED)
    elif not form.everything and not form.scopes:
        yield FieldError("scopes", "required", _NONE_TICKED)
    if form.owner not in ("", *get_args(KeyRole)):
        yield FieldError("owner", "invalid_enum", "Choose whose key it is.")


def _role(owner: str) -> KeyRole | None:
    return None if owner == "" else "admin" if owner == "admin" else "member"


def _end_of(text: str) -> Instant | None:
    """The end of a day, UTC; None: never."""
    if not text:
        return None
    try:
        day = date.fromisoformat(text if _DAY.fullmatch(text) else "")
        end = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
    except (ValueError, OverflowError):
        raise invalid_field("expiresAt", "invalid_format", "Give a day, such as 2027-04-05, or nothing.") from None
    return Instant(int(end.timestamp()) * SECOND)


def _day_of(instant: int) -> str:
    return datetime.fromtimestamp(instant // SECOND, UTC).date().isoformat()


def _members(tx: ReadTx) -> frozenset[str]:
    return frozenset(each.user_id for each in memberships.list_members(tx))


def _is_own(key: ApiKey, user: User) -> bool:
    return key.role is None and key.user_id == user.id


def _shown(tx: ReadTx, key: ApiKey, user: User, role: Role, members: Collection[str]) -> ShownKey:
    maker, state = users.find_by_id(tx, key.user_id), _state(key, members, tx.now)
    leads, alive = role != "member", state in ("works", "replaced")
    reaches_taxes = bool(RESTRICTED.intersection(key.scopes))
    return ShownKey(
        key=key,
        maker="nobody who is known" if maker is None else maker.email,
        state=state,
        scopes=in_words(key.scopes),
        tax=approvals.standing(tx, Subject("key", key.id)) if reaches_taxes or key.tax_approved else None,
        # Chosen: what acts for a person is made by that person alone, as whoever has it acts for them.
        may_rotate=state == "works" and (leads if key.role is not None else key.user_id == user.id),
        may_revoke=(alive or state == "without_owner") and (leads or _is_own(key, user)),
    )


def _state(key: ApiKey, members: Collection[str], now: Instant) -> State:
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is not None and key.expires_at <= now:
        return "expired"
    if key.role is None and key.user_id not in members:
        return "without_owner"
    return "works" if key.replaced_by is None else "replaced"
