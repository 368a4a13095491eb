"""Every page of a crowded instance in Chromium: narrow, middling and wide, in light, dark and on paper.

The pages are those that a visitor is shown in process (`tests/console/crawling.py`), handed to the browser as they are,
headers and all: no daemon is asked, and what the browser asks for beside them fails the test.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal
from urllib.parse import parse_qsl, urlsplit

import pytest
import trio
from playwright.sync_api import Browser, Page, Route, ViewportSize

from tests.browser import crowd
from tests.browser.axe import faults_of
from tests.browser.chromium import visiting
from tests.console.crawling import crawl, rule_at
from tests.console.visiting import Answer
from tests.console.whole_site import OWNER, ROOT, WholeSite, open_whole_site
from tests.contract.demo_firm import make_demo

SIZES: Final = [ViewportSize(width=width, height=900) for width in (390, 768, 1024, 1200, 1440)]
SCHEMES: Final[dict[int, tuple[Literal["light", "dark"], ...]]] = {390: ("dark",), 1440: ("light",)}
"""In which colours axe looks at which width: widths have their layout, and colours their contrast."""
DRAWN_ELSEWHERE: Final = "/docs"
"""A program draws it: see `test_reference.py`."""
PICTURES: Final = os.environ.get("GATEWAYD_SCREENSHOTS")
FILES: Final = ("style.css", "forms.js", "passkeys.js", "icon.svg")
GONE_ON_PAPER: Final = (".top", ".rail", ".filter", ".pager", ".bulk", ".row-actions")


@dataclass
class Site:
    """What visitors are shown: by the name of the host that stands for each of them, the answers by address."""

    pages: dict[str, dict[str, Answer]] = field(default_factory=dict)
    files: dict[str, Answer] = field(default_factory=dict)
    asked_elsewhere: list[str] = field(default_factory=list)

    def answer(self, route: Route) -> None:
        """As the server would have."""
        parts = urlsplit(route.request.url)
        path = parts.path.removeprefix("/static/")
        pages = self.pages.get(str(parts.hostname).partition(".")[0], {})
        address = f"{parts.path}?{parts.query}" if parts.query else parts.path
        found = self.files.get(path) if path != parts.path else pages.get(address)
        if found is None:
            self.asked_elsewhere.append(route.request.url)
            route.abort()
            return
        route.fulfill(status=found.status, headers=dict(found.headers), body=found.body)


@pytest.fixture(scope="module")
def site(database_image: bytes, tmp_path_factory: pytest.TempPathFactory) -> Site:
    async def make() -> Site:
        demo = await make_demo(tmp_path_factory.mktemp("demo"), database_image)
        async with open_whole_site(demo, tmp_path_factory.mktemp("crowd")) as whole:
            await crowd.fill(whole)
            return await shown(whole)

    return trio.run(make)


async def shown(whole: WholeSite) -> Site:
    """One page of each kind, as three visitors see them."""
    app, made = whole.site.app, Site()
    asked = [whole.unlinked["/oauth/choose"], whole.unlinked["/oauth/consent"], "/gallery", "/gallery/list"]
    entrances = [address for rule, address in whole.unlinked.items() if rule.startswith("/sign-in/")]
    for name, browser, starts in (
        ("owner", whole.browsers[OWNER], ["/", *asked]),
        ("root", whole.browsers[ROOT], ["/"]),
        ("stranger", whole.stranger, ["/sign-in?again=1", *entrances]),
    ):
        seen = await crawl(app, browser, *starts, signed_in=name != "stranger")
        kinds: dict[object, str] = {}
        for address in seen.pages:
            rule = rule_at(app, address)
            assert rule is not None
            kinds.setdefault((rule.rule, frozenset(name for name, _ in parse_qsl(urlsplit(address).query))), address)
        made.pages[name] = {address: seen.pages[address] for address in kinds.values() if address != DRAWN_ELSEWHERE}
    made.pages["root"] = {each: page for each, page in made.pages["root"].items() if "/admin" in each or each == "/"}
    made.pages["stranger"]["/nothing"] = await whole.stranger.get("/nothing")
    made.pages["stranger"]["/sign-in/code"] = await whole.halfway.get("/sign-in/code")
    for file in FILES:
        made.files[file] = await whole.stranger.get(f"/static/{file}")
    return made


def named(site: Site) -> Iterator[tuple[str, str]]:
    for name, pages in site.pages.items():
        yield from ((name, address) for address in pages)


def test_every_page_fits_and_keeps_nobody_out(browser: Browser, site: Site) -> None:
    faults: list[str] = []
    with visiting(browser, "https://owner.example") as (page, complaints):
        page.route("**/*", site.answer)
        for name, address in named(site):
            page.goto(f"https://{name}.example{address}")
            faults += [f"{name} {address}: {fault}" for fault in faults_on_screens(page)]
            faults += [f"{name} {address}: on paper {fault}" for fault in faults_on_paper(page)]
            if PICTURES is not None:
                photograph(page, Path(PICTURES, f"{name}{address.partition('?')[0].replace('/', '-')}"))
        complaints.said = [each for each in complaints.said if "status of 404" not in each]
    assert faults == [], "\n".join(faults)
    assert site.asked_elsewhere == []


def faults_on_screens(page: Page) -> Iterator[str]:
    page.emulate_media(media="screen")
    for size in SIZES:
        page.set_viewport_size(size)
        if (wide := sideways(page)) > 0:
            yield f"{wide} px too wide at {size['width']}: {page.evaluate(WIDEST)}"
        for scheme in SCHEMES.get(size["width"], ()):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            yield from (f"{scheme} at {size['width']}: {fault}" for fault in faults_of(page))


def faults_on_paper(page: Page) -> Iterator[str]:
    page.set_viewport_size(SIZES[1])
    page.emulate_media(media="print", color_scheme="light")
    if (wide := sideways(page)) > 0:
        yield f"{wide} px too wide"
    for gone in GONE_ON_PAPER:
        if any(each.is_visible() for each in page.locator(gone).all()):
            yield f"{gone} is there"
    page.emulate_media(media="screen")


def sideways(page: Page) -> int:
    """How far the page can be scrolled to the right, which nobody should have to."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


WIDEST = """[...document.querySelectorAll("main *, header *")].filter(e => e.getBoundingClientRect().right > innerWidth)
  .slice(0, 4).map(e => e.outerHTML.slice(0, 120)).join(" | ")"""


def photograph(page: Page, path: Path) -> None:
    for size in SIZES:
        page.set_viewport_size(size)
        for scheme in ("light", "dark"):
            page.emulate_media(media="screen", color_scheme=scheme)
            page.screenshot(path=f"{path}-{size['width']}-{scheme}.png", full_page=True)
    page.emulate_media(media="print", color_scheme="light")
    page.screenshot(path=f"{path}-print.png", full_page=True)
    page.emulate_media(media="screen")
