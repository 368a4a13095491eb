"""The pages of the instance itself: its health, what waits, and its backups. Nobody but administrators finds them."""

import dataclasses
import shlex
from pathlib import Path

import msgspec
import pytest

from gatewayd import events
from gatewayd.areas.vault.documents import queues
from gatewayd.cli.parser import build_parser
from gatewayd.clock import DAY, HOUR, MINUTE, Instant, to_wire
from gatewayd.console.instance import Finding, Round
from gatewayd.daemon import instance
from gatewayd.leases import rows as leases
from gatewayd.mail import outbox
from gatewayd.mail.letters import Letter
from gatewayd.mail.outbox import NewMail
from gatewayd.outbound.transport import Policy
from gatewayd.store import Store, WriteTx
from gatewayd.store.files import known_backups, restored
from gatewayd.store.files.manifests import FORMAT, KEY_NAME, File, Manifest
from gatewayd.store.files.restored import Restored
from gatewayd.webhooks.queue import standing
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import CreateSubscription
from tests.console.administering import administrator
from tests.console.instances import HOLDER
from tests.console.reading import Document
from tests.console.visiting import ISSUER, Site
from tests.support.store import START, make_caller

NINE = [f"{number} <b>Firm</b> & Sons" for number in range(8)]
HTML_MOST = 40_000
QUEUE = "INSERT INTO vault_index_queue (org_id, document_id, revision, queued_at) VALUES (:org_id, :id, 1, 1)"
PAGES = ("/admin/health", "/admin/jobs", "/admin/backups")


def rows_of(page: Document, caption: str) -> list[list[str]]:
    """The texts of a table's rows."""
    for table in page.root.all("table"):
        if next(table.all("caption")).text == caption:
            body = next(table.all("tbody"))
            return [[cell.text for cell in row.all("th", "td")] for row in body.all("tr")]
    return []


async def nine(site: Site) -> list[str]:
    """Nine organizations, with names that hold markup; answers their ids."""
    return [site.org_id, *[await site.add_org(name, site.user_id) for name in NINE]]


# -- who


@pytest.mark.parametrize("path", PAGES)
async def test_administrators_alone_find_it(site: Site, path: str) -> None:
    _, browser = await administrator(site)
    assert (await browser.get(path)).status == 200
    assert (await (await site.signed_in()).get(path)).status == 404
    assert (await site.browser().get(path)).location == f"/sign-in?next={path.replace('/', '%2F')}"


# -- health


async def test_all_is_well(site: Site) -> None:
    _, browser = await administrator(site)
    page = await browser.open("/admin/health")
    assert "Nothing is wrong." in page.text
    assert rows_of(page, "What the checks found") == [["Disk", "fine", "9000 MiB are free at /srv.", ""]]
    assert [row[:2] for row in rows_of(page, "Readiness of each part")] == [
        ["Database", "ready"],
        ["Clock", "ready"],
        ["Webhook deliveries", "ready"],
        ["Service", "ready"],
    ]
    for fact in ("SQLite 3.", "Its last migration", "Free on its disk", "Memory of the daemon"):
        assert fact in page.text


async def test_what_is_wrong_stands_first_with_what_to_do(site: Site) -> None:
    site.told.ready = {"store": "does not take writes: the disk is full", "clock": "ok"}
    site.told.found.findings += [
        Finding("public URL", "unknown", "It could not be found out within 4 seconds."),
        Finding("proxy", "wrong", "A <b>proxy</b> ends TLS.", "Name the proxy in server.trusted_proxies."),
    ]
    _, browser = await administrator(site)
    page = await browser.open("/admin/health")
    assert "2 things are wrong. 1 could not be found out." in page.text
    checks = rows_of(page, "What the checks found")
    assert [row[:2] for row in checks] == [["Proxy", "wrong"], ["Public URL", "not known"], ["Disk", "fine"]]
    assert checks[0][2:] == ["A <b>proxy</b> ends TLS.", "Name the proxy in server.trusted_proxies."]
    (database, clock) = rows_of(page, "Readiness of each part")
    assert (database[1], clock[1]) == ("not ready", "ready")
    assert "the disk is full" in database[2]
    assert "Make room" in database[3]


async def test_what_is_not_known_is_no_fault(site: Site) -> None:
    site.told.found.findings = [Finding("database", "unknown", "It could not be found out within 4 seconds.")]
    _, browser = await administrator(site)
    assert "Nothing is known to be wrong. 1 could not be found out." in (await browser.open("/admin/health")).text


# -- jobs


async def add_deliveries(store: Store, org_id: str, count: int) -> None:
    """A subscription of an organization, with so many deliveries that wait."""

    def subscribe(tx: WriteTx) -> None:
        request = CreateSubscription(url="https://receiver.example/hook", events=["lead.created"])
        subscriptions.create_subscription(tx, make_caller(org_id), request, policy=Policy())

    def emit(tx: WriteTx) -> None:
        for number in range(count):
            events.append(tx, "lead.created", {"lead_id": f"lead_{number}", "source": "x", "status": "new"})

    await store.write(subscribe, org_id)
    await store.write(emit, org_id)


async def test_nothing_waits(site: Site) -> None:
    _, browser = await administrator(site)
    page = await browser.open("/admin/jobs")
    for sentence in (
        "2 are being sent by this daemon.",
        "Nothing waits, and nothing was given up.",
        "None waits to be read",
        "No file is being imported.",
        "There is none.",
        "Nothing is worked on alone.",
        "The first round comes a minute after the start.",
    ):
        assert sentence in page.text


async def test_deliveries_are_told_by_organization(site: Site) -> None:
    ids = await nine(site)
    for number, org_id in enumerate(ids):
        await add_deliveries(site.store, org_id, number)
    give_up = """
        UPDATE deliveries SET status = 'exhausted', due_at = NULL, completed_at = :now WHERE org_id = :org_id
    """
    await site.store.write(lambda tx: tx.run(give_up), ids[3])
    disable = "UPDATE webhook_subscriptions SET enabled = 0, disabled_reason = 'caller', disabled_at = :now"
    await site.store.write(lambda tx: tx.run(f"{disable} WHERE org_id = :org_id"), ids[4])
    site.clock.advance(5 * MINUTE)
    _, browser = await administrator(site)
    answer = await browser.get("/admin/jobs")
    assert len(answer.body) < HTML_MOST
    found = rows_of(answer.page, "Webhook deliveries by organization")
    assert found == [
        [name, str(0 if number == 3 else number), "" if number == 3 else "5 minutes ago", said, disabled]
        for number, name in list(enumerate(["Oak & Son", *NINE]))[1:]
        for said, disabled in [("3" if number == 3 else "0", "1" if number == 4 else "0")]
    ]


async def test_what_is_more_than_is_counted_has_a_plus(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "MOST", 2)
    await add_deliveries(site.store, site.org_id, 3)
    _, browser = await administrator(site)
    ((_, waiting, *_),) = rows_of(await browser.open("/admin/jobs"), "Webhook deliveries by organization")
    assert waiting == "2+"


async def test_documents_imports_leases_and_broken_calls_are_told(site: Site) -> None:
    (one, two, *_) = await nine(site)
    lease = Instant(START + MINUTE)

    def of_one(tx: WriteTx) -> None:
        tx.run(QUEUE, id="doc_1")
        leases.take(tx, "parse:doc_1", HOLDER, 3600)
        tx.run(
            """INSERT INTO idempotency_keys (
                org_id, credential_id, key, request_hash, operation, response, sealed, created_at, lease_until
            ) VALUES (:org_id, 'key_1', 'a', :hash, 'tax.submitVat', NULL, 0, :now, :until)""",
            hash=b"x",
            until=lease,
        )

    await site.store.write(of_one, one)
    await site.store.write(lambda tx: leases.take(tx, "import:acc_1", "elsewhere:1", 3600), two)
    await site.store.write(lambda tx: leases.take(tx, "daemon:x", HOLDER, 3600), "")
    site.told.rounds["trash emptied"] = Round(START, failed=False)
    site.told.rounds["credits booked"] = Round(START, failed=True)
    _, browser = await administrator(site)
    page = await browser.open("/admin/jobs")
    assert rows_of(page, "Calls whose outcome is not known") == []  # it may still end
    assert rows_of(page, "Documents by organization") == [["Oak & Son", "0", "0", "1"]]
    assert [row[:3] for row in rows_of(page, "What a process works on alone")] == [
        ["A daemon", "", "this daemon"],
        ["A document that is read", "Oak & Son", "this daemon"],
        ["An import", "0 <b>Firm</b> & Sons", "elsewhere:1"],
    ]
    assert rows_of(page, "Housekeeping since the start") == [
        ["Trash emptied", "done", "just now"],
        ["Credits booked", "failed", "just now"],
    ]
    site.clock.advance(2 * MINUTE)
    page = await browser.open("/admin/jobs")
    assert rows_of(page, "Calls whose outcome is not known") == [["Oak & Son", "tax.submitVat", "1 minute ago"]]
    site.clock.advance(2 * HOUR)
    assert rows_of(await browser.open("/admin/jobs"), "What a process works on alone") == []


async def test_passages_without_vectors_are_counted(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instance, "PASSAGES", 3)
    _, browser = await administrator(site)
    assert "Every passage has its vector." in (await browser.open("/admin/jobs")).text
    put = """
        INSERT INTO vault_chunks (org_id, document_id, n, page, start, length, digest, model)
        VALUES (:org_id, 'doc_1', :n, 1, 0, 1, :digest, :model)
    """

    def fill(tx: WriteTx) -> None:
        for number, model in enumerate(["", "", "wordllama"]):
            tx.run(put, n=number, digest=bytes([number]) * 32, model=model)

    await site.store.write(fill, site.org_id)
    assert "Passages that have no vector yet: 2." in (await browser.open("/admin/jobs")).text
    await site.store.write(lambda tx: tx.run(put, n=3, digest=b"x" * 32, model=""), site.org_id)
    assert "Passages that have no vector yet: 3+." in (await browser.open("/admin/jobs")).text
    without = dataclasses.replace(site.told.daemon, gives_vectors=False)
    assert (await without.jobs()).passages is None


async def test_documents_are_counted_within_bounds(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "MOST", 2)

    def fill(tx: WriteTx) -> None:
        for number in range(3):
            tx.run(QUEUE, id=f"doc_{number}")

    await site.store.write(fill, site.org_id)
    _, browser = await administrator(site)
    assert rows_of(await browser.open("/admin/jobs"), "Documents by organization") == [["Oak & Son", "0", "0", "2+"]]


# -- backups


@pytest.mark.parametrize("path", PAGES)
async def test_each_command_is_one(site: Site, path: str) -> None:
    await add_deliveries(site.store, site.org_id, 1)
    known_backups.note_made(site.store.directory, Path("/srv/back ups/monday"), made())
    _, browser = await administrator(site)
    shown = [each.text for each in (await browser.open(path)).root.all("code")]
    commands = [shlex.split(text)[1:] for text in shown if text.startswith("gatewayd ")]
    assert commands
    for command in commands:
        build_parser().parse_args(command)  # which ends the program where it is none


def made(size_bytes: int = 2_000_000, *faults: str, at: Instant = START, key: bool = True) -> Manifest:
    files = [File(path="gatewayd.db", sha256="0" * 64, bytes=size_bytes)]
    files += [File(path=KEY_NAME, sha256="0" * 64, bytes=0)] if key else []
    return Manifest(format=FORMAT, made_at=to_wire(at), files=files, faults=list(faults))


async def backups(site: Site) -> Document:
    return await (await administrator(site))[1].open("/admin/backups")


async def test_no_backup_is_known(site: Site) -> None:
    page = await backups(site)
    assert "No backup is known" in page.text
    commands = [each.text for each in page.root.all("code")]
    assert commands == [
        "gatewayd backup --into /var/backups/gatewayd",
        "gatewayd verify /var/backups/gatewayd/DIR",
        "gatewayd restore /var/backups/gatewayd/DIR",
    ]


async def test_the_last_backup_is_told(site: Site) -> None:
    place = Path("/srv/back <b>ups</b>/monday")
    known_backups.note_made(site.store.directory, place, made())
    page = await backups(site)
    assert "The last backup is whole." in page.text
    for said in ("2 MB in 2 files", "It was read again when it was made", "It is in it.", "20 Nov 2026"):
        assert said in page.text
    commands = [each.text for each in page.root.all("code")]
    assert commands[1:] == [
        "gatewayd backup --into '/srv/back <b>ups</b>'",
        f"gatewayd verify '{place}'",
        f"gatewayd restore '{place}'",
    ]


async def test_an_old_a_damaged_and_a_lost_backup_are_told(site: Site) -> None:
    directory, place = site.store.directory, Path("/srv/monday")
    known_backups.note_made(directory, place, made(key=False))
    _, browser = await administrator(site)
    site.clock.advance(6 * DAY)
    page = await browser.open("/admin/backups")
    assert "The last backup is whole." in page.text
    assert "Keep a copy of it elsewhere" in page.text
    site.clock.advance(DAY)
    assert (
        "The last backup is of 20 Nov 2026: what came since would be lost."
        in (await browser.open("/admin/backups")).text
    )
    at = to_wire(site.clock.now())
    known_backups.note_verified(directory, place, made(), at, is_whole=False)
    page = await browser.open("/admin/backups")
    assert "is not any more: make another one." in page.text
    assert "it was not whole." in page.text
    known_backups.note_made(directory, Path("/srv/tuesday"), made(5, "the database is damaged", at=site.clock.now()))
    page = await browser.open("/admin/backups")
    assert "was damaged, and is no backup." in page.text
    assert "/srv/monday" in page.text  # the last good one is still known
    site.clock.advance(MINUTE)
    known_backups.note_made(directory, Path("/srv/wednesday"), made(at=site.clock.now()))
    assert "The last backup is whole." in (await browser.open("/admin/backups")).text


async def test_a_restore_and_files_that_are_broken_are_told(site: Site) -> None:
    directory = site.store.directory
    restored.mark(directory, Restored(backup_made_at=to_wire(START), restored_at=to_wire(Instant(START + HOUR))))
    (directory / known_backups.NAME).write_text("{")
    page = await backups(site)
    assert "This store was restored on 20 Nov 2026" in page.text
    assert "backups.json cannot be read" in page.text
    assert "No backup is known" in page.text
    known_backups.note_made(directory, Path("/srv/monday"), made())
    assert msgspec.json.decode((directory / known_backups.NAME).read_bytes())["last"]["directory"] == "/srv/monday"


def test_another_backup_than_the_last_changes_nothing(tmp_path: Path) -> None:
    known_backups.note_verified(tmp_path, Path("/srv/monday"), made(), to_wire(START), is_whole=True)
    assert not (tmp_path / known_backups.NAME).exists()
    known_backups.note_made(tmp_path, Path("/srv/monday"), made())
    before = known_backups.find_known(tmp_path)
    later = Instant(START + DAY)
    known_backups.note_verified(tmp_path, Path("/srv/monday"), made(at=later), to_wire(later), is_whole=True)
    known_backups.note_verified(tmp_path, Path("/srv/sunday"), made(), to_wire(later), is_whole=True)
    assert known_backups.find_known(tmp_path) == before
    known_backups.note_verified(tmp_path, Path("/srv/monday"), made(), to_wire(later), is_whole=True)
    last = known_backups.find_known(tmp_path).last
    assert last is not None
    assert (last.verified_at, last.is_whole) == (to_wire(later), True)


# -- mail


async def give_up(site: Site, org_id: str | None, recipient: str, why: str) -> str:
    """A mail that the server has refused; answers its id."""
    letter = Letter(subject="x", paragraphs=("x",), reason="x")

    def work(tx: WriteTx) -> str:
        id_ = outbox.queue(tx, NewMail("webhook_failing", org_id, recipient, letter))
        tx.run(_REFUSED, id=id_, why=why)
        return id_

    return await site.store.write(work)


_REFUSED = """
UPDATE mails SET status = 'bounced', due_at = NULL, completed_at = :now, last_error = :why, attempts = 1 WHERE id = :id
"""


async def test_mail_is_told_by_organization_and_sent_again(site: Site) -> None:
    refused = await give_up(site, site.org_id, "ann@example.com", "550 No such user <b>here</b>")
    kept = await give_up(site, None, "old@example.com", "554 No")
    await site.store.write(lambda tx: outbox.forget_letter(tx, kept))
    letter = Letter(subject="x", paragraphs=("x",), reason="x")
    await site.store.write(lambda tx: outbox.queue(tx, NewMail("invitation", site.org_id, "b@example.com", letter)))
    site.clock.advance(5 * MINUTE)
    _, browser = await administrator(site)
    page = await browser.open("/admin/jobs")
    assert rows_of(page, "Mail by organization") == [
        ["People's own accounts", "0", "", "1"],
        ["Oak & Son", "1", "5 minutes ago", "1"],
    ]
    ((to, about, organization, why, _), _) = sorted(rows_of(page, "Mails that were given up"))
    assert (to, about, organization) == ("ann@example.com", "webhook failing", "Oak & Son")
    assert why == "550 No such user <b>here</b>"
    answer = await browser.submit(page, "/admin/jobs/mails/resend", id=refused)
    assert "The mail waits to be sent again." in (await browser.follow(answer)).page.text
    answer = await browser.submit(page, "/admin/jobs/mails/resend", id=refused)
    assert "It cannot be sent again" in (await browser.follow(answer)).page.text
    found = await site.store.read(lambda tx: outbox.find(tx, refused))
    assert found is not None
    assert found.status == "queued"
    page = await browser.open("/admin/jobs")
    assert [row[0] for row in rows_of(page, "Mails that were given up")] == ["old@example.com"]
    assert "Send again to" not in page.text


async def test_nobody_but_who_runs_the_server_sends_mail_again(site: Site) -> None:
    refused = await give_up(site, site.org_id, "ann@example.com", "550")
    browser = await site.signed_in()
    token = (await browser.open("/account")).token
    answer = await browser.post("/admin/jobs/mails/resend", [("csrf", token), ("id", refused)], Origin=ISSUER)
    assert answer.status in (403, 404)
    found = await site.store.read(lambda tx: outbox.find(tx, refused))
    assert found is not None
    assert found.status == "bounced"
