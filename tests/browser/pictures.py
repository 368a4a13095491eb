"""`make pictures`: the pictures of pages in docs/pictures, of the demo's firm on a day of its own.

Nothing of today is in them: the pages are made in this process, and handed to Chromium as they are.
"""

import gzip
import io
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, NamedTuple

import trio
from PIL import Image
from playwright.sync_api import Page, Route, ViewportSize

from tests.browser.chromium import MILLISECONDS, chromium, visiting
from tests.browser.test_every_look import FILES, Site, shown
from tests.console.visiting import Answer
from tests.console.whole_site import WholeSite, open_whole_site
from tests.contract.demo_firm import make_demo
from tests.support.store import migrated_image

ROOT: Final = Path(__file__).parents[2]
PICTURES: Final = ROOT / "docs" / "pictures"
COLOURS: Final = 64
"""Of a picture: with so few it is a third as large, and looks the same."""
MOST_BYTES: Final = 80_000
DESK, PHONE = ViewportSize(width=1200, height=760), ViewportSize(width=390, height=760)
DOCS_FILES: Final = ("reference.js", "reference.css", "scalar/standalone.js")


class Shot(NamedTuple):
    """A picture: its name, who sees the page, how its address begins, and how the window is."""

    name: str
    visitor: str
    address: str
    size: ViewportSize = DESK
    scheme: Literal["light", "dark"] = "light"
    at: str = ""
    """What it is scrolled to: words of a heading; empty: the top."""


SHOTS: Final = (
    Shot("home", "owner", "/"),
    Shot("home-phone", "owner", "/", PHONE, "dark"),
    Shot("clients", "owner", "/sales/clients"),
    Shot("keys", "owner", "/developers/keys"),
    Shot("webhook", "owner", "/developers/webhooks/wsub_"),
    Shot("delivery", "owner", "/developers/webhooks/deliveries/", DESK, "dark"),
    Shot("members", "owner", "/members"),
    Shot("consent", "owner", "/oauth/consent", PHONE),
    Shot("audit", "root", "/admin/audit"),
    Shot("administration", "root", "/admin/people"),
    Shot("gallery", "owner", "/gallery", DESK, "light", "Charts"),
    Shot("reference", "owner", "/docs"),
)


async def pages() -> Site:
    """The pages of the demo's firm, and what the reference is drawn from."""
    with tempfile.TemporaryDirectory() as folder:
        demo, whole = Path(folder, "demo"), Path(folder, "whole")
        demo.mkdir()
        whole.mkdir()
        async with open_whole_site(await make_demo(demo, migrated_image()), whole) as opened:
            return await _with_reference(await shown(opened), opened)


async def _with_reference(site: Site, whole: WholeSite) -> Site:
    site.pages["owner"]["/docs"] = await whole.stranger.get("/docs")
    for file in DOCS_FILES:
        answer = await whole.stranger.get(f"/static/{file}")
        assert answer.status == 200, file
        site.files[file] = plain(answer)
    description = ROOT.joinpath("docs", "openapi.json").read_bytes()
    site.pages["owner"]["/openapi.json"] = Answer(200, {"Content-Type": "application/json"}, description)
    return site


def plain(answer: Answer) -> Answer:
    """What a browser would unzip by itself: it does not where an answer is handed to it."""
    if answer.headers.get("Content-Encoding") != "gzip":
        return answer
    headers = {name: value for name, value in answer.headers.items() if name != "Content-Encoding"}
    return replace(answer, headers=headers, body=gzip.decompress(answer.body))


def take(page: Page, site: Site, shot: Shot) -> bytes:
    """The picture, as PNG."""
    known = site.pages[shot.visitor]
    address = next(
        each for each in known if each == shot.address or (each.startswith(shot.address) and shot.address != "/")
    )
    page.set_viewport_size(shot.size)
    page.emulate_media(color_scheme=shot.scheme, reduced_motion="reduce")
    page.goto(f"https://{shot.visitor}.example{address}")
    page.evaluate("document.activeElement.blur()")
    if shot.address == "/docs":
        page.get_by_role("heading", name="Introduction").or_(page.get_by_role("heading", level=1)).first.wait_for()
        page.wait_for_load_state("networkidle")
    if shot.at:
        page.get_by_role("heading", name=shot.at).evaluate("each => each.scrollIntoView()")
    return page.screenshot(timeout=MILLISECONDS)


def small(png: bytes) -> bytes:
    """The same in few colours."""
    written = io.BytesIO()
    picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(written, "PNG", optimize=True)
    return written.getvalue()


def main(folder: Path) -> None:
    site = trio.run(pages)
    assert set(FILES) <= site.files.keys()

    def answer(route: Route) -> None:
        site.answer(route)

    with chromium() as browser, visiting(browser, "https://owner.example") as (page, complaints):
        page.route("**/*", answer)
        for shot in SHOTS:
            picture = small(take(page, site, shot))
            assert len(picture) < MOST_BYTES, (shot.name, len(picture))
            folder.joinpath(f"{shot.name}.png").write_bytes(picture)
            print(f"{shot.name}.png  {len(picture):,} bytes")
        complaints.said.clear()
    assert site.asked_elsewhere == [], site.asked_elsewhere


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)
