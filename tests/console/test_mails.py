"""The pages of mails to clients: what became of each, and the question before one is sent again."""

from functools import partial

from gatewayd.store import WriteTx
from tests.console.test_home import LINE, do
from tests.console.test_invoices import client
from tests.console.test_webhooks import flashes
from tests.console.visiting import Site
from tests.contract.rows import bounced_mail

PAGE = "/sales/mails"
_ADDRESSED = "UPDATE mails SET recipient = :recipient, subject = :subject WHERE id = :id"


def _mail(tx: WriteTx, paper_id: str) -> str:
    id_ = bounced_mail(tx, paper_id)
    tx.run(_ADDRESSED, id=id_, recipient="<b>gone</b>@example.com", subject="Invoice <i>1</i>")
    return id_


async def bounced(site: Site) -> tuple[str, str]:
    """The ids of an invoice, and of its mail, which did not arrive."""
    made = await do(site, "accounting.createInvoice", clientId=await client(site), lines=[LINE], status="issued")
    return str(made["id"]), await site.store.write(partial(_mail, paper_id=str(made["id"])), site.org_id)


async def test_without_mails_the_page_says_what_would_stand_there(site: Site) -> None:
    page = await (await site.signed_in()).open(PAGE)
    assert "whether it arrived" in page.text
    assert "/sales/invoices" in page.links()


async def test_what_bounced_is_found_and_sent_again_once_that_is_confirmed(site: Site) -> None:
    browser = await site.signed_in()
    invoice_id, mail_id = await bounced(site)
    listed = await browser.open(f"{PAGE}?status=bounced&kind=invoice")
    assert "<b>gone</b>@example.com" in listed.text, "text, and no markup"
    assert f"{PAGE}/{mail_id}" in listed.links()
    assert f"{PAGE}/{mail_id}" not in (await browser.open(f"{PAGE}?status=sent")).links()
    assert f"{PAGE}/{mail_id}" not in (await browser.open(f"{PAGE}?recipient=ann@example.com")).links()
    one = await browser.open(f"{PAGE}/{mail_id}")
    assert one.heading == "Invoice <i>1</i>"
    assert "Nothing is taken for this address: 550 No such mailbox here." in one.text
    assert "Here is our invoice." not in one.text, "what a mail says is not shown"
    assert {f"/sales/invoices/{invoice_id}", f"{PAGE}/{mail_id}/resend"} <= set(one.links())
    question = await browser.open(f"{PAGE}/{mail_id}/resend")
    assert "gets the mail as it was written" in question.text
    done = await browser.follow(await browser.submit(question, f"{PAGE}/{mail_id}/resend"))
    assert flashes(done.page) == ["The mail waits to be sent again."]
    assert f"{PAGE}/{mail_id}/resend" not in done.page.links()
    again = await browser.submit(question, f"{PAGE}/{mail_id}/resend", key="0b0f6d6e-1111-4222-8333-444455556666")
    assert (again.status, "was not given up" in again.page.text) == (409, True)


async def test_a_mail_of_others_has_no_page(site: Site) -> None:
    _, mail_id = await bounced(site)
    await site.add_org("Birch Ltd", await site.add_user("stranger@example.com"))
    stranger = await site.signed_in("stranger@example.com")
    for path in (mail_id, f"{mail_id}/resend"):
        assert (await stranger.get(f"{PAGE}/{path}")).status == 404
