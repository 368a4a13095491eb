"""Statements of account as PDF: what stands on them, where they break, and who gets them."""

import re

from msgspec.structs import replace

from gatewayd.papers import statement_layout
from gatewayd.papers.engine import Papers
from gatewayd.papers.orders import Order, Set
from gatewayd.papers.setter import NotSet, Setter
from gatewayd.papers.statement_paper import StatementPaper
from gatewayd.papers.typesetting import Typesetter
from gatewayd.store.files.at_place import blobs_at
from tests.papers.conftest import opened, words_of
from tests.papers.firms import Firm, OpenFirm
from tests.papers.samples import CLIENT, SELLER
from tests.papers.statements import account, statement

LONG = "The Very Long Named Association of Residents and Leaseholders of Canal Wharf Development Limited"


def set_by(typesetter: Typesetter, told: StatementPaper) -> bytes:
    answer = typesetter.answer(Order(paper=told))
    assert isinstance(answer, Set), answer
    assert answer.is_archival
    return answer.pdf


def pages_of(pdf: bytes) -> list[str]:
    """The words of each page, its lines and spaces as one."""
    return [" ".join(words_of(pdf_of_one).split()) for pdf_of_one in _apart(pdf)]


def _apart(pdf: bytes) -> list[bytes]:
    import io

    import pikepdf

    parts = []
    for page in opened(pdf).pages:
        one, kept = pikepdf.Pdf.new(), io.BytesIO()
        one.pages.append(page)
        one.save(kept)
        parts.append(kept.getvalue())
    return parts


def test_every_figure_stands_on_it(typesetter: Typesetter) -> None:
    told = statement(account(8), account(4, "USD", credit="12.00", balance="-12.00"))
    words = " ".join(words_of(set_by(typesetter, told)).split())
    shown = statement_layout.of_statement(told, {})
    for each in shown["accounts"]:
        texts = [*each["opening"], *each["closing"], *each["columns"], *each["ages"][0], *each["ages"][1]]
        texts += [cell for line in each["lines"] for cell in line]
        assert [text for text in texts if text not in words] == []
    assert [fact for fact in shown["facts"] if fact[1] not in words] == []
    assert ["In your favour", "$12.00"] in shown["facts"]
    assert [each["heading"] for each in shown["accounts"]] == ["Account in GBP", "Account in USD"]
    assert "How to pay" in words
    assert "20-45-00" in words


def test_a_long_one_repeats_its_head_and_carries_forward(typesetter: Typesetter) -> None:
    told = statement(account(200), client=replace(CLIENT, name=LONG), seller=replace(SELLER, name=LONG))
    pages = pages_of(set_by(typesetter, told))
    assert len(pages) > 3
    carried = [re.search(r"Carried forward ([0-9,.]+)", page) for page in pages]
    brought = [re.search(r"Brought forward ([0-9,.]+)", page) for page in pages]
    balances = statement_layout.of_statement(told, {})["accounts"][0]["lines"]
    assert brought[0] is None
    assert carried[-1] is None
    for page, (before, after) in enumerate(zip(carried, brought[1:], strict=False)):
        assert before is not None
        assert after is not None
        assert before[1] == after[1]
        assert pages[page + 1].count("Balance (GBP)") == 1
        # what is carried is the balance of the last line of the page, whose number it has
        last = max(int(number) for number in re.findall(r"INV-(\d{6})", pages[page]))
        assert before[1] == balances[last - 1][-1]
    assert all(f"INV-{number:06}" in " ".join(pages) for number in range(1, 201))


def test_what_is_outstanding_has_no_day_before(typesetter: Typesetter) -> None:
    told = statement(account(2), from_date=None)
    words = " ".join(words_of(set_by(typesetter, told)).split())
    assert "Outstanding on 20 November 2026" in words
    assert "Balance before" not in words
    assert "Open" in words


def test_an_account_without_anything_says_so(typesetter: Typesetter) -> None:
    words = words_of(set_by(typesetter, statement()))
    assert "Nothing is owed" in words
    assert "How to pay" not in words


def test_the_same_account_gives_the_same_bytes(typesetter: Typesetter) -> None:
    assert set_by(typesetter, statement(account())) == set_by(Typesetter(), statement(account()))


# -- through the API


async def statement_pdf(firm: Firm, **values: object) -> str:
    reply = await firm.ask("accounting.getStatementPdf", clientId=firm.ids["cli"], **values)
    assert reply.status == 200, reply.body
    assert reply["content-type"] == "application/pdf"
    return " ".join(words_of(reply.body).split())


async def refused(firm: Firm, token: str = "good", **values: object) -> str:
    reply = await firm.ask("accounting.getStatementPdf", token, **{"clientId": firm.ids["cli"], **values})
    assert reply.status >= 400
    return reply.code


async def test_it_says_what_the_account_says(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        made = await firm.invoice(issueDate="2026-11-01", reference="Stairs")
        await firm.call("accounting.recordPayment", invoiceId=made["id"], amount="20.00", date="2026-11-10")
        await firm.call("accounting.setPaper", footer="Thank you", accentColor="#7a3b12")
        words = await statement_pdf(firm, fromDate="2026-11-01", toDate="2026-11-20")
        told = await firm.call("accounting.getStatement", clientId=firm.ids["cli"])
        assert told["currencies"][0]["balance"] == "100.00"
        for text in (
            "Oak Ltd",
            "Harbour Ltd",
            "INV-000001, Stairs",
            "120.00",
            "20.00",
            "Balance due £100.00",
            "Thank you",
        ):
            assert text in words
        open_ = await statement_pdf(firm, kind="outstanding", currency="GBP", legalEntityId=firm.ids["ent"])
        assert "Outstanding on" in open_
        reply = await firm.ask("accounting.getStatementPdf", clientId=firm.ids["cli"], toDate="2026-11-20")
        assert "statement-2026-11-20.pdf" in reply["content-disposition"]


async def test_nobody_elses_account_is_set(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        assert await refused(firm, "other") == "not_found"


async def test_of_several_sellers_one_is_named(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        await firm.call("legalEntity.createLegalEntity", name="Elm", type="sole_trader")
        reply = await firm.ask("accounting.getStatementPdf", clientId=firm.ids["cli"])
        assert [error["path"] for error in reply.json()["errors"]] == ["legalEntityId"]
        assert "Harbour Ltd" in await statement_pdf(firm, legalEntityId=firm.ids["ent"])
        await firm.invoice(legalEntityId=firm.ids["ent"])
        assert "Oak Ltd" in await statement_pdf(firm)  # the only one that made anything out to the client


async def test_a_logo_that_is_none_or_gone_is_told(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        logo = await firm.upload("logo.png", b"\x89PNG\r\n\x1a\n")
        await firm.call("accounting.setPaper", logoDocumentId=logo)
        assert await refused(firm) == "invalid_state"
        document = await firm.call("vault.getDocument", documentId=logo)
        blobs_at(firm.api.store.place).remove(document["sha256"])
        assert await refused(firm) == "gone"


async def test_what_cannot_be_set_is_told(open_firm: OpenFirm) -> None:
    class Broken(Setter):
        def __init__(self) -> None: ...

        async def set(self, order: Order) -> Set:
            raise NotSet("broken")

    async with open_firm() as firm:
        firm.engines.papers = Papers(firm.api.store, Broken(), 0)
        assert await refused(firm) == "unavailable"
