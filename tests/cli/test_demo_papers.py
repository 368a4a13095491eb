"""Whoever has a link of the demo answers at it as a browser does."""

import re

import pytest
import trio

from gatewayd.cli.demo.browser import fill_in
from gatewayd.cli.demo.http import DemoFailed, HttpClient, Response
from tests.cli.test_demo_sign_in import SECONDS, Fields, Site, SiteResponse, answering, form, serving


async def accept(site: Site) -> Response:
    with serving(site), trio.fail_after(SECONDS):
        link = f"{site.origin}/i/token"
        return await fill_in(HttpClient(), link, f"{link}/accept", {"name": "June Juniper"})


async def test_the_form_of_the_link_is_sent_with_what_it_hides() -> None:
    site, sent = Site(), []

    def take(fields: Fields) -> SiteResponse:
        sent.append(fields)
        return 303, {"Location": "/i/token"}, ""

    site.pages[("GET", "/i/token")] = answering(form("/i/token/accept", '<input name="name">'))
    site.pages[("POST", "/i/token/accept")] = take
    assert (await accept(site)).status == 303
    assert sent == [{"csrf": "c", "name": "June Juniper"}]


@pytest.mark.parametrize(
    ("page", "told"),
    [
        (form("/i/token/decline", '<input name="name">'), "no form to answer on /i/token/accept"),
        ((410, {}, "replaced"), "GET /i/token answered 410, not 200"),
    ],
)
async def test_a_link_without_the_form_ends_the_play(page: SiteResponse, told: str) -> None:
    site = Site()
    site.pages[("GET", "/i/token")] = answering(page)
    with pytest.raises(DemoFailed, match=re.escape(told)):
        await accept(site)
