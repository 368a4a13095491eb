"""`/docs`: where metadata says that it is, for everybody, and with nothing from elsewhere."""

import re
from importlib import resources

import msgspec

from gatewayd.console.reference import THEMES
from gatewayd.identity.clients.oauth_parameters import Audiences
from gatewayd.oauth import metadata
from tests.console.visiting import ISSUER, POLICY, Site

BUNDLE = "/static/rapidoc/rapidoc-min.js"


async def test_the_documentation_is_where_metadata_says(site: Site) -> None:
    named = set()
    for document in metadata.documents(Audiences(ISSUER)).values():
        members = msgspec.json.decode(document.body, type=dict[str, object])
        named |= {members.get("service_documentation"), members.get("resource_documentation")} - {None}
    assert named == {f"{ISSUER}/docs"}
    page = await site.browser().open("/docs")
    assert (page.heading, page.links()[-1]) == ("API reference", "/openapi.json")


async def test_only_styles_are_freer_than_elsewhere(site: Site) -> None:
    answer = await site.browser().get("/docs")
    themes = " ".join(f"'{each}'" for each in THEMES)
    more = f"; style-src-attr 'unsafe-inline'; style-src-elem 'self' {themes}"
    assert answer.headers["Content-Security-Policy"] == POLICY + more
    assert (await site.browser().get("/sign-in")).headers["Content-Security-Policy"] == POLICY


async def test_the_bundle_is_served_with_its_licences(site: Site) -> None:
    page = await site.browser().open("/docs")
    scripts = [each.attributes["src"].partition("?")[0] for each in page.root.all("script")]
    assert BUNDLE in scripts
    for name, text in (
        ("LICENSE.txt", b"Permission is hereby granted"),
        ("rapidoc-min.js.LICENSE.txt", b"BSD-3-Clause"),
    ):
        answer = await site.browser().get(f"/static/rapidoc/{name}")
        assert (answer.status, text in answer.body) == (200, True)


def test_the_bundle_loads_nothing() -> None:
    """What the page's policy would stop anyway: fonts and scripts of others. Browsers load it in `tests/browser`."""
    bundle = resources.files("gatewayd.console").joinpath("static/rapidoc/rapidoc-min.js").read_text("utf-8")
    assert "RapiDoc 9.3.8" in bundle.partition("\n")[0]
    assert re.findall(r"(?:src|href)=.https?://", bundle) == []
