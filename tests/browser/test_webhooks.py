"""A receiver is subscribed, tried, found failing and recovered on the pages, and events arrive at it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults_of
from tests.browser.conftest import Visit
from tests.browser.place import Place
from tests.browser.receiver import Receiver, receiving
from tests.browser.walking import heading, press, sign_in, write


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as opened:
        yield opened


def latest(page: Page, words: str) -> None:
    """Look again until the newest delivery says so."""
    row = page.locator("tbody tr").first
    for _ in range(600):
        if row.count() and words in row.inner_text():
            return
        page.wait_for_timeout(100)
        page.reload()
    raise AssertionError(row.inner_text())


def test_by_keyboard_without_scripts_a_test_event_is_seen_to_arrive(
    place: Place, visit: Visit, receiver: Receiver
) -> None:
    page, _ = visit(java_script_enabled=False)
    sign_in(page, place.person())
    press(page, page.get_by_role("navigation").get_by_role("link", name="Webhooks"))
    heading(page, "Webhooks")
    press(page, page.get_by_role("link", name="Create subscription").first)
    heading(page, "New subscription")
    write(page, "URL", receiver.url)
    press(page, page.get_by_label("Everything, and what there will be later"), "Space")
    press(page, page.get_by_role("button", name="Create subscription"))
    heading(page, "Signing secret")
    secret = page.locator(".secret code").inner_text()
    press(page, page.get_by_role("link", name="Go on to the subscription"))
    heading(page, receiver.url)
    expect(page.get_by_text("Nothing was sent yet.")).to_be_visible()
    press(page, page.get_by_role("button", name="Send test event"))
    expect(page.get_by_role("status")).to_contain_text("A test event is on its way.")
    assert b'"event":"lead.created"' in receiver.next(secret)
    latest(page, "Succeeded")
    press(page, page.locator("tbody th a").first)
    expect(page.get_by_role("heading", name="Attempt 1: 204")).to_be_visible()
    press(page, page.get_by_role("link", name="All deliveries of this subscription"))
    press(page, page.get_by_role("link", name="Remove"))
    heading(page, f"Remove the subscription of {receiver.url}?")
    press(page, page.get_by_role("button", name="Remove subscription"))
    expect(page.get_by_role("status")).to_have_text("The subscription was removed.")
    expect(page.get_by_text(receiver.url)).to_have_count(0)


def test_what_did_not_arrive_is_found_and_sent_again_with_a_new_secret(
    place: Place, visit: Visit, receiver: Receiver
) -> None:
    page, complaints = visit()
    sign_in(page, place.person())
    page.goto("/developers/webhooks/new")
    page.get_by_label("URL").fill("http://10.0.0.1/hooks")
    page.get_by_label("Everything, and what there will be later").check()
    page.get_by_role("button", name="Create subscription").click()
    expect(page.get_by_label("URL")).to_have_attribute("aria-invalid", "true")
    complaints.said.clear()
    page.get_by_label("URL").fill(receiver.url)
    page.get_by_role("button", name="Create subscription").click()
    page.get_by_role("link", name="Go on to the subscription").click()
    receiver.status = 410  # it says that it is gone: no second attempt is made
    page.get_by_role("button", name="Send test event").click()
    latest(page, "410")
    assert faults_of(page) == []
    page.get_by_role("link", name="Make a new secret").click()
    page.get_by_role("button", name="Make a new secret").click()
    heading(page, "Signing secret")
    secret = page.locator(".secret code").inner_text()
    page.get_by_role("link", name="Go on to the subscription").click()
    page.get_by_role("link", name="Switch it on").click()
    page.get_by_label("Send events").check()
    page.get_by_role("button", name="Save").click()
    receiver.status = 204
    while not receiver.received.empty():
        receiver.received.get()
    page.locator("tbody th a").first.click()
    page.get_by_role("button", name="Resend").click()
    expect(page.get_by_role("status")).to_have_text("It is sent again.")
    assert receiver.next(secret)
    page.get_by_role("link", name="All deliveries of this subscription").click()
    latest(page, "Succeeded")
    page.get_by_label("Status").select_option("exhausted")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("tbody tr").filter(has_text="Succeeded")).to_have_count(0)
    page.get_by_role("link", name="Remove").click()
    page.get_by_role("button", name="Remove subscription").click()
    expect(page.get_by_role("status")).to_have_text("The subscription was removed.")
