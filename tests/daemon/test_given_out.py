"""Whatever somebody was given or gave away ends with them, and with a restore: of each kind one is made and tried.

What is made stands in `GIVING`, which has to name every kind there is.
"""

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from gatewayd.access.kinds import KINDS
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.parses import variants
from gatewayd.areas.vault.parses.variants import VariantRow
from gatewayd.clock import Instant
from gatewayd.identity import audit
from gatewayd.identity.people import invitations, memberships, users
from gatewayd.identity.sign_in import one_time_links
from gatewayd.store import WriteTx
from tests.daemon.conftest import Shared
from tests.daemon.instance import Firm, Instance, Running, serving, until
from tests.daemon.test_sign_in_of_programs import connect
from tests.support.oauth import sign_in
from tests.support.tenants import LOOPBACK_SETTINGS

API = "/api/rpc"
DOCUMENTS_PATH = f"{API}/vault/documents"
BOB = "bob@example.com"
PASSWORD = "open sesame"
TUS = {"Tus-Resumable": "1.0.0"}

Try = Callable[[Running], bool]
"""Whether it works, at a daemon."""


@contextmanager
def receiver() -> Iterator[tuple[str, list[str]]]:
    """Somebody's webhook receiver: its address, and the paths at which anything arrived."""
    arrived: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            arrived.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", arrived
        finally:
            server.shutdown()
            thread.join()


@dataclass
class House:
    """A firm whose administrator Bob has made one of everything."""

    instance: Instance
    firm: Firm
    bob: Firm
    key_name: str
    receiver: str
    arrived: list[str]
    document_id: str = ""
    lead: int = 0
    tries: dict[str, Try] = field(default_factory=dict)

    def call(self, running: Running, method: str, path: str, **body: object) -> Any:
        """What Bob's key is answered."""
        answer = running.call(self.bob.key, method, f"{API}{path}", body if method == "POST" else None)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def gets(self, running: Running, address: str) -> bool:
        parts = urlsplit(address)
        return running.client.get(f"{parts.path}?{parts.query}" if parts.query else parts.path).status_code == 200

    def arrives(self, running: Running, path: str) -> bool:
        """Whether an event comes to a receiver: it would before it comes to one that is made now."""
        self.lead += 1
        control = f"/control/{self.lead}"
        values = {"url": self.receiver + control, "events": ["lead.created"]}
        made = self.instance.run(
            "webhook", "create", "--org", self.firm.org_id, "--event", "lead.created", "--url", values["url"], "--json"
        )
        assert made.returncode == 0, made.stderr
        before = self.arrived.count(path)
        self.instance.do(self.firm.org_id, "crm.createLead", source="web", status="new")
        until(lambda: control in self.arrived)
        expected = self.deliveries(path)
        until(lambda: self.arrived.count(path) - before >= expected)
        return self.arrived.count(path) > before

    def deliveries(self, path: str) -> int:
        """How many deliveries of the newest event there are for a receiver."""
        sql = """
        SELECT count(*) FROM deliveries d JOIN webhook_subscriptions s ON s.id = d.subscription_id
        WHERE s.url = :url AND d.event_id = (SELECT max(id) FROM events)
        """
        return int(self.instance.read(lambda tx: tx.value(sql, url=self.receiver + path)))

    def tell(self, running: Running) -> dict[str, bool]:
        return {name: works(running) for name, works in self.tries.items()}


def document(house: House, running: Running) -> str:
    made = house.call(running, "POST", "/vault/documents", name="contract.txt", mimeType="text/plain")
    assert running.client.put(urlsplit(made["upload"]["url"]).path, content=b"signed").status_code == 200
    house.call(running, "POST", f"/vault/documents/{made['document']['id']}/confirm-upload")
    return str(made["document"]["id"])


def give_link(house: House, running: Running) -> Try:
    path = f"/vault/documents/{house.document_id}/temporal-link"
    url = house.call(running, "POST", path, permanent=True)["url"]
    return lambda daemon: house.gets(daemon, url)


def give_what_a_password_opened(house: House, running: Running) -> Try:
    path = f"/vault/documents/{house.document_id}/temporal-link"
    url = house.call(running, "POST", path, permanent=True, password=PASSWORD)["url"]
    opened = running.client.post(urlsplit(url).path, data={"password": PASSWORD})
    return lambda daemon: house.gets(daemon, opened.headers["location"])


def give_upload(house: House, running: Running) -> Try:
    made = house.call(running, "POST", "/vault/documents", name="to come.txt")
    path = urlsplit(made["upload"]["url"]).path
    return lambda daemon: daemon.client.head(path, headers=TUS).status_code == 200


def give_feed(house: House, running: Running) -> Try:
    url = house.call(running, "POST", "/obligations/feeds/create", name="Phone")["url"]
    return lambda daemon: house.gets(daemon, url)


def give_subscription(house: House, running: Running) -> Try:
    values = {"url": f"{house.receiver}/bob", "events": ["lead.created"]}
    house.call(running, "POST", "/webhooks/subscriptions", **values)
    return lambda daemon: house.arrives(daemon, "/bob")


def give_app(house: House, running: Running) -> Try:
    tokens = connect(Shared(house.instance, running, house.bob))
    return lambda daemon: daemon.call(tokens["access_token"], "GET", f"{API}/invoices").status_code == 200


def give_key(house: House, running: Running) -> Try:
    return lambda daemon: daemon.call(house.bob.key, "GET", f"{API}/invoices").status_code == 200


def give_download(house: House, running: Running) -> Try:
    path = f"{DOCUMENTS_PATH}/{house.document_id}/download?ttlSeconds=3600"
    url = running.call(house.bob.key, "GET", path).json()["url"]
    return lambda daemon: house.gets(daemon, url)


def give_picture(house: House, running: Running) -> Try:
    """The address that the document showed when it was read; its picture is made of the document's own bytes."""
    address = variants.new_address(house.document_id, 1, 320)

    def draw(tx: WriteTx) -> None:
        row = DOCUMENTS.get(tx, house.document_id)
        assert row.sha256 is not None
        picture = VariantRow(
            variant="thumbnail",
            page=1,
            width=320,
            drawn_width=320,
            height=200,
            mime_type="image/webp",
            size_bytes=6,
            sha256=row.sha256,
            created_at=Instant(tx.now),
        )
        variants.put(tx, row.id, picture)
        DOCUMENTS.update(tx, replace_picture(row, address))

    house.instance.write(draw, house.firm.org_id)
    shown = house.call(running, "GET", f"/vault/documents/{house.document_id}")["thumbnailUrl"]
    return lambda daemon: house.gets(daemon, shown)


def replace_picture(row: Any, address: str) -> Any:
    from msgspec.structs import replace as changed

    return changed(row, thumbnail_url=address)


def give_session(house: House, running: Running) -> Try:
    cookie = house.instance.write(lambda tx: sign_in(tx, house.bob.user_id, house.firm.org_id)).cookie
    return lambda daemon: daemon.client.get("/", headers={"Cookie": f"session={cookie}"}).status_code == 200


def give_sign_in_link(house: House, running: Running) -> Try:
    token = house.instance.write(lambda tx: one_time_links.make(tx, house.bob.user_id, "sign_in"))
    return lambda daemon: house.gets(daemon, f"/sign-in/link/{token}")


def give_invitation(house: House, running: Running) -> Try:
    wanted = invitations.NewInvitation("carol@example.com", "member", house.bob.user_id)
    token = house.instance.write(lambda tx: invitations.make(tx, wanted)[1], house.firm.org_id)
    return lambda daemon: house.gets(daemon, f"/sign-in/invitation/{token}")


GIVING: dict[str, Callable[[House, Running], Try]] = {
    "document_link": give_link,
    "upload_url": give_upload,
    "calendar_feed": give_feed,
    "webhook_subscription": give_subscription,
    "connected_app": give_app,
    "api_key": give_key,
    "invitation": give_invitation,
    # What no list shows, for it ends by itself within the hour, or is a person's own:
    "download URL": give_download,
    "what a password opened": give_what_a_password_opened,
    "address of a picture": give_picture,
    "session": give_session,
    "sign-in link": give_sign_in_link,
}
LISTED = {kind.name for kind in KINDS}


def test_one_of_every_kind_is_given() -> None:
    assert GIVING.keys() >= LISTED


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    instance = Instance(tmp_path, f"{LOOPBACK_SETTINGS}[limits]\nrequests_per_minute = 0\n")
    firm = instance.firm()

    def join(tx: WriteTx) -> str:
        user = users.create(tx, users.NewUser(email=BOB, name="Bob"), audit.OPERATOR)
        memberships.add(tx, user.id, "admin", audit.OPERATOR)
        return user.id

    user_id = instance.write(join, firm.org_id)
    key = instance.key(firm.org_id, user_id)
    bob = replace(firm, user_id=user_id, email=BOB, key=key.key, key_id=key.id)
    with receiver() as (address, arrived):
        yield House(instance, firm, bob, "Shop", address, arrived)


def give_everything(house: House, running: Running) -> None:
    house.document_id = document(house, running)
    house.tries = {name: give(house, running) for name, give in GIVING.items()}
    assert house.tell(running) == dict.fromkeys(GIVING, True)


def counted(ended: dict[str, Any]) -> dict[str, int]:
    return {name: count for name, count in ended.items() if name not in ("items", "handedOver", "passkeys") and count}


ONE_OF_EACH = {
    "sessions": 2,  # the consent has one of its own
    "signInLinks": 1,
    "keys": 1,
    "grants": 1,
    "documentLinks": 2,
    "uploadUrls": 1,
    "feeds": 1,
    "subscriptions": 1,
    "invitations": 1,
}


@pytest.mark.parametrize("command", ["member remove", "user disable"])
def test_nothing_works_that_a_leaver_was_given_or_gave(house: House, command: str) -> None:
    """And the answer counts and names it."""
    named = {"member remove": ["--org", house.firm.org_id, "--user", BOB], "user disable": [BOB]}
    with serving(house.instance) as running:
        give_everything(house, running)
        ran = house.instance.run(*command.split(), *named[command], "--json")
        assert ran.returncode == 0, ran.stderr
        ended = json.loads(ran.stdout)["ended"]
        assert counted(ended) == ONE_OF_EACH
        assert {each["kind"] for each in ended["items"]} == LISTED
        assert house.tell(running) == dict.fromkeys(GIVING, False)
        listed = house.instance.run("access", "list", "--org", house.firm.org_id, "--user", BOB, "--json")
        assert json.loads(listed.stdout) == []


def test_nothing_works_that_anybody_was_given_before_a_restore(house: House, tmp_path: Path) -> None:
    """Of all that was open when the backup was made; the subscription waits for an owner."""
    with serving(house.instance) as running:
        give_everything(house, running)
        backup = house.instance.run("backup", str(tmp_path / "backup"), "--with-key")
        assert backup.returncode == 0, backup.stderr
    shutil.move(tmp_path / "data", tmp_path / "lost")
    ran = house.instance.run("restore", str(tmp_path / "backup"), "--end-everything", "--json")
    assert ran.returncode == 0, ran.stderr
    ends = json.loads(ran.stdout)["ends"]
    for name, count in ONE_OF_EACH.items():
        assert name == "signInLinks" or ends[name] >= count, (name, ends)
    with serving(house.instance) as running:
        assert house.tell(running) == dict.fromkeys(GIVING, False)
        (line,) = [line for line in running.lines() if line["event"] == "restore_decided"]
        assert line["document_link_count"] == ends["documentLinks"] == 2
        assert line["subscription_count"] == ends["subscriptions"]
        key = house.instance.key(house.firm.org_id, house.firm.user_id).key
        subscriptions = running.call(key, "GET", f"{API}/webhooks/subscriptions").json()["data"]
        (mine,) = [each for each in subscriptions if each["url"].endswith("/bob")]
        assert (mine["enabled"], mine["disabledReason"]) == (False, "restored")
        path = f"{API}/webhooks/subscriptions/update"
        admins = house.instance.key(house.firm.org_id, house.bob.user_id).key
        assert running.call(admins, "POST", path, {"id": mine["id"], "enabled": True}).status_code == 403
        assert running.call(key, "POST", path, {"id": mine["id"], "enabled": True}).status_code == 200
        assert house.tries["webhook_subscription"](running)


def test_what_is_handed_over_goes_on_with_somebody_else(house: House) -> None:
    """Links, feeds and subscriptions; whatever holds a secret of who goes ends."""
    with serving(house.instance) as running:
        give_everything(house, running)
        named = ("--org", house.firm.org_id, "--user", BOB, "--hand-over-to", house.firm.email)
        ran = house.instance.run("member", "remove", *named, "--json")
        assert ran.returncode == 0, ran.stderr
        ended = json.loads(ran.stdout)["ended"]
        going_on = {"document_link", "calendar_feed", "webhook_subscription"}
        assert {each["kind"] for each in ended["handedOver"]} == going_on
        works = house.tell(running)
        assert {name for name in works if works[name]} == {*going_on, "what a password opened"}
        assert house.instance.run("user", "disable", house.firm.email).returncode == 0
        assert house.tell(running) == dict.fromkeys(GIVING, False)
