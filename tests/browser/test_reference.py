"""The API reference in a real browser: drawn from the description, and nothing is asked of anybody else."""

from playwright.sync_api import expect

from tests.browser.chromium import PHONE
from tests.browser.conftest import Visit
from tests.browser.place import Place
from tests.browser.test_looks import Camera
from tests.browser.walking import heading


def test_operations_can_be_read(place: Place, visit: Visit) -> None:
    """Drawn once, which takes long: on a phone in the light, and looked at on a desk and in the dark too."""
    page, _ = visit(viewport=PHONE, color_scheme="light")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/docs")
    heading(page, "API reference")
    page.get_by_text("/invoices", exact=True).first.click()
    expect(page.get_by_text("updatedSince").first).to_be_attached()
    expect(page.get_by_text("Drawing it needs JavaScript")).to_be_hidden()
    Camera(page)("docs")
    page.emulate_media(color_scheme="dark")
    Camera(page)("docs in the dark")
    assert f"{place.url}/openapi.json" in asked
    assert [url for url in asked if not url.startswith(f"{place.url}/")] == []


def test_without_javascript_the_description_is_named(visit: Visit) -> None:
    page, _ = visit(java_script_enabled=False)
    page.goto("/docs")
    expect(page.get_by_text("Drawing it needs JavaScript")).to_be_visible()
    expect(page.get_by_role("link", name="/openapi.json")).to_be_visible()
