"""A key by keyboard alone and without scripts; the pages of keys fit with what is long and much."""

import secrets

import httpx
from playwright.sync_api import expect

from gatewayd.identity import audit
from gatewayd.identity.key_format import RANDOM_BYTES, checksum_ok
from gatewayd.identity.keys import api_keys, key_uses
from gatewayd.identity.keys.key_uses import KeyUse
from gatewayd.identity.people import memberships, users
from gatewayd.store import WriteTx
from tests.browser.conftest import Visit
from tests.browser.place import Place
from tests.browser.test_looks import LONG_NAME, Camera, known
from tests.browser.walking import fill_in, heading, reach, sign_in


def test_a_key_is_made_by_keyboard_without_scripts_opens_the_api_and_is_revoked(place: Place, visit: Visit) -> None:
    page, _ = visit(java_script_enabled=False)
    sign_in(page, place.person())
    page.goto("/developers/keys")
    reach(page, page.get_by_role("main").get_by_role("link", name="Create key"))
    page.keyboard.press("Enter")
    heading(page, "New key")
    reach(page, page.get_by_label("Name"))
    page.keyboard.type("Till in the shop")
    reach(page, page.locator("input[value='accounting:read']"))
    page.keyboard.press("Space")
    reach(page, page.get_by_role("button", name="Create key"))
    page.keyboard.press("Enter")
    heading(page, "Copy your key")
    key = page.locator(".secret code").inner_text()
    assert checksum_ok(key)
    page.reload()
    heading(page, "Copy your key")
    assert page.locator(".secret code").inner_text() == key
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=place.url, headers=headers) as client:
        assert client.get("/api/rpc/invoices").status_code == 200
        page.goto("/developers/keys")
        page.get_by_role("link", name="Till in the shop").click()
        heading(page, "Till in the shop")
        reach(page, page.get_by_role("link", name="Revoke"))
        page.keyboard.press("Enter")
        heading(page, "Revoke Till in the shop?")
        reach(page, page.get_by_role("button", name="Revoke"))
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_have_text("The key Till in the shop was revoked.")
        assert client.get("/api/rpc/invoices").status_code == 401


def test_the_pages_of_keys_fit(place: Place, visit: Visit) -> None:
    """With many keys and long names."""
    page, complaints = visit()
    email, gone = place.person(), place.person("Cy Ash")
    place.let_into(email, "Larch & Daughters")

    def give(tx: WriteTx) -> str:
        ids = {each: known(users.find(tx, each)) for each in (email, gone)}
        larch = next(each.org_id for each in memberships.of_user(tx, ids[email]) if each.org_id != place.firm.org_id)
        tx.bind(larch)
        memberships.add(tx, ids[gone], "member", audit.OPERATOR)

        def make(name: str, user_id: str, **values: object) -> str:
            new = api_keys.NewKey(name=name, user_id=user_id, **values)  # type: ignore[arg-type]
            return api_keys.create(tx, new, secrets.token_bytes(RANDOM_BYTES), audit.OPERATOR).id

        for number in range(24):
            make(f"Till {number}", ids[email], scopes=("accounting:read", "vault:read"), networks=("203.0.113.0/24",))
        make("Phone", ids[gone])
        memberships.remove(tx, ids[gone], audit.OPERATOR)
        warehouse = make("Warehouse", ids[email], scopes=("tax:read", "assets:read", "assets:write"), role="admin")
        long = make(LONG_NAME, ids[email])
        api_keys.revoke(tx, make("Old", ids[email]), audit.OPERATOR)
        for number, operation in enumerate(("assets.listPortfolios", "assets.performance", "vat.getObligations")):
            key_uses.add(tx, {KeyUse(warehouse, operation): 1_200 * number + 3, KeyUse(long, operation): 1})
        return warehouse

    warehouse = place.instance.write(give)
    take = Camera(page)
    page.goto("/sign-in")
    fill_in(page, email)
    page.goto(f"/developers/keys/{warehouse}")
    heading(page, "Warehouse")
    take("developers-key")
    page.get_by_role("link", name="All keys of Larch & Daughters").click()
    heading(page, "API keys")
    page.get_by_text("1 ended").click()
    page.get_by_role("link", name=LONG_NAME).click()
    page.get_by_role("link", name="Rotate").click()
    page.get_by_role("button", name="Create key").click()
    heading(page, "Copy your key")
    take("developers-key-made")
    page.goto("/developers/keys/new")
    page.get_by_label("Name").fill("x" * 160)
    page.get_by_role("button", name="Create key").click()
    expect(page.get_by_role("alert")).to_have_text("The key was not made. Look at the marked fields.")
    complaints.took(422)
    take("developers-key-wrong")
