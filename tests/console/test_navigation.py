"""The rail: only pages that are there, to those who may open them."""

from gatewayd.console.navigation import ENTRIES, current, shelves
from tests.console.visiting import Site


async def test_every_entry_is_a_page_and_groups_stand_together(site: Site) -> None:
    there = {rule.rule for rule in site.app.url_map.iter_rules() if "GET" in (rule.methods or ())}
    assert [entry.href for entry in ENTRIES if entry.href not in there] == []
    groups = [entry.group for entry in ENTRIES]
    assert groups == sorted(groups, key=list(dict.fromkeys(groups)).index)


def test_who_runs_the_server_alone_sees_its_administration() -> None:
    for role in ("owner", "admin", "member", ""):
        assert "Administration" not in [shelf.name for shelf in shelves(role, instance_admin=False)]
    administration = shelves("", instance_admin=True)[-1]
    assert (administration.name, administration.entries[-1].href) == ("Administration", "/admin/tax")


def test_a_page_belongs_to_the_longest_address_that_it_begins_with() -> None:
    assert current("/") == "/"
    assert current("/developers/access/end") == "/developers/access"
    assert current("/developers/accessories") == ""
    assert current("/account") == ""


async def test_the_switcher_is_there_for_who_belongs_to_several(site: Site) -> None:
    browser = await site.signed_in()
    page = await browser.open("/developers/apps")
    assert not page.has_form("/organization")
    elm = await site.add_org("Elm <b>Ltd</b>", site.user_id)
    page = await browser.open("/developers/apps")
    offered = [each.text for each in page.form("/organization").all("button")]
    assert offered == ["Oak & Son", "Elm <b>Ltd</b>"]
    answer = await browser.submit(page, "/organization", id=elm)
    assert answer.location == "/developers/apps"
    chosen = (await browser.follow(answer)).page.form("/organization").all("button")
    assert [each.text for each in chosen if "aria-current" in each.attributes] == ["Elm <b>Ltd</b>"]


async def test_the_gallery_is_not_there_unless_it_is_asked_for(site: Site) -> None:
    assert (await (await site.signed_in()).get("/gallery")).status == 404
