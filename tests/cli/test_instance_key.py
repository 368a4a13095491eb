"""`gatewayd instance-key`, and what the other commands say of a key that is missing or another."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from gatewayd.identity import audit
from gatewayd.identity.sign_in import second_factors
from gatewayd.store import ReadTx
from gatewayd.store.sealer import KEY_BYTES, Sealer
from gatewayd.store.sealing.instance_key import closed_values
from gatewayd.store.sealing.sealed_columns import SEALED_COLUMNS
from gatewayd.store.sqlite.sealed_rows import SqliteRows
from gatewayd.webhooks.subscribers.subscriptions import SUBSCRIPTIONS
from tests.cli.conftest import Run
from tests.daemon.instance import Instance, serving
from tests.support.sealing import Sealed, seal_everything
from tests.support.store import SEALING_KEY

T = TypeVar("T")


@pytest.fixture
def sealed(database_image: bytes, config_file: Path) -> Sealed:
    """Everything that can be sealed, in the store of the configuration."""
    made = seal_everything(database_image)
    data = config_file.parent / "data"
    data.mkdir(mode=0o700)
    made.write_to(data)
    return made


@pytest.fixture
def key(sealed: Sealed, config_file: Path) -> Path:
    return config_file.parent / "data" / "instance.key"


def read(config_file: Path, work: Callable[[ReadTx], T], org_id: str | None = None) -> T:
    return Context(str(config_file), {}, SystemClock()).read(work, org_id)


def of_doctor(run: Run) -> str:
    return "\n".join(line for line in run("doctor").out.splitlines() if "instance key" in line or "sealed" in line)


def test_no_key_is_made_beside_what_is_sealed(run: Run, key: Path) -> None:
    key.unlink()
    for command in (("migrate",), ("serve",), ("instance-key", "rotate")):
        ran = run(*command)
        assert ran.code == 1
        assert "is missing, and" in ran.err
        assert "gatewayd instance-key abandon" in ran.err
    assert not key.exists()
    assert "WRONG  instance key" in of_doctor(run)


def test_a_key_that_is_another_is_told_at_the_start(run: Run, key: Path) -> None:
    key.write_bytes(bytes(KEY_BYTES))
    ran = run("serve")
    assert ran.code == 1
    assert f"the instance key {key} is not the one that sealed the secrets in" in ran.err
    count = len(SEALED_COLUMNS)
    assert f"WRONG  sealed secrets: {count} of {count} do not open with {key}: gatewayd instance-key" in of_doctor(run)
    key.write_bytes(SEALING_KEY)
    assert f"ok     sealed secrets: Each of {count} opens with {key}." in of_doctor(run)


def test_a_rotation_is_told_and_nothing_is_lost(run: Run, key: Path, config_file: Path) -> None:
    done = run("instance-key", "rotate", "--json")
    assert done.document["resealed"] == len(SEALED_COLUMNS)
    assert Path(done.document["previous"]).read_bytes() == SEALING_KEY
    assert "keep a copy of the new key elsewhere" in done.err
    assert closed_values(SqliteRows(config_file.parent / "data" / "gatewayd.db"), Sealer(key.read_bytes()))[0] == []
    assert run("instance-key", "abandon").document == {"file": str(key), "givenUp": []}


@pytest.mark.parametrize("lost", ["missing", "another"])
def test_what_is_lost_is_named_one_by_one_and_given_up_when_told_to(
    run: Run, sealed: Sealed, key: Path, config_file: Path, lost: str
) -> None:
    if lost == "missing":
        key.unlink()
    else:
        key.write_bytes(bytes(KEY_BYTES))
    asked = run("instance-key", "abandon")
    assert asked.code == 1
    email = f"{sealed.flow.user_id}@example.com"
    *told, last = [line.removeprefix("gatewayd: ").partition(":")[0] for line in asked.err.splitlines()]
    assert told == [
        f"National Insurance number of {sealed.entity_id} ({sealed.org_id})",
        f"Unique Taxpayer Reference of {sealed.entity_id} ({sealed.org_id})",
        f"tax connection of {sealed.org_id}",
        f"tax connection of {sealed.entity_id} ({sealed.org_id})",
        f"second factor of {email}",
        f"webhook secret of {sealed.subscription_id} ({sealed.org_id})",
        f"previous webhook secret of {sealed.subscription_id}",
        f"signing key {sealed.store.read(lambda tx: tx.value('SELECT kid FROM signing_keys'))}",
        f"key of sealed periods {sealed.seal_key.fingerprint}",
        "1 answers kept for apps that lost theirs",
        "1 links of invoices and quotes",
        "1 mails that wait",
        "1 answers kept under an Idempotency-Key",
    ]
    assert last == "nothing was changed"
    assert key.exists() is (lost == "another")
    done = run("instance-key", "abandon", "--yes")
    assert len(done.document["givenUp"]) == len(told)
    assert key.stat().st_size == KEY_BYTES
    assert (key.read_bytes() == bytes(KEY_BYTES)) is (lost == "another")
    assert run("verify").code == 0  # every stored wire form is what its columns say
    subscription = read(config_file, lambda tx: SUBSCRIPTIONS.get(tx, sealed.subscription_id), sealed.org_id)
    assert (subscription.enabled, subscription.disabled_reason) == (False, "caller")
    assert subscription.previous_secret_expires_at is None
    assert not read(config_file, lambda tx: second_factors.is_on(tx, sealed.flow.user_id))
    assert read(config_file, lambda tx: tx.value("SELECT count(*) FROM tax_connections")) == 0
    assert read(config_file, lambda tx: tx.value("SELECT count(*) FROM signing_keys")) == 0
    assert read(config_file, lambda tx: tx.value("SELECT nino_hint FROM legal_entities")) is None
    unknown = "SELECT count(*) FROM idempotency_keys WHERE response IS NULL AND lease_until IS NOT NULL"
    assert read(config_file, lambda tx: tx.value(unknown)) == 1  # it is not done again under its key
    actions = [entry.action for entry in read(config_file, audit.list_entries, sealed.org_id)]
    assert "tax.disconnected" in actions
    database = config_file.parent / "data" / "gatewayd.db"
    assert closed_values(SqliteRows(database), Sealer(key.read_bytes())) == ([], 1)  # the subscription's new one


def test_what_opens_stays(run: Run, sealed: Sealed, key: Path, config_file: Path) -> None:
    context = Context(str(config_file), {}, SystemClock())
    context.write(lambda tx: tx.run("UPDATE totp_secrets SET secret_sealed = :lost", lost=bytes(60)))
    asked = run("instance-key", "abandon")
    assert [line.split(" of ")[0] for line in asked.err.splitlines()] == [
        "gatewayd: second factor",
        "gatewayd: nothing was changed: --yes gives up what is listed",
    ]
    assert len(run("instance-key", "abandon", "--yes").document["givenUp"]) == 1
    lost, count = closed_values(SqliteRows(config_file.parent / "data" / "gatewayd.db"), Sealer(SEALING_KEY))
    assert (lost, count) == ([], len(SEALED_COLUMNS) - 1)


def test_a_daemon_is_not_robbed_of_its_key(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    instance.firm()
    with serving(instance) as running:
        for command in (("rotate",), ("abandon", "--yes")):
            ran = instance.run("instance-key", *command)
            assert ran.returncode == 1
            assert f"process {running.pid}, works with" in ran.stderr
        assert running.end() == 0
    assert instance.run("instance-key", "rotate").returncode == 0
    with serving(instance) as running:
        assert running.client.get("/readyz").status_code == 200


def test_a_database_is_not_made(run: Run, config_file: Path) -> None:
    for command in ("rotate", "abandon"):
        assert "there is no database in" in run("instance-key", command).err
    assert not (config_file.parent / "data").exists()
