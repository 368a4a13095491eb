"""`/developers/tax`: who has access to the tax operations, how to ask for it, and the connection to the authority."""

from urllib.parse import quote, urlsplit

from quart import Quart, Response, render_template, request

from gatewayd.console.addresses import TAX
from gatewayd.console.books.tax_view import OPERATION_WORDS, asking, view
from gatewayd.console.browser import allow_form_to, flash, must_lead, optional, see, signed_in, value
from gatewayd.console.pages import add_page, sentence
from gatewayd.console.parts import ConsoleParts
from gatewayd.contract.scopes import ALL_SCOPES, RESTRICTED, ordered
from gatewayd.errors import Problem
from gatewayd.identity.people import memberships, organizations
from gatewayd.identity.people.users import User
from gatewayd.store import ReadTx, WriteTx
from gatewayd.tax import approvals
from gatewayd.tax.approvals import ATTESTATION_MAX
from gatewayd.tax.connections import connections

ORGANIZATIONS_SHOWN = 10  # Chosen: of the others there are links
FIELD_MOST = 3 * ATTESTATION_MAX  # of what a form sends; what is declared has a limit of its own
Page = tuple[str, int]
_NOTHING_DECLARED = "Write what is declared: whoever approves it goes by that."
_ALREADY_ASKED = "Somebody else has asked for this app already. Their request waits for a decision."


class TaxAccess:
    """The page of tax access, and what is asked for on it."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store
        self._settings = parts.tax

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", TAX, self.show)
        add_page(app, "POST", f"{TAX}/request", self.request)
        add_page(app, "POST", f"{TAX}/disconnect", self.disconnect)

    async def show(self) -> str:
        return await self.page(request.args.get("organization"))

    async def page(self, org_id: str | None, problem: str = "", filled: tuple[str, str] | None = None) -> str:
        """The page of one organization, or of all. `problem` is with the form that was `filled`, if one was.

        Raises `NotFound` for an organization that is not the visitor's.
        """
        _, user = signed_in()

        def look(tx: ReadTx) -> dict[str, object]:
            of_user = [each.org_id for each in memberships.of_user(tx, user.id)]
            shown = [org_id] if org_id is not None else of_user[:ORGANIZATIONS_SHOWN]
            return {
                "shown_organizations": [view(tx, each, user) for each in shown],
                "others": len(of_user) - len(shown),
                "further": [] if org_id is not None else _named(tx, of_user[ORGANIZATIONS_SHOWN:]),
            }

        if self._settings.connects:
            allow_form_to(self._settings.sign_in_page)
        return await render_template(
            "books/tax.html",
            scopes=[(scope, ALL_SCOPES[scope]) for scope in ordered(RESTRICTED)],
            words=OPERATION_WORDS,
            settings=self._settings,
            service=urlsplit(self._settings.upstream).hostname,
            attestation_max=ATTESTATION_MAX,
            one=org_id is not None,
            problem=problem,
            at="connection" if filled is None else "request",
            filled=filled or ("", ""),
            **await self._store.read(look),
        )

    async def request(self) -> Response | Page:
        """Ask for access: an owner or admin for all that is the organization's, a member for what is their own."""
        _, user = signed_in()
        form = await request.form
        org_id, named = value(form, "organization", 64), value(form, "subject", 2048)
        declared = value(form, "attestation", FIELD_MOST).replace("\r\n", "\n")  # as it was typed
        try:
            problem = await self._store.write(lambda tx: _ask(tx, user, named, declared), org_id)
        except Problem as refused:
            problem = sentence(refused)
        if problem:
            return await self.page(org_id, problem, (named, declared)), 422
        flash("success", "Tax access was asked for. An administrator of this server decides.")
        return see(address_of(org_id))

    async def disconnect(self) -> Response | str:
        """Ask whether it is meant; then forget the tokens."""
        _, user = signed_in()
        form = await request.form
        org_id, entity_id = value(form, "organization", 64), optional(form, "entity", 64) or None

        def work(tx: WriteTx) -> None:
            must_lead(tx, user)
            if connections.standing(tx, entity_id) is not None:  # of two at once, the second finds it done
                connections.remove(tx, user.id, entity_id)

        def look(tx: ReadTx) -> str:
            must_lead(tx, user)
            there = connections.standing(tx, entity_id)
            return (there and there.legal_entity) or organizations.get(tx, org_id).name

        if form.get("confirmed") != "yes":
            name = await self._store.read(look, org_id)
            back = address_of(org_id)
            return await render_template(
                "books/tax_disconnect.html", org_id=org_id, entity=entity_id or "", name=name, back=back
            )
        await self._store.write(work, org_id)
        flash("success", "The connection to the tax authority was ended.")
        return see(address_of(org_id))


def address_of(org_id: str) -> str:
    """The page of one organization."""
    return f"{TAX}?organization={quote(org_id, safe='')}"


def _named(tx: ReadTx, org_ids: list[str]) -> list[tuple[str, str]]:
    return [(org_id, organizations.get(tx, org_id).name) for org_id in org_ids]


def _ask(tx: WriteTx, user: User, named: str, declared: str) -> str:
    """What is wrong with a request, in words; empty: it waits for a decision. Raises `Problem`, `NotFound`."""
    holder = asking(tx, user, named)
    if not declared.strip():
        return _NOTHING_DECLARED
    if not holder.may_ask and holder.standing.status == "pending":
        return _ALREADY_ASKED
    approvals.request(tx, holder.subject, declared, user.id)
    return ""
