"""Forms with rows and forms with files: without scripts by keyboard, and with scripts where one is."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.place import Place
from tests.browser.test_keys import reach
from tests.browser.test_looks import Camera
from tests.browser.walking import heading, sign_in

CONTENT = bytes(range(256)) * 2048


def enter(page: Page, name: str, text: str) -> None:
    """Go to the field of this name, and type."""
    reach(page, page.locator(f"[name='{name}']"))
    page.keyboard.press("Control+A")
    page.keyboard.type(text)


def press(page: Page, name: str) -> None:
    reach(page, page.get_by_role("main").get_by_role("button", name=name, exact=True))
    page.keyboard.press("Enter")


def test_an_invoice_of_three_lines_by_keyboard_without_scripts(place: Place, visit: Visit) -> None:
    page, complaints = visit(java_script_enabled=False)
    sign_in(page, place.person())
    page.goto("/sales/invoices/new")
    heading(page, "New invoice")
    reach(page, page.get_by_label("Client", exact=True))
    page.keyboard.press("ArrowDown")
    enter(page, "lines.0.description", "Oak door")
    enter(page, "lines.0.unitPrice", "100")
    press(page, "Add a line")
    expect(page.locator("[name='lines.1.description']")).to_be_focused()
    enter(page, "lines.1.description", "Fitting")
    enter(page, "lines.1.unitPrice", "a day's work")
    press(page, "Add a line")
    expect(page.locator("[name='lines.2.description']")).to_be_focused()
    enter(page, "lines.2.description", "Varnish")
    enter(page, "lines.2.unitPrice", "10")
    page.keyboard.press("Enter")  # sends the form, and is not one of its rows' buttons
    expect(page.get_by_role("alert")).to_have_text("Nothing was saved. Look at the marked fields.")
    complaints.took(422)
    wrong = page.get_by_role("group", name="Line 2").get_by_label("Price of one")
    expect(wrong).to_have_attribute("aria-invalid", "true")
    expect(page.locator("[aria-invalid]")).to_have_count(1)
    enter(page, "lines.1.unitPrice", "50")
    press(page, "Create draft")
    heading(page, "Draft")
    expect(page.get_by_role("status")).to_have_text("The draft was created.")
    expect(page.get_by_role("table", name="Lines").get_by_role("row")).to_have_count(4)
    expect(page.get_by_role("definition").filter(has_text="£160.00").first).to_be_visible()


def test_a_document_by_keyboard_without_scripts(place: Place, visit: Visit) -> None:
    page, _ = visit(java_script_enabled=False)
    sign_in(page, place.person())
    page.goto("/documents")
    field = page.get_by_label("Add a document", exact=True)
    reach(page, field)
    field.set_input_files([{"name": "receipt.pdf", "mimeType": "application/pdf", "buffer": CONTENT}])
    press(page, "Upload")
    heading(page, "receipt.pdf")
    expect(page.get_by_role("status")).to_have_text("receipt.pdf is kept.")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.path().read_bytes() == CONTENT
    reach(page, page.get_by_role("link", name="Move to the trash"))
    page.keyboard.press("Enter")
    heading(page, "Move receipt.pdf to the trash?")
    press(page, "Move to the trash")
    expect(page.get_by_role("status")).to_have_text("The document is in the trash.")


def test_with_scripts_rows_change_where_one_is_and_a_file_says_how_it_went(place: Place, visit: Visit) -> None:
    page, complaints = visit()
    sign_in(page, place.person())
    page.goto("/sales/invoices/new")
    page.get_by_label("Reference").fill("Not lost")
    page.locator("[name='lines.0.description']").fill("Oak door")
    page.get_by_role("button", name="Add a line").click()
    expect(page.locator("[name='lines.1.description']")).to_be_focused()
    page.locator("[name='lines.1.description']").fill("Fitting")
    page.get_by_role("button", name="Add a line").click()
    page.locator("[name='lines.2.description']").fill("Varnish")
    page.get_by_role("button", name="Remove line 1", exact=True).click()
    expect(page.locator("legend").filter(has_text="Line")).to_have_text(["Line 1", "Line 2"])
    expect(page.get_by_role("group", name="Line 1").get_by_label("Description")).to_have_value("Fitting")
    expect(page.get_by_label("Reference")).to_have_value("Not lost")
    page.get_by_label("Client", exact=True).select_option(index=1)
    page.get_by_role("button", name="Create draft").last.click()
    expect(page.get_by_role("alert").first).to_be_visible()
    complaints.took(422)
    expect(page.locator("[aria-invalid]")).to_have_count(2)
    expect(page.get_by_role("group", name="Line 2").get_by_label("Description")).to_have_value("Varnish")
    page.get_by_role("button", name="Remove line 1", exact=True).click()
    page.get_by_role("group", name="Line 1").get_by_label("Price of one").fill("3")
    page.get_by_role("button", name="Create draft").last.click()
    heading(page, "Draft")
    page.goto("/documents")
    page.get_by_label("Add a document", exact=True).set_input_files(
        [{"name": "letter.txt", "mimeType": "text/plain", "buffer": CONTENT}]
    )
    page.get_by_role("button", name="Upload").click()
    heading(page, "letter.txt")
    expect(page.get_by_role("status")).to_have_text("letter.txt is kept.")


def test_the_pages_of_invoices_and_documents_fit(place: Place, visit: Visit) -> None:
    page, complaints = visit()
    sign_in(page, place.person())
    camera = Camera(page)
    page.goto("/sales/invoices/new")
    heading(page, "New invoice")
    for _ in range(2):
        page.get_by_role("button", name="Add a line").click()
    page.locator("[name='lines.0.description']").fill("Oak door with a long name " * 9)
    page.get_by_label("Client", exact=True).select_option(index=1)
    page.get_by_role("button", name="Create draft").last.click()
    expect(page.get_by_role("alert").first).to_be_visible()
    complaints.took(422)
    camera("invoice-wrong")
    page.get_by_label("Price of one").fill("1234.50")
    page.get_by_role("button", name="Create draft").last.click()
    heading(page, "Draft")
    camera("invoice")
    page.goto("/sales/invoices")
    camera("invoices")
    page.goto("/documents")
    camera("documents")
    page.get_by_label("Add a document", exact=True).set_input_files(
        [{"name": f"{'receipt ' * 20}.pdf", "mimeType": "application/pdf", "buffer": CONTENT}]
    )
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("status")).to_contain_text("is kept.")
    camera("document")
