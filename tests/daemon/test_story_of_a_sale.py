"""A sale from its quote to the bank's line, and a supplier's bill; each event arrives signed.

The days are two of one fortnight: on a Monday the quote is accepted and invoiced; on the Thursday of the week after,
the invoice is three days late. In between nobody serves.
"""

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import httpx
import pytest

from gatewayd.cli.demo.books import Line, statement
from tests.daemon.hooks import Hooks, make_authority, receiving, webhook_settings
from tests.daemon.instance import Firm, Instance, Running, plain_client, serving, until
from tests.daemon.test_mail import SETTINGS
from tests.daemon.test_papers_sent import answer, link_in, words_of
from tests.mail.serving import MailServer, Taken, mail_server
from tests.support.delivered import in_order, verified

API: Final = "/api/rpc"
LONDON: Final = ZoneInfo("Europe/London")
EMAIL: Final = "accounts@birch.example"
LINE: Final = {"description": "Oak staircase", "unitPrice": "1000.00", "vatCode": "standard"}
ADDRESS: Final = {"line1": "4 Elm Yard", "town": "Leeds", "postcode": "LS1 4AP", "countryCode": "GB"}
DAYS_LATER: Final = 10
ACCOUNT: Final = "60161331"


def first_day() -> datetime.datetime:
    """The next Monday, at ten in London."""
    today = datetime.datetime.now(LONDON)
    monday = today.date() + datetime.timedelta(days=7 - today.weekday())
    return datetime.datetime.combine(monday, datetime.time(10), LONDON)


class Story:
    """A joiner, a timber merchant who serves them from the same machine, and what arrives at the joiner's client."""

    def __init__(self, directory: Path, mail: MailServer, hooks: Hooks, ca_file: Path) -> None:
        settings = SETTINGS.format(port=mail.port) + webhook_settings(ca_file) + "[limits]\nrequests_per_minute = 0\n"
        self.instance = Instance(directory, settings)
        self.joiner = self.instance.firm("Ann Oak Joinery")
        self.merchant = self.instance.firm("Rowan Timber Ltd")
        self.mail, self.hooks = mail, hooks
        self.monday = first_day()
        self.secret = ""
        self.running: Running | None = None

    @contextmanager
    def serve(self, day: int) -> Iterator[None]:
        """The daemon, so many days after the Monday, at ten."""
        at = self.monday + datetime.timedelta(days=day)
        ahead = round((at - datetime.datetime.now(LONDON)).total_seconds())
        with serving(self.instance, module="tests.daemon.set_clock", CLOCK_AHEAD_SECONDS=str(ahead)) as running:
            self.running = running
            yield

    def day(self, day: int) -> str:
        return (self.monday.date() + datetime.timedelta(days=day)).isoformat()

    def call(
        self, method: str, path: str, body: dict[str, Any] | None = None, firm: Firm | None = None
    ) -> dict[str, Any]:
        assert self.running is not None
        reply = self.running.call((firm or self.joiner).key, method, f"{API}{path}", body)
        assert reply.status_code == 200, reply.text
        found: dict[str, Any] = reply.json()
        return found

    def came(self, subject: str) -> Taken:
        """The one mail to the client whose subject begins so, once it is there."""

        def found() -> Taken | None:
            mails = [each for each in self.mail.taken() if each.to == EMAIL]
            return next((each for each in mails if str(each.message["Subject"]).startswith(subject)), None)

        return until(found)

    def told(self, *names: str) -> None:
        """Wait until those events have arrived, each signed."""

        def arrived() -> bool:
            with self.hooks.arrived:
                documents = [verified(each, self.secret) for each in self.hooks.arrivals]
            return set(names) <= {document["event"] for document in documents}

        until(arrived)

    def upload(self, name: str, content: bytes) -> str:
        """A document in the joiner's vault, once it was read."""
        made = self.call("POST", "/vault/documents", {"name": name})
        assert self.running is not None
        upload = made["upload"]
        place = httpx.URL(upload["url"]).raw_path.decode()
        sent = self.running.client.put(place, content=content, headers=upload["headers"])
        assert sent.status_code < 300, sent.text
        id_ = made["document"]["id"]
        self.call("POST", f"/vault/documents/{id_}/confirm-upload", {"sizeBytes": len(content)})
        until(lambda: self.call("GET", f"/vault/documents/{id_}")["parse"]["status"] == "succeeded")
        return str(id_)


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    authority, ca_file = make_authority(tmp_path)
    with receiving(authority) as hooks, mail_server(tmp_path / "smtp") as mail:
        yield Story(tmp_path, mail, hooks, ca_file)


def test_a_sale_and_a_bill(story: Story) -> None:
    with story.serve(0):
        begin(story)
        quote_id, link = quote(story)
        accept(story, link)
        deposit = ask_for_deposit(story, quote_id)
        rest = send_rest(story, quote_id)
        see(story, rest)
        bill = supply(story)
    with story.serve(DAYS_LATER):
        remind(story, rest)
        credit(story, deposit)
        settle(story, rest, bill)
        account(story)
        log = repr(story.running.lines()) if story.running else ""
    assert EMAIL not in log
    with story.hooks.arrived:
        events = in_order(verified(each, story.secret) for each in story.hooks.arrivals)
    told = [document["event"] for document in events]
    of_sale = [name for name in told if name.split(".")[0] in ("quote", "invoice", "bill")]
    wanted = iter(of_sale)
    for name in (
        "quote.created",
        "quote.sent",
        "quote.accepted",
        "invoice.issued",
        "invoice.sent",
        "quote.invoiced",
        "invoice.sent",
        "invoice.part_paid",
        "bill.created",
        "invoice.overdue",
        "invoice.paid",
        "bill.paid",
    ):
        assert name in wanted, (name, of_sale)
    assert told.count("invoice.overdue") == 1


def begin(story: Story) -> None:
    """Who sells and buys, the client's address, who is told, and when clients are reminded."""
    entity = story.call("GET", "/legalEntity/getLegalEntities")["data"][0]
    story.call("POST", "/legalEntity/updateLegalEntity", {"id": entity["id"], "address": ADDRESS})
    trade = {"legalEntityId": entity["id"], "type": "company_trade", "name": "Joinery"}
    story.call("POST", "/businesses/create", trade)
    story.call("PATCH", f"/clients/{story.joiner.client_id}", {"email": EMAIL, "paymentTermsDays": 7})
    made = story.call("POST", "/webhooks/subscriptions", {"url": story.hooks.url, "events": ["*"]})
    story.secret = made["secret"]
    story.call("PATCH", "/invoices/reminder-schedule", {"enabled": True, "rungs": [{"days": 3}]})


def quote(story: Story) -> tuple[str, str]:
    made = story.call("POST", "/quotes", {"clientId": story.joiner.client_id, "lines": [LINE]})
    story.call("POST", f"/quotes/{made['id']}/send", {"issue": True})
    mail = story.came("Quote ")
    assert "1,200.00" in words_of(mail)
    return made["id"], link_in(mail)


def accept(story: Story, link: str) -> None:
    assert story.running is not None
    with plain_client(story.running.url) as stranger:
        page = stranger.get(link).text
        assert answer(stranger, page, f"{link}/accept", name="Bea Birch").status_code == 303
    story.told("quote.accepted")


def ask_for_deposit(story: Story, quote_id: str) -> dict[str, Any]:
    """A quarter, paid at once by card."""
    deposit = story.call("POST", f"/quotes/{quote_id}/invoice", {"percent": "25", "status": "issued"})
    assert deposit["grossTotal"] == "300.00"
    story.call("POST", f"/invoices/{deposit['id']}/send", {})
    assert deposit["number"] in words_of(story.came(f"Invoice {deposit['number']}"))
    paid = story.call("POST", f"/invoices/{deposit['id']}/payments", {"amount": "300.00", "method": "card"})
    assert paid["status"] == "paid"
    return deposit


def send_rest(story: Story, quote_id: str) -> dict[str, Any]:
    rest = story.call("POST", f"/quotes/{quote_id}/invoice", {"status": "issued"})
    assert (rest["grossTotal"], rest["dueDate"]) == ("900.00", story.day(7))
    story.call("POST", f"/invoices/{rest['id']}/send", {"message": "The stairs are in. Thank you."})
    mail = story.came(f"Invoice {rest['number']}")
    assert "The stairs are in." in mail.text()
    assert "900.00" in words_of(mail)
    return rest | {"link": link_in(mail)}


def see(story: Story, rest: dict[str, Any]) -> None:
    """The client looks at it, and pays a part."""
    assert story.running is not None
    with plain_client(story.running.url) as stranger:
        assert "£900.00" in stranger.get(rest["link"]).text
    assert story.call("GET", f"/invoices/{rest['id']}")["viewedAt"] is not None
    paid = story.call("POST", f"/invoices/{rest['id']}/payments", {"amount": "400.00"})
    assert (paid["status"], paid["balanceDue"]) == ("part_paid", "500.00")
    with plain_client(story.running.url) as stranger:
        assert "£500.00" in stranger.get(rest["link"]).text


def supply(story: Story) -> dict[str, Any]:
    """The merchant's invoice is a Factur-X file: read exactly, proposed, and entered in one step."""
    assert story.running is not None
    merchant = story.merchant
    entity = story.call("GET", "/legalEntity/getLegalEntities", firm=merchant)["data"][0]
    names = {"name": "Rowan Timber Ltd", "legalName": "Rowan Timber Ltd", "vatNumber": "GB123456782"}
    story.call("POST", "/legalEntity/updateLegalEntity", {"id": entity["id"], "address": ADDRESS, **names}, merchant)
    line = {"description": "Ash boards", "unitPrice": "250.00", "vatCode": "standard"}
    sold = story.call(
        "POST", "/invoices", {"clientId": merchant.client_id, "status": "issued", "lines": [line]}, merchant
    )
    paper = story.running.call(merchant.key, "GET", f"{API}/invoices/{sold['id']}/pdf", None)
    document_id = story.upload("from-rowan.pdf", paper.content)
    facts = story.call("GET", f"/vault/documents/{document_id}")["extracted"]
    assert (facts["total"], facts["reference"]) == ("300.00", sold["number"])
    [proposing] = story.call("GET", f"/vault/proposals?documentId={document_id}")["data"]
    [proposed] = [each for each in proposing["proposals"] if each["kind"] == "bill"]
    assert (proposed["bill"]["gross"], proposed["bill"]["number"]) == ("300.00", sold["number"])
    supplier = story.call("POST", "/clients", {"name": "Rowan Timber Ltd", "vatNumber": "GB123456782"})
    bill = story.call(
        "POST",
        "/bills/accept",
        {
            "documentId": document_id,
            "category": "costOfGoods",
            "vatCode": "standard",
            "supplierId": supplier["id"],
        },
    )
    assert (bill["grossTotal"], bill["vatTotal"], bill["status"]) == ("300.00", "50.00", "awaiting_payment")
    assert bill["documentIds"] == [document_id]
    return bill


def remind(story: Story, rest: dict[str, Any]) -> None:
    """Three days late: one mail, of what is still due."""
    story.told("invoice.overdue")
    reminders = until(lambda: story.call("GET", f"/invoices/{rest['id']}/reminders")["reminders"])
    assert [(each["days"], each["status"]) for each in reminders] == [(3, "written")]

    def reminded() -> Taken | None:
        mails = [each for each in story.mail.taken() if rest["link"] in each.text()]
        return mails[1] if len(mails) > 1 else None

    assert "£500.00" in until(reminded).text()


def credit(story: Story, deposit: dict[str, Any]) -> None:
    """A scratch is made good: sixty pounds off, as the deposit was with its VAT, go against what is due of the rest."""
    line = {"description": "A scratch", "unitPrice": "60.00", "vatCode": "standard"}
    note = {"clientId": story.joiner.client_id, "kind": "credit_note", "creditsInvoiceId": deposit["id"]}
    made = story.call("POST", "/invoices", {**note, "status": "issued", "lines": [line]})
    assert made["grossTotal"] == "60.00"
    assert story.call("GET", f"/clients/{story.joiner.client_id}")["balances"]["credit"] == "60.00"
    applied = story.call("POST", "/client-credits", {"clientId": story.joiner.client_id})
    assert applied["amount"] == "60.00"


def settle(story: Story, rest: dict[str, Any], bill: dict[str, Any]) -> None:
    """The bank's file has what the client paid and what the merchant got; each is proposed, and taken."""
    entity = story.call("GET", "/legalEntity/getLegalEntities")["data"][0]
    values = {"name": "Current account", "legalEntityId": entity["id"], "sortCode": "204891", "accountNumber": ACCOUNT}
    bank = story.call("POST", "/accounts", values)
    lines = (Line("440.00", "BIRCH LTD", rest["number"]), Line("-300.00", "ROWAN TIMBER", bill["number"]))
    assert story.running is not None
    run = story.running.client.post(
        f"{API}/accounts/{bank['id']}/imports?fileName=statement.ofx",
        content=statement(story.day(DAYS_LATER), lines, "140.00"),
        headers={"Authorization": f"Bearer {story.joiner.key}", "Content-Type": "application/octet-stream"},
    )
    assert (run.status_code, run.json()["added"]) == (200, 2), run.text
    waiting = {
        line["unallocatedAmount"]: line
        for line in story.call("GET", f"/allocations/proposals?accountId={bank['id']}")["data"]
    }
    came, went = waiting["440.00"], waiting["-300.00"]
    assert rest["id"] in [each["invoiceId"] for each in came["proposals"]]
    assert bill["id"] in [each["billId"] for each in went["proposals"]]
    paid = story.call("POST", f"/invoices/{rest['id']}/payments", {"bankTransactionId": came["bankTransactionId"]})
    assert (paid["status"], paid["balanceDue"]) == ("paid", "0.00")
    paid = story.call("POST", f"/bills/{bill['id']}/payments", {"bankTransactionId": went["bankTransactionId"]})
    assert (paid["status"], paid["balanceDue"]) == ("paid", "0.00")
    story.told("invoice.paid", "bill.paid")


def account(story: Story) -> None:
    """At the end nobody owes anything, and the account of the client says how it came to that."""
    debtors = story.call("GET", "/invoices/aged-debtors")
    assert debtors["clients"] == []
    told = story.call("GET", f"/clients/{story.joiner.client_id}/statement?fromDate={story.day(0)}")
    [in_pounds] = told["currencies"]
    assert [line["amount"] for line in in_pounds["lines"]] == [
        "300.00",
        "900.00",
        "-300.00",
        "-400.00",
        "-60.00",
        "-440.00",
    ]
    assert (in_pounds["openingBalance"], in_pounds["lines"][-1]["balance"]) == ("0.00", "0.00")
    business = story.call("GET", "/businesses/list")["data"][0]
    pnl = story.call(
        "GET", f"/businesses/businessPnl?id={business['id']}&fromDate={story.day(0)}&toDate={story.day(DAYS_LATER)}"
    )
    assert (pnl["totals"]["income"], pnl["totals"]["expenses"]) == ("950.00", "250.00")
