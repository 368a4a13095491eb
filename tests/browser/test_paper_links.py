"""What a client sees by the link of a paper: it fits a phone and a desk, and a quote is accepted without scripts."""

from playwright.sync_api import expect

from gatewayd.areas.accounting import paper_links
from tests.browser.conftest import Visit
from tests.browser.place import Place
from tests.browser.test_looks import LONG_NAME, Camera

LINES = [
    {"description": LONG_NAME, "quantity": "7.5", "unit": "hours", "unitPrice": "85.00"},
    *({"description": f"Oak board {number}", "unitPrice": "1249.99", "discountPercent": "10"} for number in range(30)),
]


def link_of(place: Place, paper_id: str) -> str:
    return place.instance.write(lambda tx: paper_links.link_of(tx, place.url, paper_id), place.firm.org_id)


def made(place: Place, operation: str, **fields: object) -> str:
    body = {"clientId": place.firm.client_id, "lines": LINES, "notes": "Thank you.\nSee you soon.", **fields}
    return str(place.instance.do(place.firm.org_id, f"accounting.{operation}", **body)["id"])


def test_an_invoice_fits(place: Place, visit: Visit) -> None:
    page, _ = visit()
    page.goto(link_of(place, made(place, "createInvoice", status="issued")))
    expect(page.get_by_text("To be paid", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Download PDF")).to_be_visible()
    Camera(page)("paper-invoice")


def test_a_quote_fits_and_is_accepted_without_scripts(place: Place, visit: Visit) -> None:
    quote_id = made(place, "createQuote")
    place.instance.do(place.firm.org_id, "accounting.issueQuote", quoteId=quote_id)
    link = link_of(place, quote_id)
    scripted, _ = visit()
    scripted.goto(link)
    scripted.get_by_text("Decline the quote").click()
    Camera(scripted)("paper-quote")
    page, _ = visit(java_script_enabled=False)
    page.goto(link)
    page.get_by_label("Your name").first.fill("Harry Harbour")
    page.get_by_role("button", name="Accept quote").click()
    expect(page.get_by_text("You accepted the quote.")).to_be_visible()
    expect(page.get_by_text("Accepted by Harry Harbour.")).to_be_visible()
    Camera(page, axe=False)("paper-quote-accepted")
