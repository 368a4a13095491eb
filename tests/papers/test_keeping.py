"""Papers through the API: what is kept of them, by whom they are asked for, and what refuses them."""

import pytest
import trio

from gatewayd.ledger.credits.shapes import PlanLimits
from gatewayd.papers.engine import Papers
from gatewayd.papers.orders import Order, Set
from gatewayd.papers.setter import NotSet, Setter
from gatewayd.store.files.at_place import blobs_at
from tests.papers.conftest import words_of
from tests.papers.firms import LINE, OpenFirm
from tests.support import purses


async def test_the_paper_of_an_issued_invoice_is_kept(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        made = await firm.invoice(issueDate="2026-11-20")
        pdf = await firm.pdf(made)
        assert "£120.00" in words_of(pdf)
        now = await firm.invoice_now(made)
        document = await firm.call("vault.getDocument", documentId=now["pdfDocumentId"])
        assert now["version"] == made["version"]  # whoever read it before may still change it
        assert (document["name"], document["mimeType"]) == ("INV-000001.pdf", "application/pdf")
        assert (document["sizeBytes"], document["documentDate"]) == (len(pdf), "2026-11-20")
        assert document["links"] == [{"type": "invoice", "id": made["id"]}]
        # a company's six years from the end of its year of accounts, 31 March (FA 1998 Sch 18 para 21)
        assert document["archiveUntilDate"] == "2033-03-31"
        assert (document["status"], document["parse"]["status"]) == ("uploaded", "none")


async def test_kept_bytes_stay_when_all_else_changes(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        made = await firm.invoice()
        first = await firm.pdf(made)
        await firm.call("accounting.setPaper", accentColor="#7a3b12", footer="Another")
        await firm.call("accounting.updateClient", clientId=firm.ids["cli"], email="new@harbour.example")
        await firm.call("accounting.recordPayment", invoiceId=made["id"], amount="20.00")
        firm.engines.papers = Papers(firm.api.store, _NoSetter(), 0)
        assert await firm.pdf(made) == first
        document_id = (await firm.invoice_now(made))["pdfDocumentId"]
        await firm.call("vault.deleteDocument", documentId=document_id)
        assert await firm.pdf(made) == first  # it lies in the trash, where a record has to stay


class _NoSetter(Setter):
    def __init__(self) -> None:
        """Set nothing."""

    async def set(self, order: Order) -> Set:
        raise NotSet("the compiler is gone")


async def test_of_two_who_ask_at_once_one_document_is_kept(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        made, got = await firm.invoice(), []

        async def one() -> None:
            got.append(await firm.pdf(made))

        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(one)
        assert len(set(got)) == 1
        listed = await firm.call("vault.listDocuments")
        assert [document["name"] for document in listed["data"]] == ["INV-000001.pdf"]


async def test_a_draft_is_marked_and_not_kept(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        draft = await firm.invoice(status="draft")
        words = words_of(await firm.pdf(draft))
        assert "DRAFT" in words
        assert (await firm.invoice_now(draft))["pdfDocumentId"] is None
        assert (await firm.call("vault.listDocuments"))["data"] == []
        await firm.call("accounting.issueInvoice", invoiceId=draft["id"])
        assert "DRAFT" not in words_of(await firm.pdf(draft))


async def test_what_is_void_is_marked_and_its_record_stays(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        made = await firm.invoice()
        await firm.pdf(made)
        kept = (await firm.invoice_now(made))["pdfDocumentId"]
        await firm.call("accounting.voidInvoice", invoiceId=made["id"], reason="A mistake")
        assert "VOID" in words_of(await firm.pdf(made))
        assert (await firm.invoice_now(made))["pdfDocumentId"] == kept


async def test_an_invoice_that_gets_another_rate_gets_another_paper(open_firm: OpenFirm) -> None:
    """Its VAT was nothing, so that no rate was printed; what is printed now is of the rate that holds."""
    async with open_firm() as firm:
        line = {**LINE, "vatCode": "zero"}
        made = await firm.invoice(currency="EUR", fxRate="0.8", lines=[line])
        first = await firm.pdf(made)
        assert "0.8" in words_of(first)
        await firm.call("accounting.setInvoiceRate", invoiceId=made["id"], fxRate="0.9")
        assert (await firm.invoice_now(made))["pdfDocumentId"] is None
        assert "VAT in GBP at 0.9" in " ".join(words_of(await firm.pdf(made)).split())


async def test_it_says_what_its_seller_set(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        account = await firm.call(
            "banking.createAccount",
            name="Current",
            legalEntityId=firm.ids["ent"],
            sortCode="204500",
            accountNumber="31926819",
            holderName="Oak Ltd",
        )
        said = {"terms": "Pay soon.", "register": "England and Wales", "tradingName": "Oak & Son", "footer": "Hello"}
        await firm.call("accounting.setPaper", bankAccountId=account["id"], **said)
        words = words_of(await firm.pdf(await firm.invoice()))
        for text in ("20-45-00", "31926819", "Pay soon.", "Registered in England and Wales", "Oak & Son", "Hello"):
            assert text in words
        own = words_of(await firm.pdf(await firm.invoice(terms="Pay at once.")))
        assert "Pay at once." in own
        assert "Pay soon." not in own


async def test_a_logo_that_cannot_be_drawn_is_told(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        logo = await firm.upload("logo.png", b"\x89PNG\r\n\x1a\nno picture")
        await firm.call("accounting.setPaper", logoDocumentId=logo)
        made = await firm.invoice()
        refused = await firm.ask("accounting.getInvoicePdf", invoiceId=made["id"])
        assert (refused.status, refused.code) == (409, "invalid_state")
        other = await firm.upload("logo.jpg", b"GIF89a")
        await firm.call("accounting.setPaper", logoDocumentId=other)
        assert (await firm.ask("accounting.getInvoicePdf", invoiceId=made["id"])).code == "invalid_state"
        await firm.call("accounting.setPaper", logoDocumentId=None)
        await firm.pdf(made)


async def test_bytes_that_are_lost_are_told(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        made = await firm.invoice()
        await firm.pdf(made)
        document = await firm.call("vault.getDocument", documentId=(await firm.invoice_now(made))["pdfDocumentId"])
        blobs_at(firm.api.store.place).remove(document["sha256"])
        refused = await firm.ask("accounting.getInvoicePdf", invoiceId=made["id"])
        assert (refused.status, refused.code) == (410, "gone")


async def test_a_full_vault_takes_no_paper(open_firm: OpenFirm) -> None:
    async with open_firm(organization_bytes=100) as firm:
        made = await firm.invoice()
        refused = await firm.ask("accounting.getInvoicePdf", invoiceId=made["id"])
        assert (refused.status, refused.code) == (413, "payload_too_large")
        assert (await firm.invoice_now(made))["pdfDocumentId"] is None


async def test_a_plan_without_room_for_documents_has_none_for_papers(open_firm: OpenFirm) -> None:
    limits = PlanLimits(documents=0)
    async with open_firm() as firm:
        made = await firm.invoice()
        await firm.api.store.write(lambda tx: purses.put_on_plan(tx, limits=limits, soft_limit=True), "org_a")
        refused = await firm.ask("accounting.getInvoicePdf", invoiceId=made["id"])
        assert (refused.status, refused.code) == (409, "limit_reached")
        assert (await firm.invoice_now(made))["pdfDocumentId"] is None


async def test_a_compiler_that_fails_is_told(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        made = await firm.invoice()
        firm.engines.papers = Papers(firm.api.store, _NoSetter(), 0)
        refused = await firm.ask("accounting.getInvoicePdf", invoiceId=made["id"])
        assert (refused.status, refused.code) == (503, "unavailable")


@pytest.mark.parametrize("operation", ["accounting.getInvoicePdf", "accounting.getInvoiceXml"])
async def test_another_organization_has_no_such_invoice(open_firm: OpenFirm, operation: str) -> None:
    async with open_firm() as firm:
        made = await firm.invoice()
        await firm.pdf(made)
        refused = await firm.ask(operation, token="other", invoiceId=made["id"])
        assert (refused.status, refused.code) == (404, "not_found")


async def test_xml_in_both_forms(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        made = await firm.invoice()
        for form, said in (("cii", b"CrossIndustryInvoice"), ("ubl", b"urn:fdc:peppol.eu:2017:poacc:billing:3.0")):
            reply = await firm.ask("accounting.getInvoiceXml", invoiceId=made["id"], format=form)
            assert (reply.status, reply["content-type"]) == (200, "application/xml")
            assert said in reply.body
            assert f"INV-000001-{form}.xml" in reply["content-disposition"]


async def test_what_has_no_electronic_form_is_refused(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        draft = await firm.invoice(status="draft")
        refused = await firm.ask("accounting.getInvoiceXml", invoiceId=draft["id"])
        assert (refused.status, refused.code) == (409, "invalid_state")
        assert refused.json()["currentState"] == "draft"
        nobody = await firm.call("accounting.createClient", name="Nobody")
        made = await firm.invoice(clientId=nobody["id"])
        assert (await firm.ask("accounting.getInvoiceXml", invoiceId=made["id"], format="ubl")).code == "invalid_state"
        assert (await firm.ask("accounting.getInvoiceXml", invoiceId=made["id"], format="cii")).status == 200
