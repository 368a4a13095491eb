"""`/sales/invoices`: what clients are asked to pay, from the draft to the money."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from quart import Quart, render_template

from gatewayd.clock import Clock, from_wire
from gatewayd.console.addresses import CLIENTS, INVOICES
from gatewayd.console.browser import flash, see
from gatewayd.console.components.shapes import Action, EmptyState, TimelineEntry, Tone
from gatewayd.console.operations.calls import Operations
from gatewayd.console.operations.lists import JsonObject, Listed, Member, cell, facts, members_of, members_of_part
from gatewayd.console.operations.pages import (
    FormPage,
    ListPage,
    OperationPages,
    Options,
    Page,
    QuestionPage,
    Then,
)
from gatewayd.console.operations.request_fields import Wording
from gatewayd.console.pages import add_page

_NEW: Final = Action("Create an invoice", f"{INVOICES}/new")
_CLIENTS: Final = ("accounting.listClients", "name")
_ENTITIES: Final = {"clientId": _CLIENTS, "legalEntityId": ("legalEntity.getLegalEntities", "name")}
_LINE: Final = ("description", "quantity", "unit", "unitPrice", "discountPercent", "vatCode")
_NAMES: Final = (
    *("clientId", "legalEntityId", "issueDate", "dueDate", "currency", "amountsAre"),
    *(f"lines.{name}" for name in _LINE),
    *("discountAmount", "reference", "poNumber", "notes", "terms"),
)
_WORDING: Final = {
    "q": Wording("Number or reference"),
    "clientId": Wording("Client", "", none="Choose one"),
    "legalEntityId": Wording("From", "Who sells.", none="The only one there is"),
    "issueDate": Wording("Date", "The date on the invoice. Today, if you leave it out."),
    "dueDate": Wording("Due", "The last day to pay. By the client's days to pay, if you leave it out."),
    "currency": Wording(hint="The client's, if you leave it out."),
    "amountsAre": Wording("Prices are", "", none="Without VAT, as is usual"),
    "lines": Wording("What is sold", "", one="line"),
    "lines.description": Wording(hint=""),
    "lines.quantity": Wording(hint=""),
    "lines.unit": Wording(hint=""),
    "lines.unitPrice": Wording("Price of one", ""),
    "lines.discountPercent": Wording("Discount, percent", ""),
    "lines.vatCode": Wording("VAT", "", none="As usual for the client"),
    "discountAmount": Wording("Discount of the whole", "What is taken off all lines together."),
    "reference": Wording(hint="Your own, such as a project."),
    "poNumber": Wording("Purchase order", "The client's number."),
    "notes": Wording(hint="A text to the client."),
    "terms": Wording("Terms of payment", ""),
}
LIST: Final = ListPage(
    operation="accounting.listInvoices",
    title="Invoices",
    text="Invoices and credit notes, the newest first.",
    address=INVOICES,
    columns={
        "number": "",
        "clientId": "Client",
        "issueDate": "Date",
        "dueDate": "Due",
        "grossTotal": "Total",
        "balanceDue": "To be paid",
        "status": "",
    },
    filters=("q", "status", "clientId", "issueDateFrom", "issueDateTo"),
    wording={**_WORDING, "issueDateFrom": Wording("From"), "issueDateTo": Wording("To"), "clientId": Wording("Client")},
    entities={"clientId": _CLIENTS},
    href=lambda row: f"{INVOICES}/{row['id']}",
    primary=_NEW,
    empty=EmptyState(sentence="Here stands what your clients are asked to pay.", action=_NEW),
)
NEW: Final = FormPage(
    operation="accounting.createInvoice",
    title="New invoice",
    text="It becomes a draft, whose totals you see before it is issued.",
    button="Create draft",
    back=INVOICES,
    names=_NAMES,
    wording=_WORDING,
    entities=_ENTITIES,
)
CHANGE: Final = FormPage(
    operation="accounting.updateInvoice",
    title="Change draft",
    button="Save",
    back=INVOICES,
    names=_NAMES,
    wording=_WORDING,
    entities=_ENTITIES,
    changes=True,
)
PAY: Final = FormPage(
    operation="accounting.recordPayment",
    title="Record a payment",
    button="Record payment",
    back=INVOICES,
    names=("amount", "date", "method", "reference"),
    wording={
        "amount": Wording(hint="All that is due, if you leave it out."),
        "date": Wording("Day", "When the money came. Today, if you leave it out."),
        "method": Wording("How", "Such as bank transfer or cash."),
    },
)
VOID: Final = FormPage(
    operation="accounting.voidInvoice",
    title="Void an invoice",
    text="It counts nowhere any more, and cannot be taken back. Its number stays taken.",
    button="Void invoice",
    back=INVOICES,
    names=("reason",),
    wording={"reason": Wording(hint="It stays with the invoice.")},
)
ISSUE: Final = QuestionPage(operation="accounting.issueInvoice", button="Issue invoice", back=INVOICES)
DELETE: Final = QuestionPage(operation="accounting.deleteInvoice", button="Delete draft", back=INVOICES)
_ISSUING: Final = ("It gets the next number, and cannot be changed any more: only voided, or credited.",)
_DELETING: Final = ("Nothing is left of it. It never had a number.",)

_FACTS: Final = {
    "kind": "",
    "issueDate": "Date",
    "supplyDate": "Tax point",
    "dueDate": "Due",
    "netTotal": "Net",
    "vatTotal": "VAT",
    "grossTotal": "Total",
    "cisDeduction": "Withheld for CIS",
    "paidTotal": "Paid",
    "creditedTotal": "Credited",
    "balanceDue": "To be paid",
    "reference": "",
    "poNumber": "Purchase order",
    "notes": "",
    "terms": "Terms of payment",
}
_STATUS: Final = Member("status", "", "badge")
_NOT_WHEN_NONE: Final = ("cisDeduction", "paidTotal", "creditedTotal")
_LINES: Final = {
    "description": "",
    "quantity": "",
    "unitPrice": "Price of one",
    "vatCode": "VAT rate",
    "net": "Net",
    "vat": "VAT",
    "gross": "Total",
}
_NUMBERS: Final = ("quantity", "unitPrice")
_PAYMENTS: Final = {"date": "Day", "amount": "", "method": "How", "reference": ""}


class Invoices:
    """The pages of invoices and credit notes."""

    def __init__(self, operations: Operations, pages: OperationPages, clock: Clock) -> None:
        self._operations = operations
        self._clock = clock
        self._list = pages.list_of(LIST)
        self._new, self._change, self._pay, self._void = map(pages.form_of, (NEW, CHANGE, PAY, VOID))
        self._issue, self._delete = map(pages.question_of, (ISSUE, DELETE))
        resource = operations.row("accounting.getInvoice").response
        self._facts = members_of(resource, _FACTS)
        lines = members_of_part(resource, "lines", _LINES)
        self._lines = Listed("Lines", [replace(m, kind="number") if m.name in _NUMBERS else m for m in lines])
        self._payments = Listed("Payments", members_of_part(resource, "payments", _PAYMENTS))

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        one = f"{INVOICES}/<invoice_id>"
        add_page(app, "GET", INVOICES, self.show_list)
        add_page(app, "GET", f"{INVOICES}/new", self._new.show)
        add_page(app, "POST", f"{INVOICES}/new", self.create)
        add_page(app, "GET", one, self.show)
        add_page(app, "GET", f"{one}/change", self.show_change)
        add_page(app, "POST", f"{one}/change", self.change)
        add_page(app, "GET", f"{one}/payment", self.show_pay)
        add_page(app, "POST", f"{one}/payment", self.pay)
        add_page(app, "GET", f"{one}/void", self.show_void)
        add_page(app, "POST", f"{one}/void", self.void)
        add_page(app, "GET", f"{one}/issue", self.ask_issue)
        add_page(app, "POST", f"{one}/issue", self.issue)
        add_page(app, "GET", f"{one}/delete", self.ask_delete)
        add_page(app, "POST", f"{one}/delete", self.delete)

    # -- all of them

    async def show_list(self) -> str:
        return await self._list.show({"summaryOnly": "true"}, self._named)

    async def _named(self, rows: Sequence[JsonObject], options: Options) -> Sequence[JsonObject]:
        """The rows with names in place of ids, and the state that matters most."""
        names = {option.value: option.label for option in options["clientId"]}
        shown = []
        for row in rows:
            name = names.get(row["clientId"]) or await self._client_of(row)
            names[row["clientId"]] = name
            state = "overdue" if row["isOverdue"] else row["status"]
            shown.append({**row, "clientId": name, "number": row["number"] or "Draft", "status": state})
        return shown

    async def _client_of(self, invoice: JsonObject) -> str:
        if invoice["clientSnapshot"] is not None:
            return str(invoice["clientSnapshot"]["name"])
        return str((await self._operations.call("accounting.getClient", {"clientId": invoice["clientId"]}))["name"])

    async def create(self) -> Page:
        return await self._new.submit(self._then("The draft was created."))

    # -- one

    async def show(self, invoice_id: str) -> str:
        found, now = await self._find(invoice_id), self._clock.now()
        shown = {name: value for name, value in found.items() if name not in _NOT_WHEN_NONE or value.strip("0.")}
        money = {"currency": found["currency"]}
        return await render_template(
            "books/invoice.html",
            invoice=found,
            state=cell(_STATUS, {"status": "overdue" if found["isOverdue"] else found["status"]}),
            client=await self._client_of(found),
            client_address=f"{CLIENTS}/{found['clientId']}",
            address=f"{INVOICES}/{invoice_id}",
            facts=facts(self._facts, shown),
            lines=self._lines.table([{**line, **money} for line in found["lines"]], now),
            payments=self._payments.table([{**each, **money} for each in found["payments"]], now),
            entries=_timeline(found),
            now=now,
        )

    async def show_change(self, invoice_id: str) -> str:
        return await self._change.show(await self._find(invoice_id), back=f"{INVOICES}/{invoice_id}")

    async def change(self, invoice_id: str) -> Page:
        back = f"{INVOICES}/{invoice_id}"
        return await self._change.submit(self._then("The draft was changed."), {"invoiceId": invoice_id}, back=back)

    async def show_pay(self, invoice_id: str) -> str:
        found = await self._find(invoice_id)
        return await self._pay.show(title=f"A payment for {_title(found)}", back=f"{INVOICES}/{invoice_id}")

    async def pay(self, invoice_id: str) -> Page:
        said = self._then("The payment was recorded.")
        return await self._pay.submit(said, {"invoiceId": invoice_id}, back=f"{INVOICES}/{invoice_id}")

    async def show_void(self, invoice_id: str) -> str:
        found = await self._find(invoice_id)
        return await self._void.show(title=f"Void {_title(found)}?", back=f"{INVOICES}/{invoice_id}")

    async def void(self, invoice_id: str) -> Page:
        said, back = self._then("The invoice was voided."), f"{INVOICES}/{invoice_id}"
        return await self._void.submit(said, {"invoiceId": invoice_id}, back=back)

    async def ask_issue(self, invoice_id: str) -> str:
        found = await self._find(invoice_id)
        return await self._issue.show(await self._about("Issue", found), _ISSUING, f"{INVOICES}/{invoice_id}")

    async def issue(self, invoice_id: str) -> Page:
        question = await self._about("Issue", await self._find(invoice_id))
        return await self._issue.submit(self._then(), {"invoiceId": invoice_id}, question, _ISSUING)

    async def ask_delete(self, invoice_id: str) -> str:
        found = await self._find(invoice_id)
        return await self._delete.show(await self._about("Delete", found), _DELETING, f"{INVOICES}/{invoice_id}")

    async def delete(self, invoice_id: str) -> Page:
        async def then(_: JsonObject) -> Page:
            flash("success", "The draft was deleted.")
            return see(INVOICES)

        question = await self._about("Delete", await self._find(invoice_id))
        return await self._delete.submit(then, {"invoiceId": invoice_id}, question, _DELETING)

    async def _find(self, invoice_id: str) -> JsonObject:
        found: JsonObject = await self._operations.call("accounting.getInvoice", {"invoiceId": invoice_id})
        return found

    async def _about(self, verb: str, invoice: JsonObject) -> str:
        return f"{verb} {_title(invoice)} for {await self._client_of(invoice)}?"

    def _then(self, said: str = "") -> Then:
        """Say it, and what the operation warns of, on the page of the invoice."""

        async def then(invoice: JsonObject) -> Page:
            flash("success", said or f"{_title(invoice)} was issued.")
            for warning in invoice.get("warnings", ()):
                flash("warning", warning["message"])
            return see(f"{INVOICES}/{invoice['id']}")

        return then


def _title(invoice: JsonObject) -> str:
    """What it is called: by its number, once it has one."""
    return str(invoice["number"] or "the draft")


def _timeline(invoice: JsonObject) -> list[TimelineEntry]:
    """What happened to it at which moment, the latest first."""
    moments: tuple[tuple[str, str, Tone], ...] = (
        ("voidedAt", f"Voided: {invoice['voidReason']}", "danger"),
        ("sentAt", "Sent to the client", "information"),
        ("createdAt", "Created", "neutral"),
    )
    told = [(invoice[name], text, tone) for name, text, tone in moments if invoice[name] is not None]
    return [TimelineEntry(at=from_wire(at), text=text, tone=tone) for at, text, tone in sorted(told, reverse=True)]
