"""`/admin/clients`: OAuth clients that whoever runs the instance registers, and their secrets."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import uuid4

import msgspec
from quart import Quart, render_template, request
from werkzeug.exceptions import BadRequest

from gatewayd.clock import HOUR
from gatewayd.console.addresses import ADMIN_CLIENTS
from gatewayd.console.administration.administrators import (
    PAGE_ROWS,
    Found,
    Heading,
    Page,
    administrator,
    or_not_found,
    recent_administrator,
    show_list,
)
from gatewayd.console.browser import CSRF_FIELD, flash, see, signed_in, value
from gatewayd.console.components.shapes import Action, Cell, Column, EmptyState, Field, Option, Row, Table
from gatewayd.console.operations.pages import KEY_FIELD, SENT_BEFORE
from gatewayd.console.pages import Question, add_page, ask, sentence
from gatewayd.console.parts import ConsoleParts
from gatewayd.contract.scopes import ALL_SCOPES, ordered
from gatewayd.errors import FieldError, Problem
from gatewayd.identity.clients import client_secrets, own_clients
from gatewayd.identity.clients.client_metadata import NAME_LENGTH_MAX
from gatewayd.identity.clients.oauth_clients import Client
from gatewayd.identity.clients.own_clients import METHODS, Kind, NewClient, RegisteredClient
from gatewayd.identity.clients.redirect_uris import host_of
from gatewayd.performing import idempotency
from gatewayd.performing.idempotency import Record, Replay
from gatewayd.store import ReadTx, WriteTx

NEW: Final = f"{ADMIN_CLIENTS}/new"
_KINDS: Final[dict[Kind, str]] = {
    "secret": "A secret: a program on a server",
    "keys": "Keys of its own (private_key_jwt)",
    "public": "Nothing: an app on people's devices",
}
_BADGES: Final = {METHODS["secret"]: "secret", METHODS["keys"]: "keys", METHODS["public"]: "public"}
_COLUMNS: Final = (
    Column("Name"),
    Column("Proves itself by", "badge"),
    Column("Leads to"),
    Column("Registered", "date"),
    Column("Last used", "date"),
)
_REGISTER: Final = Action("Register client", NEW)
_HEADING: Final = Heading(
    "OAuth clients",
    "Programs that you registered, so that people can sign in to them or let them in. Apps that register themselves"
    " need no word of yours, and are not listed here.",
    EmptyState(
        sentence="You have registered no client.",
        action=_REGISTER,
        command="gatewayd client add Till --redirect-uri https://till.example/callback --confidential",
    ),
    _REGISTER,
)
_FORM: Final = {
    "title": "New OAuth client",
    "text": "People see its name where they allow it something. It is told no more than they allow.",
    "button": "Register client",
}
NOBODYS: Final = ""
"""The organization of what is the instance's own: no organization has this id."""
_SENDING: Final = "registerOAuthClient"
"""Stands where operations have their id: no row of the API registers such a client."""
_OVERLAP_HOURS: Final = client_secrets.OVERLAP // HOUR


class OwnClients:
    """The pages of the operator's OAuth clients."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store, self._clock = parts.store, parts.clock

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        one = f"{ADMIN_CLIENTS}/<client_id>"
        add_page(app, "GET", ADMIN_CLIENTS, self.show)
        add_page(app, "GET", NEW, self.show_form)
        add_page(app, "POST", NEW, self.register)
        add_page(app, "GET", f"{one}/rotate", self.ask_rotate)
        add_page(app, "POST", f"{one}/rotate", self.rotate)
        add_page(app, "GET", f"{one}/remove", self.ask_remove)
        add_page(app, "POST", f"{one}/remove", self.remove)

    async def show(self) -> str:
        administrator()
        before = request.args.get("before") or None
        clients = await self._store.read(lambda tx: own_clients.list_page(tx, before, PAGE_ROWS + 1))
        rows = [_row(client) for client in clients[:PAGE_ROWS]]
        table = Table(caption="OAuth clients", columns=_COLUMNS, rows=rows)
        older = rows[-1].id if len(clients) > PAGE_ROWS else None
        return await show_list(_HEADING, Found(table, (), {}, older))

    # -- a new one

    async def show_form(self) -> str:
        recent_administrator(self._clock)
        return await _form({"kind": ["secret"]}, (), str(uuid4()))

    async def register(self) -> Page:
        """One client for each form: sent again, as by a reload, it says which one it made, and makes no second."""
        user, form = recent_administrator(self._clock), await request.form
        kind: Kind | None = next((each for each in _KINDS if each == form.get("kind")), None)
        if kind is None:
            raise BadRequest("The form is not complete.")
        given = {name: form.getlist(name) for name in form if name not in (CSRF_FIELD, KEY_FIELD)}
        sending = value(form, KEY_FIELD, 64)
        try:
            new = NewClient(
                name=value(form, "name"),
                redirect_uris=value(form, "redirectUris", 64_000).split(),
                kind=kind,
                scopes=form.getlist("scopes"),
                keys=_keys(form.get("keys", "")) if kind == "keys" else None,
            )
            record = _record(sending, given)
            made = await self._store.write(lambda tx: _register_once(tx, record, new, user.id), NOBODYS)
        except Replay as replay:
            return await self._said_again(replay.body.decode())
        except Problem as problem:
            if problem.code == "idempotency_conflict":
                return await _form(given, (), str(uuid4()), SENT_BEFORE), problem.status
            return await _form(given, problem.errors, sending), 422
        if made.secret is not None:
            return await _show_secret(made)
        flash("success", f"{made.client.name} is registered. Its client id is {made.client.id}.")
        return see(ADMIN_CLIENTS)

    async def _said_again(self, client_id: str) -> Page:
        """What the second sending of a form leads to. The secret was shown to the first."""
        client = await self._store.read(lambda tx: _get(tx, client_id))
        more = " Its secret was shown once: if you lost it, make a new one." if _has_secret(client) else ""
        flash("information", f"{client.name} was registered already. Its client id is {client.id}.{more}")
        return see(ADMIN_CLIENTS)

    # -- its secret, and its end

    async def ask_rotate(self, client_id: str) -> str:
        recent_administrator(self._clock)
        return await ask(await self._rotating(client_id))

    async def rotate(self, client_id: str) -> Page:
        user = recent_administrator(self._clock)
        overlap = client_secrets.OVERLAP
        try:
            made = await self._store.write(lambda tx: own_clients.rotate_secret(tx, client_id, overlap, user.id))
        except Problem as problem:
            text = sentence(or_not_found(problem))
            return await ask(await self._rotating(client_id), text), problem.status
        return await _show_secret(made)

    async def _rotating(self, client_id: str) -> Question:
        client = await self._store.read(lambda tx: _get(tx, client_id))
        said = f"The new secret is shown once. The one before goes on for {_OVERLAP_HOURS} hours."
        return Question(f"A new secret for {client.name}", [said], "Make a new secret", ADMIN_CLIENTS)

    async def ask_remove(self, client_id: str) -> str:
        administrator()
        return await ask(await self._removing(client_id))

    async def remove(self, client_id: str) -> Page:
        user = administrator()
        client = await self._store.read(lambda tx: _get(tx, client_id))
        await self._store.write(lambda tx: own_clients.remove(tx, client_id, user.id))
        flash("success", f"{client.name} was removed.")
        return see(ADMIN_CLIENTS)

    async def _removing(self, client_id: str) -> Question:
        client = await self._store.read(lambda tx: _get(tx, client_id))
        said = [
            "It is refused everything from its next request on.",
            "What people allowed it ends, and its secrets too.",
        ]
        return Question(f"Remove {client.name}", said, "Remove client", ADMIN_CLIENTS)


def _get(tx: ReadTx, client_id: str) -> Client:
    """One that is not removed. Raises `NotFound`."""
    try:
        client = own_clients.get(tx, client_id)
    except Problem as problem:
        raise or_not_found(problem) from None
    if client.revoked:
        raise or_not_found(Problem("not_found", "The client was removed."))
    return client


def _record(sending: str, given: Mapping[str, Sequence[str]]) -> Record:
    """What the sending of a form leaves, so that the same one registers nothing again."""
    digest = hashlib.sha256(msgspec.json.encode(sorted(given.items()))).digest()
    session, _ = signed_in()
    return Record(session.id, sending, digest, _SENDING, sealed=False)


def _register_once(tx: WriteTx, record: Record, new: NewClient, user_id: str) -> RegisteredClient:
    """Raises `Replay` with the id of the client that the form made before, and as `register` does."""
    idempotency.begin(tx, record)
    made = own_clients.register(tx, new, user_id)
    idempotency.keep(tx, record, made.client.id.encode())
    return made


def _has_secret(client: Client) -> bool:
    return client.metadata.token_endpoint_auth_method == METHODS["secret"]


def _keys(text: str) -> dict[str, object]:
    """The JWK Set that was pasted. Raises `Problem` `validation_failed`."""
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError):
        return {}  # which says what it has to be


async def _show_secret(made: RegisteredClient) -> str:
    return await render_template(
        "administration/client_secret.html", client=made.client, secret=made.secret, back=ADMIN_CLIENTS
    )


async def _form(
    given: Mapping[str, Sequence[str]], errors: Sequence[FieldError], sending: str, problem: str = ""
) -> str:
    said = {error.path: error.message for error in errors}
    text = {name: values[0] if values else "" for name, values in given.items()}
    fields = [
        Field(
            name="name",
            label="Name",
            value=text.get("name", ""),
            required=True,
            most=NAME_LENGTH_MAX,
            error=said.get("name", ""),
        ),
        Field(
            name="redirectUris",
            label="Redirect URIs",
            kind="textarea",
            value=text.get("redirectUris", ""),
            required=True,
            hint="Where people are sent back to, one a line: https, or this computer at any port.",
            error=said.get("redirectUris", ""),
        ),
        Field(
            name="kind",
            label="It proves itself by",
            kind="select",
            options=tuple(Option(kind, label) for kind, label in _KINDS.items()),
            value=text.get("kind", ""),
            error=said.get("kind", ""),
        ),
        Field(
            name="keys",
            label="Its public keys",
            kind="textarea",
            value=text.get("keys", ""),
            hint="A JWK Set in JSON, for a client with keys of its own.",
            error=said.get("keys", ""),
        ),
        Field(
            name="scopes",
            label="The most that it is granted",
            kind="choices",
            options=tuple(Option(scope, scope) for scope in ordered(ALL_SCOPES)),
            values=given.get("scopes", ()),
            hint="None ticked: whatever people allow it.",
            error=said.get("scopes", ""),
        ),
    ]
    return await render_template(
        "form.html",
        page=_FORM,
        fields=fields,
        hidden=[(KEY_FIELD, sending)],
        back=ADMIN_CLIENTS,
        problem=problem,
        has_errors=bool(errors),
    )


def _row(client: Client) -> Row:
    method = client.metadata.token_endpoint_auth_method
    one = f"{ADMIN_CLIENTS}/{client.id}"
    actions = [Action("Remove", f"{one}/remove")]
    if _has_secret(client):
        actions.insert(0, Action("New secret", f"{one}/rotate"))
    return Row(
        id=client.id,
        label=client.name,
        cells=(
            Cell(text=client.name),
            Cell(text=_BADGES[method]),
            Cell(items=list(dict.fromkeys(map(host_of, client.metadata.redirect_uris)))),
            Cell(at=client.created_at),
            Cell(text=client.last_used or "never"),
        ),
        actions=actions,
    )
