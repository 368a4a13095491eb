"""`/i/<token>`: what a stranger with a link sees of a paper, and what they can do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pytest
import trio

from gatewayd.areas.accounting import paper_links
from gatewayd.areas.banking.accounts.operations import create_account
from gatewayd.areas.banking.accounts.shapes import CreateAccount
from gatewayd.clock import DAY
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.identity.people import suspensions
from gatewayd.papers.engine import Papers
from gatewayd.papers.orders import Order, Set
from gatewayd.papers.public import PublicPapers
from gatewayd.performing.performer import encoded
from gatewayd.performing.rate_limits import RateLimits
from tests.areas.accounting.books import ADDRESS, LINE, OPERATIONS
from tests.console.visiting import ISSUER, Answer, Site, fields_of, open_site
from tests.support.store import make_caller

Json = dict[str, Any]


class Presses:
    """A setter that counts; `gate` holds it back."""

    def __init__(self) -> None:
        self.made = 0
        self.under_way = 0
        self.most = 0
        self.gate = trio.Event()
        self.gate.set()

    async def set(self, order: Order) -> Set:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await self.gate.wait()
        self.under_way -= 1
        self.made += 1
        return Set(pdf=f"%PDF of {order.paper.number}".encode(), is_archival=True)


class Firm:
    """A firm with a client, and strangers who have links of its papers."""

    def __init__(self, site: Site, presses: Presses) -> None:
        self.site = site
        self.presses = presses

    async def do(self, operation: str, **body: object) -> Json:
        row = OPERATIONS[operation]
        request = RequestDecoder(row).body(msgspec.json.encode(body))
        caller = make_caller(self.site.org_id)
        given = await self.site.store.write(lambda tx: encoded(row.handler(tx, caller, request)), self.site.org_id)
        answer: Json = msgspec.json.decode(given)
        return answer

    async def client(self, name: str = "Harbour Ltd") -> str:
        made = await self.do("createClient", name=name, billingAddress=ADDRESS, allowDuplicate=True)
        return str(made["id"])

    async def invoice(self, **fields: object) -> Json:
        return await self.do(
            "createInvoice", **{"clientId": await self.client(), "status": "issued", "lines": [LINE], **fields}
        )

    async def quote(self, **fields: object) -> Json:
        made = await self.do("createQuote", **{"clientId": await self.client(), "lines": [LINE], **fields})
        return await self.do("issueQuote", quoteId=made["id"])

    async def link(self, of: Json) -> str:
        """Its path."""
        made = await self.do("makeLink", paperId=of["id"])
        return "/i/" + str(made["link"]).rpartition("/i/")[2]

    async def now(self, of: Json) -> Json:
        table = "quotes" if of["id"].startswith("quo_") else "invoices"
        names = ("viewed_at", "version", *(("state", "answered_by", "decline_reason") if table == "quotes" else ()))
        row = await self.site.store.read(
            lambda tx: tx.row(f"SELECT {', '.join(names)} FROM {table} WHERE id = :id", id=of["id"])
        )
        assert row is not None
        return dict(zip(names, row, strict=True))


class OpenFirm(Protocol):
    def __call__(self, per_minute: int = 0) -> Any: ...


@pytest.fixture
def open_firm(database_image: bytes, tmp_path: Path) -> OpenFirm:
    @asynccontextmanager
    async def opened(per_minute: int = 0) -> AsyncIterator[Firm]:
        presses = Presses()

        def papers(store: Any) -> PublicPapers:
            setter: Any = presses
            return PublicPapers(store, Papers(store, setter, 0), RateLimits(per_minute, 100))

        async with open_site(tmp_path, database_image, papers=papers) as site:
            yield Firm(site, presses)

    return opened


@pytest.fixture
async def firm(open_firm: OpenFirm) -> AsyncIterator[Firm]:
    async with open_firm() as opened:
        yield opened


def text_of(answer: Answer) -> str:
    return answer.page.text


async def test_an_invoice_is_shown_with_what_is_due_and_where_to_pay(firm: Firm) -> None:
    account = await firm_account(firm)
    made = await firm.invoice(reference="Staircase", notes="Thank you.", bankAccountId=account)
    await firm.do("recordPayment", invoiceId=made["id"], amount="30.00")
    answer = await firm.site.browser().get(await firm.link(made))
    assert answer.status == 200
    for said in ("Invoice INV-000001", "Oak & Son", "Harbour Ltd", "4 Quay Street", "Joinery", "100.00", "Staircase"):
        assert said in text_of(answer)
    for said in ("Paid in part", "£30.00", "£70.00", "Still to be paid", "12345678", "Thank you.", "Download PDF"):
        assert said in text_of(answer)
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "Ann" not in text_of(answer)  # nothing of who works there


async def firm_account(firm: Firm) -> str:
    request = CreateAccount(
        name="Current", currency="GBP", sort_code="200000", account_number="12345678", holder_name="Oak & Son"
    )
    caller = make_caller(firm.site.org_id)
    return (await firm.site.store.write(lambda tx: create_account(tx, caller, request), firm.site.org_id)).id


async def test_the_first_look_is_kept_and_is_no_version(firm: Firm) -> None:
    made, offered = await firm.invoice(), await firm.quote()
    for paper in (made, offered):
        before = await firm.now(paper)
        link = await firm.link(paper)
        assert before["viewed_at"] is None
        await firm.site.browser().get(link)
        seen = await firm.now(paper)
        assert (seen["viewed_at"], seen["version"]) == (firm.site.clock.now(), before["version"])
        firm.site.clock.advance(DAY)
        await firm.site.browser().get(link)
        assert await firm.now(paper) == seen


async def test_neither_the_sellers_own_people_nor_what_fetches_ahead_has_seen_it(firm: Firm) -> None:
    made = await firm.invoice()
    link = await firm.link(made)
    assert (await (await firm.site.signed_in()).get(link)).status == 200
    stranger = firm.site.browser()
    assert (await stranger.get(link, Sec_Purpose="prefetch")).status == 200
    assert (await stranger.get(link, method="HEAD")).status == 200
    assert (await firm.now(made))["viewed_at"] is None
    other = await firm.site.add_user("olga@elm.example")
    await firm.site.add_org("Elm", other)
    await (await firm.site.signed_in("olga@elm.example")).get(link)
    assert (await firm.now(made))["viewed_at"] is not None


async def test_unknown_links_are_answered_alike(firm: Firm) -> None:
    link = await firm.link(await firm.invoice())
    await firm.site.store.write(lambda tx: suspensions.suspend(tx, firm.site.org_id, "Unpaid", "operator"))  # it rests
    answers = [
        await firm.site.browser().get(path)
        for path in (link, "/i/gwd_i_unknown", "/i/x", f"{link}x", "/i/gwd_i_/invoice.pdf")
    ]
    assert {answer.status for answer in answers} == {404}
    assert len({text_of(answer).replace(answer.headers["X-Request-Id"], "") for answer in answers}) == 1


async def test_a_link_that_was_replaced_says_so_and_nothing_else(firm: Firm) -> None:
    made = await firm.invoice()
    link = await firm.link(made)
    await firm.do("makeLink", paperId=made["id"], replace=True)
    for path in (link, f"{link}/invoice.pdf"):
        answer = await firm.site.browser().get(path)
        assert (answer.status, "Whoever sent it to you has another." in text_of(answer)) == (410, True)
        assert "Harbour" not in text_of(answer)


async def test_a_void_invoice_says_so_and_gives_no_file(firm: Firm) -> None:
    made = await firm.invoice()
    link = await firm.link(made)
    await firm.do("voidInvoice", invoiceId=made["id"], reason="Wrong client")
    answer = await firm.site.browser().get(link)
    assert "Nothing is to be paid by it." in text_of(answer)
    assert "Wrong client" not in text_of(answer)
    assert "Download PDF" not in text_of(answer)
    assert (await firm.site.browser().get(f"{link}/invoice.pdf")).headers["Content-Type"].startswith("text/html")
    assert firm.presses.made == 0


async def test_a_paper_that_is_overdue_says_so(firm: Firm) -> None:
    made = await firm.invoice(paymentTermsDays=1)
    link = await firm.link(made)
    assert "To be paid" in text_of(await firm.site.browser().get(link))
    firm.site.clock.advance(2 * DAY)
    assert "Overdue" in text_of(await firm.site.browser().get(link))


async def test_its_pdf_is_made_once_for_many_who_ask_at_once(firm: Firm) -> None:
    link = await firm.link(await firm.invoice())
    offered = await firm.link(await firm.quote())
    firm.presses.gate = trio.Event()
    answers: list[Answer] = []

    async def ask(path: str) -> None:
        answers.append(await firm.site.browser().get(path))

    async with trio.open_nursery() as strangers:
        for _ in range(5):
            strangers.start_soon(ask, f"{link}/invoice.pdf")
            strangers.start_soon(ask, f"{offered}/quote.pdf")
        with trio.fail_after(30):
            while firm.presses.under_way == 0:
                await trio.sleep(0.01)
        firm.presses.gate.set()
    assert {answer.status for answer in answers} == {200}
    assert {answer.headers["Content-Disposition"] for answer in answers} == {
        'attachment; filename="INV-000001.pdf"',
        'attachment; filename="QUO-000001.pdf"',
    }
    assert (firm.presses.most, firm.presses.made) == (1, 6)  # that of the invoice was kept


async def test_who_asks_too_often_waits(open_firm: OpenFirm) -> None:
    async with open_firm(per_minute=12) as firm:
        link = await firm.link(await firm.invoice())
        found = [(await firm.site.browser().get(link)).status for _ in range(13)]
        assert found == [200] * 12 + [429]
        assert (await firm.site.browser().get("/i/gwd_i_unknown")).status == 429


# -- quotes


async def answer_to(firm: Firm, link: str, what: str, **values: str) -> Answer:
    stranger = firm.site.browser()
    page = await stranger.open(link)
    return await stranger.submit(page, f"{link}/{what}", **values)


async def test_a_quote_is_accepted_by_its_form(firm: Firm) -> None:
    made = await firm.quote()
    link = await firm.link(made)
    stranger = firm.site.browser()
    page = await stranger.open(link)
    assert "The quote holds until 20 Dec 2026." in page.text
    assert "Open" in page.text
    assert "To be paid" not in page.text
    answer = await stranger.submit(page, f"{link}/accept", name="Harry Harbour")
    assert answer.location == link
    shown = (await stranger.follow(answer)).page.text
    assert "You accepted the quote." in shown
    assert "Accepted by Harry Harbour." in shown
    assert "Your answer" not in shown
    found = await firm.now(made)
    assert (found["state"], found["answered_by"]) == ("accepted", "Harry Harbour")
    assert (await stranger.submit(page, f"{link}/accept", name="Somebody Else")).status == 303
    assert (await firm.now(made))["answered_by"] == "Harry Harbour"


async def test_a_quote_is_declined_with_a_reason(firm: Firm) -> None:
    made = await firm.quote()
    answer = await answer_to(firm, await firm.link(made), "decline", name="Harry", reason="Too dear")
    assert answer.status == 303
    found = await firm.now(made)
    assert (found["state"], found["answered_by"], found["decline_reason"]) == ("declined", "Harry", "Too dear")
    shown = await firm.site.browser().open(await firm.link(made))
    assert "Declined by Harry." in shown.text
    assert (await answer_to_page(firm, made, "decline")) == 303


async def answer_to_page(firm: Firm, made: Json, what: str) -> int:
    """Answer by the form of another quote's page, which a browser had open."""
    stranger, other = firm.site.browser(), await firm.link(await firm.quote())
    page = await stranger.open(other)
    fields = [(name, text) for name, text in page_fields(page, f"{other}/{what}") if name != "name"]
    link = await firm.link(made)
    return (await stranger.post(f"{link}/{what}", [*fields, ("name", "Harry")], Origin=ISSUER)).status


def page_fields(page: Any, action: str) -> Any:
    return fields_of(page.form(action))


async def test_who_accepts_says_who_they_are(firm: Firm) -> None:
    made = await firm.quote()
    answer = await answer_to(firm, await firm.link(made), "accept", name="  ")
    assert (answer.status, "Say who you are." in text_of(answer)) == (422, True)
    assert (await firm.now(made))["state"] == "sent"


async def test_an_expired_quote_says_so_and_is_not_accepted(firm: Firm) -> None:
    made = await firm.quote()
    link = await firm.link(made)
    stranger = firm.site.browser()
    page = await stranger.open(link)
    firm.site.clock.advance(31 * DAY)
    answer = await stranger.submit(page, f"{link}/accept", name="Harry")
    assert (answer.status, "This quote has expired. Ask for another." in text_of(answer)) == (422, True)
    shown = (await stranger.open(link)).text
    assert "This quote held until 20 Dec 2026." in shown
    assert "Your answer" not in shown


async def test_what_was_answered_otherwise_stays(firm: Firm) -> None:
    made = await firm.quote()
    assert (await answer_to_page(firm, made, "accept")) == 303
    assert (await answer_to_page(firm, made, "decline")) == 422
    assert (await firm.now(made))["state"] == "accepted"


async def test_an_invoice_is_not_accepted(firm: Firm) -> None:
    assert (await answer_to_page(firm, await firm.invoice(), "accept")) == 404


async def test_a_form_of_another_site_or_without_its_token_changes_nothing(firm: Firm) -> None:
    made = await firm.quote()
    link = await firm.link(made)
    stranger = firm.site.browser()
    fields = page_fields(await stranger.open(link), f"{link}/accept")
    sent = [*((name, text) for name, text in fields if name != "name"), ("name", "Eve")]
    assert (await stranger.post(f"{link}/accept", sent, Origin="https://evil.example")).status == 403
    assert (await stranger.post(f"{link}/accept", [("name", "Eve")], Origin=ISSUER)).status == 403
    assert (await stranger.get(f"{link}/accept")).status == 405
    assert (await firm.now(made))["state"] == "sent"


async def test_texts_of_strangers_are_texts(firm: Firm) -> None:
    evil = "<script>alert(1)</script>"
    made = await firm.quote(lines=[{**LINE, "description": evil}], notes=evil)
    link = await firm.link(made)
    await answer_to(firm, link, "accept", name=evil)
    answer = await firm.site.browser().get(link)
    assert b"<script>alert" not in answer.body
    assert text_of(answer).count(evil) == 3


async def test_two_organizations_have_each_their_own(firm: Firm) -> None:
    made = await firm.invoice()
    other = await firm.site.add_org("Elm", firm.site.user_id)
    link = await firm.site.store.write(lambda tx: paper_links.link_of(tx, ISSUER, made["id"]), other)
    assert (await firm.site.browser().get(link.removeprefix(ISSUER))).status == 410  # Elm has no such invoice
