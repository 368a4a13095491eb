"""`/docs`: where metadata says that it is, for everybody, and with nothing from elsewhere."""

import gzip
import hashlib
from importlib import resources

import msgspec

from gatewayd.identity.clients.oauth_parameters import Audiences
from gatewayd.oauth import metadata
from tests.console.visiting import ISSUER, POLICY, Site

VIEWER = "/static/scalar/standalone.js"
SHA256 = "dcb027152bf20bf2f6dcd66e8f9fb073c1a9e274cf0b94b939a7d99ab8947060"
"""Of `dist/browser/standalone.js` in @scalar/api-reference 1.76.0, as its maker publishes it."""


def kept(name: str) -> bytes:
    """A file of the viewer, as it lies in the tree."""
    return resources.files("gatewayd.console").joinpath("static", "scalar", name).read_bytes()


async def test_the_documentation_is_where_metadata_says(site: Site) -> None:
    named = set()
    for document in metadata.documents(Audiences(ISSUER)).values():
        members = msgspec.json.decode(document.body, type=dict[str, object])
        named |= {members.get("service_documentation"), members.get("resource_documentation")} - {None}
    assert named == {f"{ISSUER}/docs"}
    page = await site.browser().open("/docs")
    assert (page.heading, page.links()[-1]) == ("API reference", "/openapi.json")
    assert "/developers/keys/new" in page.links()  # with what calls are tried


async def test_only_styles_are_freer_than_elsewhere(site: Site) -> None:
    answer = await site.browser().get("/docs")
    more = "; style-src-attr 'unsafe-inline'; style-src-elem 'self' 'unsafe-inline'"
    assert answer.headers["Content-Security-Policy"] == POLICY + more
    assert (await site.browser().get("/sign-in")).headers["Content-Security-Policy"] == POLICY


async def test_the_viewer_is_served_as_it_is_kept(site: Site) -> None:
    page = await site.browser().open("/docs")
    assert VIEWER in [each.attributes["src"].partition("?")[0] for each in page.root.all("script")]
    answer = await site.browser().get(VIEWER, Accept_Encoding="gzip, deflate, br")
    assert (answer.status, answer.headers["Content-Encoding"]) == (200, "gzip")
    assert answer.headers["Content-Type"].startswith("text/javascript")
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert answer.body == kept("standalone.js.gz")
    again = await site.browser().get(VIEWER, Accept_Encoding="gzip", If_None_Match=answer.headers["ETag"])
    assert (again.status, again.body) == (304, b"")


async def test_who_takes_no_gzip_gets_the_viewer_plain(site: Site) -> None:
    answer = await site.browser().get(VIEWER, Accept_Encoding="identity", Range="bytes=0-99")
    assert (answer.status, answer.headers.get("Content-Encoding")) == (200, None)
    assert hashlib.sha256(answer.body).hexdigest() == SHA256


async def test_its_licences_are_served_with_it(site: Site) -> None:
    for name, text in (("LICENSE.txt", b"Permission is hereby granted"), ("PARTS.txt", b"Apache License")):
        answer = await site.browser().get(f"/static/scalar/{name}")
        assert (answer.status, text in answer.body) == (200, True)


def test_the_viewer_is_its_makers() -> None:
    assert hashlib.sha256(gzip.decompress(kept("standalone.js.gz"))).hexdigest() == SHA256
