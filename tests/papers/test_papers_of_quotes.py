"""Papers of quotes: made each time, of what was offered, with neither account nor electronic form."""

from collections.abc import AsyncIterator

import pytest

from gatewayd.errors import Problem
from gatewayd.papers.orders import PDF_BYTES_MAX
from gatewayd.store.files.at_place import blobs_at
from tests.papers.conftest import words_of
from tests.papers.firms import LINE, Firm, Json, OpenFirm


@pytest.fixture
async def firm(open_firm: OpenFirm) -> AsyncIterator[Firm]:
    async with open_firm() as opened:
        yield opened


async def quote(firm: Firm, *, issued: bool = True) -> Json:
    made = await firm.call("accounting.createQuote", clientId=firm.ids["cli"], lines=[LINE], terms="Half in advance.")
    return await firm.call("accounting.issueQuote", quoteId=made["id"]) if issued else made


async def test_a_quote_is_set_as_it_is_offered(firm: Firm) -> None:
    made = await quote(firm)
    reply = await firm.ask("accounting.getQuotePdf", quoteId=made["id"])
    assert (reply.status, reply["content-type"]) == (200, "application/pdf")
    words = words_of(reply.body)
    shown = ("Quote", made["number"], "Holds until", "20 December 2026", "£120.00", "Harbour Ltd", "Half in advance.")
    assert [said for said in shown if said not in words] == []
    for unsaid in ("Pay by", "Total to pay", "VAT invoice", "DRAFT", "Account number"):
        assert unsaid not in words
    again = await firm.ask("accounting.getQuotePdf", quoteId=made["id"])
    assert again.body == reply.body
    assert b"factur-x.xml" not in reply.body


async def test_a_draft_bears_its_mark(firm: Firm) -> None:
    made = await quote(firm, issued=False)
    reply = await firm.ask("accounting.getQuotePdf", quoteId=made["id"])
    assert "DRAFT" in words_of(reply.body)


async def test_that_of_another_organization_is_not_there(firm: Firm) -> None:
    made = await quote(firm)
    assert (await firm.ask("accounting.getQuotePdf", token="other", quoteId=made["id"])).status == 404


async def test_a_logo_that_cannot_be_drawn_is_told(firm: Firm) -> None:
    made = await quote(firm)
    logo = await firm.upload("logo.png", b"\x89PNG but no picture")
    await firm.api.store.write(
        lambda tx: tx.run("UPDATE vault_documents SET mime_type = 'image/png' WHERE id = :id", id=logo)
    )
    await firm.call("accounting.setPaper", logoDocumentId=logo)
    reply = await firm.ask("accounting.getQuotePdf", quoteId=made["id"])
    assert (reply.status, reply.json()["currentState"]) == (409, "unreadable_logo")
    sha256 = await firm.api.store.read(
        lambda tx: tx.value("SELECT sha256 FROM vault_documents WHERE id = :id", id=logo)
    )
    blobs_at(firm.api.store.place).path(sha256).unlink()
    assert (await firm.ask("accounting.getQuotePdf", quoteId=made["id"])).status == 410


async def test_what_goes_to_clients_is_what_was_issued(firm: Firm) -> None:
    papers = firm.engines.papers
    assert papers is not None
    invoice = await firm.invoice()
    sent = await papers.to_send("org_a", invoice["id"])
    assert len(sent.content) <= PDF_BYTES_MAX
    assert sent.content == await firm.pdf(invoice)
    offered = await quote(firm)
    assert (await papers.to_send("org_a", offered["id"])).name == f"{offered['number']}.pdf"
    await firm.call("accounting.voidInvoice", invoiceId=invoice["id"], reason="Wrong")
    with pytest.raises(Problem) as caught:
        await papers.to_send("org_a", invoice["id"])
    assert caught.value.code == "invalid_state"
    with pytest.raises(Problem) as elsewhere:
        await papers.to_send("org_b", offered["id"])
    assert elsewhere.value.code == "not_found"
