"""What a form says of a new API key, and how it is shown again with what is wrong."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple, get_args
from uuid import uuid4

from werkzeug.datastructures import MultiDict

from gatewayd.clock import DAY, SECOND, Instant
from gatewayd.console.browser import optional, value
from gatewayd.console.components.shapes import Field, Option
from gatewayd.console.developers.key_view import AREAS
from gatewayd.contract.holding import Held
from gatewayd.contract.scopes import KEY_SCOPES, meaning, ordered
from gatewayd.errors import FieldError, Problem, gathered, invalid, invalid_field
from gatewayd.identity.keys.api_keys import KeyRole, NewKey
from gatewayd.identity.keys.key_restrictions import HELD_ENTITIES_MAX, held_mistakes, validate_networks
from gatewayd.identity.people.organizations import validate_name
from gatewayd.identity.people.users import User

LIFETIME: Final = 365 * DAY  # Chosen: what a new key is offered
KEY_FIELD: Final = "key"
"""Tells one form from the next, as `operation_pages` does: sent again, it makes no second key."""
_NONE_TICKED: Final = "Tick what the key may do."
_BOTH_TICKED: Final = "Tick either everything, or what the key may do."
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class KeyForm(NamedTuple):
    """A new key as it was entered. `owner` is empty for the visitor's own, else the role of the organization's.

    `sending` tells this form from others.
    """

    name: str
    owner: str
    scopes: list[str]
    everything: bool
    ends: str
    networks: str
    sending: str
    entities: list[str]
    first: str
    last: str

    @property
    def entered(self) -> tuple[str, ...]:
        """All of it, as texts."""
        return (
            self.sending,
            self.name,
            self.owner,
            " ".join(self.scopes),
            str(self.everything),
            self.ends,
            self.networks,
            " ".join(self.entities),
            self.first,
            self.last,
        )


def blank(now: Instant) -> KeyForm:
    """The form before anything is entered."""
    return KeyForm("", "", [], False, _day_of(now + LIFETIME), "", str(uuid4()), [], "", "")


def read_form(form: MultiDict[str, str]) -> KeyForm:
    """What was entered. Raises `BadRequest` for what no form of these pages sends."""
    return KeyForm(
        name=value(form, "name", 512),
        owner=optional(form, "owner", 16),
        scopes=[each[:64] for each in form.getlist("scope")][: len(KEY_SCOPES)],
        everything=bool(form.get("everything")),
        ends=optional(form, "ends", 64).strip(),
        networks=optional(form, "networks", 4096),
        sending=value(form, KEY_FIELD, 64),
        entities=[each[:64] for each in form.getlist("entity")][: HELD_ENTITIES_MAX + 1],
        first=optional(form, "first", 64).strip(),
        last=optional(form, "last", 64).strip(),
    )


def to_key(form: KeyForm, user: User) -> NewKey:
    """The key that is asked for. Raises `Problem` `validation_failed` that names all that is wrong."""
    errors = [*_mistakes(form)]
    name = gathered(errors, validate_name, "name", form.name)
    networks = gathered(
        errors, validate_networks, re.split(r"[\s,]+", form.networks.strip()) if form.networks.strip() else []
    )
    expires_at = gathered(errors, _end_of, form.ends)
    held = gathered(errors, _held, form)
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
        held=held,
    )


def _mistakes(form: KeyForm) -> Iterator[FieldError]:
    if form.everything and form.scopes:
        yield FieldError("scopes", "conflict", _BOTH_TICKED)
    elif not form.everything and not form.scopes:
        yield FieldError("scopes", "required", _NONE_TICKED)
    if form.owner not in ("", *get_args(KeyRole)):
        yield FieldError("owner", "invalid_enum", "Choose whose key it is.")


def _held(form: KeyForm) -> Held | None:
    """What the key is held to. Raises `Problem` `validation_failed`."""
    errors: list[FieldError] = []
    days = (gathered(errors, _held_day, "heldFrom", form.first), gathered(errors, _held_day, "heldTo", form.last))
    if errors:
        raise invalid(*errors)
    if not form.entities and days == (None, None):
        return None
    held = Held(entities=frozenset(form.entities) or None, first=days[0], last=days[1])
    errors += held_mistakes(held, () if form.everything else form.scopes)
    if errors:
        raise invalid(*errors)
    return held


def _held_day(path: str, text: str) -> str | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text if _DAY.fullmatch(text) else "").isoformat()
    except ValueError:
        raise invalid_field(path, "invalid_format", "Give a day, such as 2027-04-05, or nothing.") from None


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


# -- as components show it


class ShownForm(NamedTuple):
    """The fields of the form: those above the scopes, the scopes by area, and those below."""

    above: list[Field]
    scopes: list[Field]
    everything: Field
    held: list[Field]
    below: list[Field]
    scopes_error: str


class Around(NamedTuple):
    """What the form is about: the organization, the names of its legal entities, and whether the visitor may make keys
    of it.
    """

    organization: str
    entities: Mapping[str, str]
    leads: bool


def shown(form: KeyForm, around: Around, problem: Problem | None) -> ShownForm:
    """The form with what was entered."""
    wrong = _by_field(problem)
    name = Field(
        name="name",
        label="Name",
        hint="What will use it, such as: Till in the shop.",
        error=wrong.get("name", ""),
        value=form.name,
        required=True,
        most=160,
    )
    everything = Field(
        name="everything",
        label="Everything but taxes",
        kind="checkbox",
        hint="Also what will come later. Not recommended, and only for a key of your own.",
        value="true" if form.everything else "",
    )
    return ShownForm(
        above=[name, _owner(form, around.organization, wrong)] if around.leads else [name],
        scopes=_scopes(form),
        everything=everything,
        held=_held_fields(form, around.entities, wrong),
        below=[_ends(form, wrong), _networks(form, wrong)],
        scopes_error=wrong.get("scopes", ""),
    )


def _owner(form: KeyForm, organization: str, wrong: Mapping[str, str]) -> Field:
    return Field(
        name="owner",
        label="Belongs to",
        kind="select",
        hint="A key of the organization goes on when people leave, and bears nobody's name in what it makes.",
        error=wrong.get("owner", ""),
        value=form.owner,
        options=[
            Option("", "Me: it can do what I can, and ends when I leave"),
            Option("member", f"{organization}, with the rights of a member"),
            Option("admin", f"{organization}, with the rights of an admin"),
        ],
    )


def _scopes(form: KeyForm) -> list[Field]:
    """What a key can be given: a field of ticks for each area."""
    of_area: dict[str, list[Option]] = {area: [] for area in AREAS}
    for scope in ordered(KEY_SCOPES):
        area, _, word = scope.partition(":")
        of_area[area].append(Option(scope, f"{word.capitalize()}: {meaning(scope)}"))
    return [
        Field(name="scope", id=f"scope-{area}", label=AREAS[area], kind="choices", values=form.scopes, options=options)
        for area, options in of_area.items()
    ]


def _held_fields(form: KeyForm, entities: Mapping[str, str], wrong: Mapping[str, str]) -> list[Field]:
    """Legal entities by name, where there are any, and days."""
    whose = Field(
        name="entity",
        label="Legal entities",
        kind="choices",
        hint="It reads what is theirs alone. Tick none, and it reads all.",
        error=wrong.get("heldEntities", ""),
        values=form.entities,
        options=[Option(id_, name) for id_, name in entities.items()],
    )
    days = [
        Field(name="first", label="From", kind="date", error=wrong.get("heldFrom", ""), value=form.first),
        Field(name="last", label="To", kind="date", error=wrong.get("heldTo", ""), value=form.last),
    ]
    return [whose, *days] if entities else days


def _ends(form: KeyForm, wrong: Mapping[str, str]) -> Field:
    hint = "The key ends with this day, UTC. Leave it empty, and it never does."
    return Field(
        name="ends", label="Last day", kind="date", hint=hint, error=wrong.get("expiresAt", ""), value=form.ends
    )


def _networks(form: KeyForm, wrong: Mapping[str, str]) -> Field:
    return Field(
        name="networks",
        label="Networks",
        kind="textarea",
        hint="Addresses or networks that it may be used from, one a line, such as 203.0.113.7 or 2001:db8::/32. Leave"
        " it empty, and it may be used from anywhere.",
        error=wrong.get("networks", ""),
        value=form.networks,
    )


def _by_field(problem: Problem | None) -> dict[str, str]:
    """What is wrong, by the name of the field."""
    found: dict[str, str] = {}
    for error in () if problem is None else problem.errors:
        found.setdefault(error.path, error.message)
    return found
