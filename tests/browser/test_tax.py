"""Tax access is asked for, opened and closed again, and an organization connected, in a real browser."""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from gatewayd.identity import audit
from gatewayd.identity.key_format import RANDOM_BYTES
from gatewayd.identity.keys import api_keys
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.store import WriteTx
from gatewayd.tax import approvals
from gatewayd.tax.approvals import Subject
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.connections import Tokens
from gatewayd.tax.sessions import call_log
from gatewayd.tax.sessions.call_log import TaxCall
from tests.browser import authority
from tests.browser.authority import Authority
from tests.browser.conftest import Visit
from tests.browser.place import HASHED, Place, free_port
from tests.browser.test_looks import Camera
from tests.browser.walking import heading, sign_in
from tests.daemon.instance import Instance, serving

OBLIGATIONS = "/api/rpc/tax/vat/getObligations?vrn=980780684&from=2018-01-02&to=2018-02-02"
DECLARED = "Birch Books 4.1 sends all sixteen fraud-prevention headers.\nOur vendor terms were signed on 3 March 2026."
ROOT = "root@example.com"


@contextmanager
def _serving(directory: Path, tax: str) -> Iterator[Place]:
    port = free_port()
    url = f"http://localhost:{port}"
    bind, public = f'["127.0.0.1:{port}"]', f'public_url = "{url}"'
    instance = Instance(directory, settings=f"[tax]\n{tax}", bind=bind, extra_server=public)
    firm = instance.firm()
    instance.write(_add_administrator)
    with serving(instance) as running:
        yield Place(instance, running, url, firm)


def _add_administrator(tx: WriteTx) -> None:
    new = users.NewUser(email=ROOT, name="Root Elm", password_hash=HASHED, instance_admin=True)
    users.create(tx, new, audit.OPERATOR)


@pytest.fixture(scope="module")
def tax_authority(authority_port: int) -> Iterator[Authority]:
    with authority.listening(authority_port) as opened:
        yield opened


@pytest.fixture(scope="module")
def place(
    tmp_path_factory: pytest.TempPathFactory, tax_authority: Authority, request: pytest.FixtureRequest
) -> Iterator[Place]:
    """A daemon of these tests, in sandbox mode where nothing else is said."""
    mode = getattr(request, "param", "sandbox")
    more = f'upstream = "{tax_authority.token_url}"\nclient_id = "app"\n' if mode == "hmrc" else ""
    with _serving(tmp_path_factory.mktemp("tax"), f'mode = "{mode}"\nfraud_headers = "off"\n{more}') as opened:
        yield opened


def key(place: Place, name: str = "Birch Books") -> tuple[str, str]:
    """A key of the firm that chose a tax scope; answers its id and its text."""
    ran = place.instance.run(
        *("key", "create", "--org", place.firm.org_id, "--user", place.firm.email, "--name", name),
        *("--scope", "tax:read", "--json"),
    )
    assert ran.returncode == 0, ran.stderr
    made = json.loads(ran.stdout)
    return made["id"], made["key"]


def call(place: Place, key: str) -> int:
    """The status of a tax operation."""
    headers = {"Authorization": f"Bearer {key}"}
    return place.running.client.get(OBLIGATIONS, headers=headers).status_code


@pytest.mark.parametrize("javascript", [True, False], ids=["with javascript", "without"])
def test_from_the_request_to_the_end(place: Place, visit: Visit, javascript: bool) -> None:
    name = f"Birch Books {javascript}"
    key_id, text = key(place, name)
    assert call(place, text) == 403
    page, _ = visit(java_script_enabled=javascript)
    sign_in(page, place.person())
    page.get_by_role("navigation").get_by_role("link", name="Tax access").click()
    heading(page, "Tax access")
    page.get_by_label("For", exact=True).select_option(value=f"key:{key_id}")
    page.get_by_label("Attestation").fill(DECLARED)
    page.get_by_role("button", name="Request access").click()
    row = page.get_by_role("row").filter(has_text=name)
    expect(row).to_contain_text("Waiting since")
    expect(row).not_to_contain_text("nothing is declared")
    assert call(place, text) == 403

    admin, _ = visit(java_script_enabled=javascript)
    sign_in(admin, ROOT)
    admin.get_by_role("link", name="Decide").click()
    heading(admin, "Tax approvals")
    waiting = admin.get_by_role("article", name=name)
    expect(waiting.get_by_role("blockquote")).to_have_text(DECLARED)
    waiting.get_by_role("button", name="Approve").click()
    expect(waiting.get_by_role("button", name="Withdraw")).to_be_visible()
    assert call(place, text) == 200

    page.reload()
    expect(row).to_contain_text("Approved")
    expect(page.get_by_role("cell", name="List VAT obligations").first).to_be_visible()
    waiting.get_by_label("Reason").fill("The vendor terms have ended.")
    waiting.get_by_role("button", name="Withdraw").click()
    expect(waiting).to_have_count(0)
    assert call(place, text) == 403
    page.reload()
    expect(row).to_contain_text("The vendor terms have ended.")


def test_refused_by_the_keyboard_alone(place: Place, visit: Visit) -> None:
    key(place, "Elm Ledger")
    admin, _ = visit()
    sign_in(admin, ROOT)
    admin.goto("/admin")
    waiting = admin.get_by_role("article", name="Elm Ledger")
    waiting.get_by_role("button", name="Approve").focus()
    admin.keyboard.press("Tab")
    admin.keyboard.type("Nothing is declared.")
    admin.keyboard.press("Enter")
    expect(waiting).to_have_count(0)
    page, _ = visit()
    sign_in(page, place.person())
    page.goto("/developers/tax")
    expect(page.get_by_role("row").filter(has_text="Elm Ledger")).to_contain_text("Nothing is declared.")


def test_two_clicks_ask_once(place: Place, visit: Visit) -> None:
    key_id, _ = key(place, "Ash Till")
    page, _ = visit()
    sign_in(page, place.person())
    page.goto("/developers/tax")
    page.get_by_label("For", exact=True).select_option(value=f"key:{key_id}")
    page.get_by_label("Attestation").fill(DECLARED)
    page.get_by_role("button", name="Request access").dblclick()
    expect(page.get_by_role("row").filter(has_text="Ash Till")).to_contain_text("Waiting since")
    entries = place.instance.read(audit.list_all)
    assert [one.action for one in entries if one.subject == key_id] == ["key.tax_requested", "key.created"]


@pytest.mark.parametrize("place", ["hmrc"], indirect=True)
def test_connecting_and_disconnecting(place: Place, visit: Visit, tax_authority: Authority) -> None:
    page, complaints = visit(ignore_https_errors=True)
    sign_in(page, place.person())
    page.goto("/developers/tax")
    tax_authority.error = "access_denied"
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Access was not allowed at the tax authority.")
    complaints.took(422)
    tax_authority.error = ""
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_text("VAT and Income Tax", exact=True)).to_be_visible()
    assert page.url == f"{place.url}/developers/tax?organization={place.firm.org_id}"
    assert tax_authority.redeemed[-1]["redirect_uri"] == [f"{place.url}/developers/tax/connected"]
    page.get_by_role("button", name="Disconnect").click()
    heading(page, "Disconnect Oak & Son?")
    page.get_by_role("button", name="Disconnect").click()
    expect(page.get_by_text("Not connected")).to_be_visible()


@pytest.mark.parametrize("place", ["hmrc"], indirect=True)
def test_pages_fit(place: Place, visit: Visit) -> None:
    person = place.instance.write(_seed)
    page, complaints = visit()
    take = Camera(page)
    sign_in(page, person)
    take("tax-home")
    page.goto("/admin/tax")
    take("tax-approvals")
    page.goto("/developers/tax")
    take("tax-access")
    page.get_by_label("Attestation").fill(" ")
    page.get_by_role("button", name="Request access").click()
    expect(page.get_by_role("alert")).to_be_visible()
    complaints.took(422)
    take("tax-access-wrong")
    page.get_by_role("button", name="Disconnect").click()
    heading(page, "Disconnect Oak & Son Joinery?")
    take("tax-disconnect")


def _seed(tx: WriteTx) -> str:
    """An organization with one of everything; answers the address of who leads it, and the instance."""
    email = f"kim-{secrets.token_hex(4)}@example.com"
    new = users.NewUser(email=email, name="Kim Oak", password_hash=HASHED, instance_admin=True)
    user = users.create(tx, new, audit.OPERATOR)
    org = organizations.create(tx, "Oak & Son Joinery", audit.OPERATOR)
    tx.bind(org.id)
    memberships.add(tx, user.id, "owner", audit.OPERATOR)
    connections.save(tx, Tokens("a", None, "read:vat", 20 * 86_400), user.id)
    made = [_key(tx, user.id, name) for name in ("Birch Books", "Elm Ledger for Landlords", "Till", "Spreadsheet")]
    approvals.request(tx, made[0], DECLARED, user.id)
    approvals.approve(tx, made[0], None, user.id)
    approvals.refuse(tx, made[1], "The vendor has not said who answers for the headers.", user.id)
    approvals.request(tx, made[2], DECLARED, user.id)
    for status, code in ((200, None), (404, None), (409, "tax_reauthorisation_required")):
        call = TaxCall("req_1", made[0].id, None, "vat.getLiabilities", status, code, secrets.token_hex(16), 41)
        call_log.record(tx, call)
    return email


def _key(tx: WriteTx, user_id: str, name: str) -> Subject:
    new = api_keys.NewKey(name=name, user_id=user_id, scopes=["tax:read"])
    return Subject("key", api_keys.create(tx, new, secrets.token_bytes(RANDOM_BYTES), audit.OPERATOR).id)
