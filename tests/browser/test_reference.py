"""The API reference in a real browser: found, read and tried with a key, and nothing is asked of anybody else."""

import json
from dataclasses import dataclass, field

from playwright.sync_api import Locator, Page, Request, expect

from tests.browser.chromium import DESK, PHONE
from tests.browser.conftest import Visit
from tests.browser.place import Place
from tests.browser.test_looks import Camera

INTRODUCTION = "Every request carries"
KEPT = "scalar-reference-selected-client-v2"
"""What the viewer keeps in the browser: the language of the samples."""
SAMPLES = (
    ("Requests", "Python Requests", "requests.post("),
    ("Fetch", "JavaScript Fetch", "fetch("),
    ("Curl", "Shell Curl", "--request POST"),
)
"""What is chosen, what the choice is then called, and what the sample has that no other has."""
STORED = "[localStorage, sessionStorage].flatMap((each) => Object.entries(each))"


@dataclass
class Network:
    """All that the page asked for."""

    requests: list[Request] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("request", lambda request: self.requests.append(request))

    def elsewhere(self, url: str) -> list[str]:
        """What was asked of others than the daemon. What the page holds itself is asked of nobody."""
        asked = [each.url for each in self.requests if not each.url.startswith(("data:", "blob:"))]
        return [each for each in asked if not each.startswith(f"{url}/")]

    def carrying(self, secret: str) -> list[str]:
        """The paths of the requests that carry the secret, wherever."""
        return [
            each.url.split("/", 3)[3].partition("?")[0]
            for each in self.requests
            if secret in json.dumps([each.url, each.all_headers(), each.post_data])
        ]


def opened(page: Page, url: str) -> Network:
    """The page, drawn, at one of the daemon's addresses."""
    network = Network()
    network.watch(page)
    page.goto(f"{url}/docs")
    expect(page.get_by_text(INTRODUCTION).first).to_be_visible()
    return network


def find(page: Page, words: str, path: str) -> Locator:
    """An operation by the search; answers its section."""
    page.get_by_role("button", name="Search").first.click()
    search = page.get_by_role("dialog", name="Search")
    search.get_by_role("combobox").fill(words)
    search.get_by_role("option").filter(has_text=path).click()
    expect(search).to_have_count(0)
    section = page.locator(f"section[id$='{path}']")
    expect(section).to_be_in_viewport()
    return section


def test_an_operation_is_found_read_and_tried(place: Place, visit: Visit) -> None:
    """By words, not by its name; in three languages; with a key that is kept nowhere and sent to nobody else."""
    key = place.firm.key
    made = place.instance.do(place.firm.org_id, "crm.createLead", source="website", name="Priya Shah", status="new")
    page, _ = visit(viewport=DESK, color_scheme="light")
    network = opened(page, place.url)
    page.get_by_role("button", name="Open Group - CRM").click()
    expect(page.get_by_role("link", name="List leads.").first).to_be_visible()
    creating = find(page, "create a lead", "/crm/createLead")
    shown = "Shell Curl"
    for option, name, sign in SAMPLES:
        creating.get_by_role("button", name=shown).click()
        page.get_by_role("option", name=option).click()
        expect(creating).to_contain_text(sign)
        expect(creating).to_contain_text("Shah Interiors")
        expect(creating).to_contain_text(f"{place.url}/api/rpc/crm/createLead")
        shown = name
    find(page, "listLeads", "/crm/listLeads")
    page.get_by_role("button", name="(get /crm/listLeads)").click()
    trial = page.get_by_role("dialog", name="API Client")
    trial.get_by_placeholder("Token").fill(key)
    trial.get_by_role("button", name="Send").first.click()
    expect(trial).to_contain_text("200 OK")
    expect(trial).to_contain_text(made["id"])
    assert network.elsewhere(place.url) == []
    assert network.carrying(key) == ["api/rpc/crm/listLeads"]
    stored = dict(page.evaluate(STORED))
    assert stored.keys() <= {KEPT}
    assert key not in json.dumps(stored)
    assert page.evaluate("indexedDB.databases()") == []
    assert key not in json.dumps(page.context.cookies())
    assert page.evaluate("document.cookie") == ""
    page.reload()
    expect(page.get_by_text(INTRODUCTION).first).to_be_visible()
    expect(page.get_by_placeholder("Token").first).to_have_value("")


def test_it_fits(place: Place, visit: Visit) -> None:
    """On a phone, a tablet and a desk, in the light and in the dark; reached by another name, it calls that one."""
    url = place.url.replace("localhost", "127.0.0.1")
    page, _ = visit(viewport=PHONE, color_scheme="light")
    network = opened(page, url)
    expect(page.get_by_text(f"{url}/api/rpc", exact=True).first).to_be_visible()
    expect(page.get_by_text("Drawing it takes")).to_have_count(0)
    take = Camera(page, axe=False)
    take("docs")
    page.emulate_media(color_scheme="dark")
    take("docs in the dark")
    assert f"{url}/openapi.json" in [each.url for each in network.requests]
    assert network.elsewhere(url) == []


def test_without_javascript_the_description_is_named(visit: Visit) -> None:
    page, _ = visit(java_script_enabled=False)
    page.goto("/docs")
    expect(page.get_by_text("Drawing it needs JavaScript")).to_be_visible()
    expect(page.get_by_role("link", name="/openapi.json")).to_be_visible()
