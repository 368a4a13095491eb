"""A backup that is restored revives what was ended since: nobody is let in before the operator has decided.

Where the rows are a PostgreSQL's, which its own tools bring back, test_hosts_of_one_database.py has the same.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio

from gatewayd.cli import main
from gatewayd.daemon.stores import open_decided_store
from gatewayd.identity import audit
from gatewayd.identity.keys import api_keys
from gatewayd.identity.sign_in import sessions
from gatewayd.ledger.named_files import NAMING
from gatewayd.store.backups.backup import Looking, back_up
from gatewayd.store.files.restored import MARK_NAME, find_restored
from tests.daemon.instance import Firm, Instance, serving

pytestmark = pytest.mark.sqlite_only("a backup has its rows")

INVOICE = {"status": "issued", "lines": [{"description": "Door", "unitPrice": "10.00"}]}
VISITOR = sessions.Visitor(user_agent="Firefox", address="192.0.2.1")


class Lines:
    """A log that keeps what is said."""

    def __init__(self) -> None:
        self.said: list[tuple[str, dict[str, object]]] = []

    def note(self, event: str, **values: object) -> None:
        self.said.append((event, values))

    debug = info = warning = error = note


@dataclass
class Restored:
    """An instance whose key was revoked after the backup that it is to be restored from."""

    instance: Instance
    firm: Firm
    backup: Path
    output: pytest.CaptureFixture[str]

    @property
    def data(self) -> Path:
        return self.instance.directory / "data"

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Run a command in this process; answers its code and what it prints."""
        self.output.readouterr()
        code = main([*arguments, "--config", str(self.instance.config)])
        printed = self.output.readouterr()
        return code, printed.out, printed.err

    def restore(self, *flags: str) -> str:
        """Lose the data and restore the backup; answers what is said beside the result."""
        self.data.rename(self.instance.directory / "lost")
        code, _, said = self.run("restore", str(self.backup), *flags)
        assert code == 0, said
        return said

    def start(self) -> list[tuple[str, dict[str, object]]]:
        """Open the store as a daemon does when it starts; answers what is logged."""
        log, context = Lines(), self.instance.context

        async def open_and_close() -> None:
            async with open_decided_store(context.config, context.clock, log):
                pass

        trio.run(open_and_close)
        return log.said

    def key_works(self) -> bool:
        """Whether the key that was revoked after the backup is good."""
        (key,) = self.instance.read(api_keys.list_keys, self.firm.org_id)
        return key.revoked_at is None


def issue(instance: Instance, firm: Firm) -> str:
    return str(instance.do(firm.org_id, "accounting.createInvoice", clientId=firm.client_id, **INVOICE)["number"])


@pytest.fixture
def lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Restored:
    instance = Instance(tmp_path)
    firm = instance.firm()
    instance.write(lambda tx: sessions.start(tx, firm.user_id, ("pwd",), VISITOR))
    assert issue(instance, firm) == "INV-000001"
    context = instance.context
    back_up(
        context.store_settings.directory, tmp_path / "backup", context.clock.now(), Looking(NAMING), context.key_file
    )
    assert issue(instance, firm) == "INV-000002"
    instance.write(lambda tx: api_keys.revoke(tx, firm.key_id, audit.OPERATOR), firm.org_id)
    return Restored(instance, firm, tmp_path / "backup", capsys)


def living_sessions(instance: Instance) -> int:
    return int(instance.read(lambda tx: tx.value("SELECT count(*) FROM sessions WHERE ended_at IS NULL")))


def test_nobody_is_served_before_it_is_decided(lost: Restored) -> None:
    said = lost.restore()
    assert "sessions, keys, grants, links, feeds and subscriptions that were ended since 20" in said
    assert "gatewayd after-restore" in said
    made_at = json.loads((lost.backup / "manifest.json").read_text())["madeAt"]
    code, _, said = lost.run("serve")
    assert (code, len(said.splitlines())) == (1, 1)
    assert f"data was restored from a backup of {made_at}: sessions, keys, grants, links" in said
    assert "and nobody has decided what holds: gatewayd after-restore" in lost.run("doctor")[1]
    assert lost.run("org", "list")[0] == 0  # the operator goes in and out


def test_everything_can_be_ended_and_numbers_go_on(lost: Restored) -> None:
    lost.restore()
    code, _, said = lost.run("after-restore", "--end-everything", "--numbers-after", "2")
    assert (code, "passwords and passkeys are those of the backup" in said) == (0, True)
    with serving(lost.instance) as running:
        assert running.call(lost.firm.key, "GET", "/api/rpc/invoices").status_code == 401
        (line,) = [line for line in running.lines() if line["event"] == "restore_decided"]
        assert running.end() == 0
    assert (line["access"], line["numbers_after"]) == ("end", 2)
    assert (line["session_count"], line["key_count"], line["grant_count"]) == (1, 1, 0)
    assert living_sessions(lost.instance) == 0
    assert issue(lost.instance, lost.firm) == "INV-000003"
    actions = [entry.action for entry in lost.instance.read(audit.list_entries, lost.firm.org_id)]
    assert actions.count("key.revoked") == 1
    later = lost.instance.key(lost.firm.org_id, lost.firm.user_id)
    assert lost.start() == []  # the next start ends nothing any more
    assert next(key for key in lost.instance.read(api_keys.list_all) if key.id == later.id).revoked_at is None
    assert lost.run("after-restore", "--keep-access")[0] == 1


def test_what_held_can_hold_again(lost: Restored) -> None:
    """And it can be said with the restore itself, so that nobody has to be there."""
    assert lost.restore("--keep-access") == ""
    assert lost.start() == [("restore_decided", {"access": "keep", "numbers_after": None})]
    assert lost.key_works()
    assert living_sessions(lost.instance) == 1
    assert issue(lost.instance, lost.firm) == "INV-000002"


def test_sellers_that_had_no_invoice_in_the_backup_go_on_after_it_too(lost: Restored) -> None:
    """Of what they issued since it nothing is known."""
    lost.restore("--keep-access", "--numbers-after", "40")
    second = lost.instance.do(lost.firm.org_id, "legalEntity.createLegalEntity", name="Elm", type="sole_trader")
    lost.start()
    rows = lost.instance.read(lambda tx: tx.rows("SELECT seller_key, kind, last_number FROM invoice_sequences"))
    sellers = (lost.firm.org_id, second["id"])  # the first entity goes on in the sequence of the organization
    assert {(seller, kind) for seller, kind, _ in rows} == {
        (seller, kind) for seller in sellers for kind in ("invoice", "credit_note", "quote")
    }
    assert [number for *_, number in rows] == [40] * 6


def test_numbers_never_go_back(lost: Restored) -> None:
    lost.restore("--keep-access", "--numbers-after", "1")
    lost.start()
    assert issue(lost.instance, lost.firm) == "INV-000002"


def test_a_decision_that_was_cut_short_is_carried_out_at_the_next_start(lost: Restored) -> None:
    """All is ended, the mark does not say so yet: the same is done again, and nothing is left to do."""
    lost.restore("--end-everything", "--numbers-after", "2")
    before = (lost.data / MARK_NAME).read_bytes()
    lost.start()
    assert not lost.key_works()
    (lost.data / MARK_NAME).write_bytes(before)
    ((_, told),) = lost.start()
    assert (told["session_count"], told["key_count"]) == (0, 0)
    assert issue(lost.instance, lost.firm) == "INV-000003"


def test_a_mark_that_cannot_be_read_is_no_permission(lost: Restored) -> None:
    lost.restore("--keep-access")
    (lost.data / MARK_NAME).write_text("{}")
    code, _, said = lost.run("serve")
    assert (code, f"{MARK_NAME} cannot be read" in said) == (1, True)


def test_half_a_decision_and_one_about_nothing_are_refused(lost: Restored) -> None:
    assert "was not restored" in lost.run("after-restore", "--keep-access")[2]
    assert lost.run("after-restore")[0] == lost.run("after-restore", "--keep-access", "--numbers-after", "0")[0] == 2
    assert lost.run("after-restore", "--keep-access", "--end-everything")[0] == 2
    code, _, said = lost.run("restore", str(lost.backup), "--numbers-after", "3")
    assert (code, "goes with --end-everything or --keep-access" in said) == (2, True)
    assert find_restored(lost.data) is None


def test_a_backup_of_a_restored_store_carries_no_mark(lost: Restored, tmp_path: Path) -> None:
    lost.restore("--keep-access")
    assert lost.run("backup", str(tmp_path / "second"))[0] == 0
    assert not (tmp_path / "second" / MARK_NAME).exists()
