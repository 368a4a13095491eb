"""`/admin/clients`: OAuth clients that whoever runs the instance registers, and their secrets."""

from collections.abc import Sequence
from typing import Final

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
from gatewayd.console.browser import flash, see, value
from gatewayd.console.components.shapes import Action, Cell, Column, EmptyState, Field, Option, Row, Table
from gatewayd.console.pages import Question, add_page, ask, sentence
from gatewayd.console.parts import ConsoleParts
from gatewayd.contract.scopes import ALL_SCOPES, ordered
from gatewayd.errors import FieldError, Problem
from gatewayd.identity.clients import client_secrets, own_clients
from gatewayd.identity.clients.client_metadata import NAME_LENGTH_MAX
from gatewayd.identity.clients.oauth_clients import Client
from gatewayd.identity.clients.own_clients import METHODS, Kind, NewClient, RegisteredClient
from gatewayd.identity.clients.redirect_uris import host_of
from gatewayd.store import ReadTx

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
        return await _form({"kind": ["secret"]}, ())

    async def register(self) -> Page:
        user, form = recent_administrator(self._clock), await request.form
        kind: Kind | None = next((each for each in _KINDS if each == form.get("kind")), None)
        if kind is None:
            raise BadRequest("The form is not complete.")
        given = {name: form.getlist(name) for name in form}
        try:
            new = NewClient(
                name=value(form, "name"),
                redirect_uris=value(form, "redirectUris", 64_000).split(),
                kind=kind,
                scopes=form.getlist("scopes"),
                keys=_keys(form.get("keys", "")) if kind == "keys" else None,
            )
            made = await self._store.write(lambda tx: own_clients.register(tx, new, user.id))
        except Problem as problem:
            return await _form(given, problem.errors), 422
        if made.secret is not None:
            return await _show_secret(made)
        flash("success", f"{made.client.name} is registered. Its client id is {made.client.id}.")
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


async def _form(given: dict[str, list[str]], errors: Sequence[FieldError]) -> str:
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
        "form.html", page=_FORM, fields=fields, hidden=(), back=ADMIN_CLIENTS, problem="", has_errors=bool(errors)
    )


def _row(client: Client) -> Row:
    method = client.metadata.token_endpoint_auth_method
    one = f"{ADMIN_CLIENTS}/{client.id}"
    actions = [Action("Remove", f"{one}/remove")]
    if method == METHODS["secret"]:
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
