"""What the pages of keys show: scopes in words, how each key stands, and what it was used for."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, NamedTuple

from werkzeug.exceptions import NotFound

from gatewayd.clock import SECOND, Instant
from gatewayd.console.addresses import KEYS
from gatewayd.console.browser import role_in
from gatewayd.console.components.charts import BarChart, Series
from gatewayd.console.components.shapes import Cell, Column, Row, Table, Tone
from gatewayd.console.components.words import day, moment
from gatewayd.console.pages import PAGE_ROWS
from gatewayd.contract.caller import Role
from gatewayd.contract.operation import Operation
from gatewayd.contract.scopes import RESTRICTED, ordered
from gatewayd.identity.keys import api_keys
from gatewayd.identity.keys.api_keys import ApiKey
from gatewayd.identity.keys.key_uses import OperationUse
from gatewayd.identity.people import memberships, users
from gatewayd.identity.people.users import User
from gatewayd.ledger.taxpayers import owners
from gatewayd.store import ReadTx
from gatewayd.tax import approvals
from gatewayd.tax.approvals import Standing, Subject

CHART_DAYS: Final = 30
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
    "assets": "Investments only",
    "landlord": "Property only",
    "crm": "Leads",
    "access": "Open access",
}
"""The areas of scopes as people call them, in the order in which they are offered."""


class ShownKey(NamedTuple):
    """One key. `maker` is an address; `tax` is None where the key has no scope of taxes.

    `entities` are the names of the legal entities that it is held to.
    """

    key: ApiKey
    maker: str
    state: State
    tax: Standing | None
    entities: list[str]
    may_rotate: bool
    may_revoke: bool

    @property
    def works(self) -> bool:
        return self.state in ("works", "replaced")

    @property
    def tone(self) -> Tone:
        """How its state is shown."""
        tones: dict[State, Tone] = {"works": "success", "replaced": "information", "without_owner": "danger"}
        return tones.get(self.state, "neutral")

    @property
    def state_text(self) -> str:
        """How it stands, in a few words."""
        key = self.key
        if self.state == "revoked" and key.revoked_at is not None:
            return f"Revoked {day(key.revoked_at)}"
        if self.state == "without_owner":
            return "Its maker has left"
        if key.expires_at is None:
            return "Works"
        words = {"works": "Until", "replaced": "Ends"}.get(self.state, "Ended")
        return f"{words} {day(key.expires_at)}"


def in_words(scopes: Collection[str]) -> list[str]:
    """Scopes by area: `Accounting: read, write`."""
    words: dict[str, list[str]] = {}
    for scope in ordered(scopes):
        area, _, word = scope.partition(":")
        words.setdefault(AREAS[area], []).append(word)
    return [f"{area}: {', '.join(those)}" for area, those in words.items()]


class SeenKeys(NamedTuple):
    """A page of the keys that go on, the newest that have ended, and how many have. `following` is behind which id the
    next page begins; empty: there is none.
    """

    live: list[ShownKey]
    following: str
    ended: list[ShownKey]
    ended_count: int


def seen_by(tx: ReadTx, user: User, after: str) -> SeenKeys:
    """The keys of the transaction's organization that the visitor sees, newest first; members see their own.

    Raises `NotFound` where the organization is not theirs.
    """
    role = role_in(tx, user)
    whose = user.id if role == "member" else None
    live = api_keys.list_live(tx, whose, after, PAGE_ROWS + 1)
    over = api_keys.list_ended(tx, whose, PAGE_ROWS)
    names = _names(tx, [*live, *over])
    shown = [_shown(tx, key, user, role, names) for key in live[:PAGE_ROWS]]
    ended = [_shown(tx, key, user, role, names) for key in over]
    following = shown[-1].key.id if len(live) > PAGE_ROWS else ""
    return SeenKeys(shown, following, ended, api_keys.count_ended(tx, whose))


def one_seen_by(tx: ReadTx, user: User, key_id: str) -> ShownKey:
    """A key of whichever organization, for which the transaction acts from now on. Raises `NotFound`."""
    org_id = api_keys.find_organization(tx, key_id)
    if org_id is None:
        raise NotFound
    tx.bind(org_id)
    key, role = api_keys.get(tx, key_id), role_in(tx, user)
    if role == "member" and not _is_own(key, user):
        raise NotFound
    return _shown(tx, key, user, role, _names(tx, [key]))


def _names(tx: ReadTx, keys: Sequence[ApiKey]) -> Mapping[str, str]:
    """The names of legal entities by their ids, where any of the keys is held to some."""
    return owners.names(tx) if any(key.held_entities for key in keys) else {}


def _is_own(key: ApiKey, user: User) -> bool:
    return key.role is None and key.user_id == user.id


def _shown(tx: ReadTx, key: ApiKey, user: User, role: Role, names: Mapping[str, str]) -> ShownKey:
    maker, state = users.find_by_id(tx, key.user_id), _state(tx, key)
    leads, alive = role != "member", state in ("works", "replaced")
    reaches_taxes = bool(RESTRICTED.intersection(key.scopes))
    return ShownKey(
        key=key,
        maker="nobody who is known" if maker is None else maker.email,
        state=state,
        tax=approvals.standing(tx, Subject("key", key.id)) if reaches_taxes or key.tax_approved else None,
        entities=[names.get(id_, id_) for id_ in key.held_entities or ()],
        # Chosen: what acts for a person is made by that person alone, as whoever has it acts for them.
        may_rotate=state == "works" and (leads if key.role is not None else key.user_id == user.id),
        may_revoke=(alive or state == "without_owner") and (leads or _is_own(key, user)),
    )


def _state(tx: ReadTx, key: ApiKey) -> State:
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is not None and key.expires_at <= tx.now:
        return "expired"
    if key.role is None and not memberships.is_member(tx, key.user_id):
        return "without_owner"
    return "works" if key.replaced_by is None else "replaced"


# -- as components show it


def table_of(keys: Sequence[ShownKey], caption: str) -> Table:
    """Keys below headings."""
    columns = [
        Column("Name"),
        Column("Begins with", "code"),
        Column("Opens"),
        Column("Belongs to"),
        Column("Last used"),
        Column("State", "badge"),
    ]
    rows = [
        Row(
            cells=[
                Cell(text=each.key.name, href=f"{KEYS}/{each.key.id}"),
                Cell(text=each.key.hint),
                Cell(text="; ".join(opens(each))),
                Cell(text=each.maker if each.key.role is None else "The organization"),
                Cell(text=used_on(each.key)),
                Cell(text=each.state_text, tone=each.tone),
            ]
        )
        for each in keys
    ]
    return Table(caption=caption, columns=columns, rows=rows)


def facts(shown: ShownKey, organization: str) -> list[tuple[str, Cell]]:
    """One key, as pairs of a label and what is so."""
    key = shown.key
    pairs = [
        ("State", Cell(text=shown.state_text, tone=shown.tone, kind="badge")),
        ("Begins with", Cell(text=key.hint, kind="code")),
        ("Belongs to", Cell(text=_belongs(shown, organization))),
        ("Opens", Cell(items=opens(shown))),
        ("Held to", Cell(items=held_to(shown)) if held_to(shown) else Cell(text="Nothing: all that it opens")),
        ("Used from", Cell(items=key.networks) if key.networks else Cell(text="Anywhere")),
        ("Made", Cell(text=f"{day(key.created_at)} by {shown.maker}")),
        ("Last used", Cell(text=used_on(key))),
        ("Ends", Cell(text="Never" if key.expires_at is None else moment(key.expires_at))),
    ]
    if key.replaced_by is not None:
        pairs.append(("Replaced by", Cell(text="Another key", href=f"{KEYS}/{key.replaced_by}")))
    return pairs


def opens(shown: ShownKey) -> list[str]:
    """What a key may do, a line for each area, and what of it waits."""
    if shown.key.full_access:
        return ["Everything but taxes" if not shown.key.tax_approved else "Everything"]
    lines = in_words(shown.key.scopes)
    if shown.tax is not None and shown.tax.status != "approved":
        lines.append("Taxes are refused" if shown.tax.status == "refused" else "Taxes wait for approval")
    return lines


def held_to(shown: ShownKey) -> list[str]:
    """What of the books a key sees alone, a sentence each; none: all that it opens."""
    first, last = shown.key.held_from, shown.key.held_to
    lines = [f"What is {name}'s" for name in shown.entities]
    if first is not None and last is not None:
        lines.append(f"Days from {day(first)} to {day(last)}")
    elif first is not None:
        lines.append(f"Days from {day(first)} on")
    elif last is not None:
        lines.append(f"Days up to {day(last)}")
    return lines


def used_on(key: ApiKey) -> str:
    """When it was used last."""
    return "Never" if key.last_used is None else day(key.last_used)


def uses_table(uses: Sequence[OperationUse], rows: Mapping[str, Operation], now: Instant) -> Table:
    """What a key was used for. `rows` are the operations that there are, by id."""
    columns = [
        Column("What"),
        Column("Operation", "code"),
        Column("Calls", "number"),
        Column("First", "date"),
        Column("Last", "moment"),
    ]
    shown = [
        Row(
            cells=[
                Cell(text=words_of(rows.get(use.operation))),
                Cell(text=use.operation),
                Cell(text=f"{use.times:,}"),
                Cell(at=use.first_at),
                Cell(at=use.last_at),
            ]
        )
        for use in uses
    ]
    return Table(caption="What the key was used for", columns=columns, rows=shown, now=now)


def words_of(operation: Operation | None) -> str:
    """What an operation does, in the few words that its description begins with."""
    if operation is None:
        return "What this server does no more"
    text = (operation.handler.__doc__ or "").strip()
    return re.split(r"[,:;.(\n]", text, maxsplit=1)[0].replace("`", "").strip() or operation.id


def chart_of(by_day: Mapping[str, int], now: Instant) -> BarChart:
    """How often a key was used on each of the last days."""
    today = datetime.fromtimestamp(now // SECOND, UTC).date()
    days = [(today - timedelta(days=CHART_DAYS - 1 - number)).isoformat() for number in range(CHART_DAYS)]
    calls = Series("Calls", [by_day.get(each, 0) for each in days])
    return BarChart(
        title=f"Calls in the last {CHART_DAYS} days", heading="Day", labels=[day(each) for each in days], series=[calls]
    )


def _belongs(shown: ShownKey, organization: str) -> str:
    if shown.key.role is None:
        return f"{shown.maker}: it can do what they can, and ends when they leave"
    rights = "an admin" if shown.key.role == "admin" else "a member"
    return f"{organization}: it has the rights of {rights}, and goes on when people leave"
