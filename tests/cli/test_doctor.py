"""`gatewayd doctor`."""

import grp
import json
import os
import stat
import time
from pathlib import Path

import apsw
import httpx
import pytest
import trustme

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.doctor.command import doctor
from gatewayd.cli.instance.clock import accept as accept_clock
from gatewayd.cli.parser import build_parser
from gatewayd.clock import DAY, SettableClock, SystemClock
from tests.cli.conftest import Run
from tests.daemon.instance import SECONDS, Instance, serving
from tests.store.test_upgrade import older


def findings(run: Run) -> dict[str, tuple[bool, str]]:
    return {each["about"]: (each["well"], each["sentence"]) for each in json.loads(run("doctor", "--json").out)}


def test_a_healthy_instance(tmp_path: Path) -> None:
    with serving(Instance(tmp_path)) as running:
        instance = Instance(tmp_path, extra_server=f'public_url = "{running.url}"')
        ran = instance.run("doctor")
        assert (ran.returncode, ran.stderr) == (0, "")
        assert running.end() == 0
    assert {line.split(":")[0].split()[0] for line in ran.stdout.splitlines()} == {"ok"}
    assert "leads to this service" in ran.stdout
    ran = instance.run("doctor")
    assert (ran.returncode, ran.stderr) == (1, "gatewayd: 1 thing is wrong\n")
    assert "Nothing answers at" in ran.stdout


def test_to_root_what_is_private_to_the_services_user_is_well(
    run: Run, config_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root looks at what is another's; what others than that user may read is told once."""
    run("org", "create", "--name", "Oak")
    data = config_file.parent / "data"
    real, service = os.stat, 4_294_000

    def owned(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        found = list(real(self, follow_symlinks=follow_symlinks))
        found[stat.ST_UID] = service
        return os.stat_result(found)

    monkeypatch.setattr(Path, "stat", owned)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    about = findings(run)
    assert about["data directory"] == (True, f"{data} is private to user {service}.")
    assert about["instance key"] == (True, f"{data / 'instance.key'} is private to user {service}.")
    (data / "instance.key").chmod(0o644)
    assert findings(run)["instance key"] == (
        False,
        f"{data / 'instance.key'} is open to other users (mode 644).",
    )


def test_a_daemon_that_is_not_ready(tmp_path: Path) -> None:
    with serving(Instance(tmp_path)) as running:
        running.claimed.add("clock_behind")
        instance = Instance(tmp_path, extra_server=f'public_url = "{running.url}"')
        database = apsw.Connection(str(tmp_path / "data" / "gatewayd.db"))
        database.set_busy_timeout(5_000)
        database.execute("UPDATE update_clock SET latest = :latest", {"latest": SystemClock().now() + 5 * DAY})
        database.close()
        deadline = time.monotonic() + SECONDS
        while httpx.get(f"{running.url}/readyz").status_code == 200:
            assert time.monotonic() < deadline
        ran = instance.run("doctor")
        assert "WRONG  readiness: The daemon is not ready: clock is 4" in ran.stdout
        assert instance.run("accept-clock").returncode == 0
        while httpx.get(f"{running.url}/readyz").status_code != 200:
            assert time.monotonic() < deadline
        ran = instance.run("doctor")
        assert (ran.returncode, ran.stderr) == (0, "")
        assert "readiness" not in ran.stdout


def test_it_makes_nothing(run: Run, config_file: Path) -> None:
    found = findings(run)
    assert found["database"] == (
        True,
        f"{config_file.parent}/data/gatewayd.db is not there yet; the first start makes it.",
    )
    assert not (config_file.parent / "data").exists()


def test_open_permissions_and_a_missing_key(run: Run, org_id: str, config_file: Path) -> None:
    data = config_file.parent / "data"
    data.chmod(0o755)
    (data / "instance.key").chmod(0o644)
    found = findings(run)
    assert found["data directory"] == (False, f"{data} is open to other users (mode 755).")
    assert not found["instance key"][0]
    (data / "instance.key").unlink()
    assert "is missing" in findings(run)["instance key"][1]
    assert not (data / "instance.key").exists()


@pytest.mark.parametrize("empty", [True, False])
def test_a_lost_database(run: Run, org_id: str, config_file: Path, empty: bool) -> None:
    data = config_file.parent / "data"
    os.truncate(data / "gatewayd.db", 0) if empty else (data / "gatewayd.db").unlink()
    well, sentence = findings(run)["database"]
    assert (well, "is lost or empty" in sentence, "gatewayd restore" in sentence) == (False, True, True)


def test_a_database_that_waits_for_migrations(run: Run, org_id: str, config_file: Path) -> None:
    """And then the copy that was made before them, with its size."""
    path = config_file.parent / "data" / "gatewayd.db"
    older(path.parent / "older").replace(path)
    well, sentence = findings(run)["database"]
    assert (well, "it waits for migrations" in sentence) == (False, True)
    assert "upgrade" not in findings(run)
    assert run("migrate").code == 0
    assert findings(run)["database"][0]
    size = round((copy := next(path.parent.glob("*.before-*"))).stat().st_size / 1e6, 1)
    assert findings(run)["upgrade"] == (
        True,
        f"{copy} is the database as it was before the last upgrade, {size} MB: delete it when you like.",
    )


def test_a_damaged_database(run: Run, org_id: str, config_file: Path) -> None:
    path = config_file.parent / "data" / "gatewayd.db"
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 65_536)
    assert findings(run)["database"][0] is False
    assert run("doctor").code == 1


def test_tls_files(run: Run, config_file: Path) -> None:
    first, second = trustme.CA().issue_cert("a.example"), trustme.CA().issue_cert("b.example")
    folder = config_file.parent
    first.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    first.private_key_pem.write_to_path(folder / "key.pem")
    (folder / "key.pem").chmod(0o600)
    second.private_key_pem.write_to_path(folder / "other.pem")
    text = '[server]\ntls_certificate = "cert.pem"\ntls_key = "{}"\n[store]\ndirectory = "data"\n'
    config_file.write_text(text.format("key.pem"))
    assert findings(run)["TLS"][0]
    config_file.write_text(text.format("other.pem"))
    assert not findings(run)["TLS"][0]


def test_a_proxy_that_is_not_trusted(run: Run, config_file: Path) -> None:
    """It ends TLS where the public address is https and there is no certificate here."""
    text = '[server]\npublic_url = "https://books.invalid"\n{}[store]\ndirectory = "data"\n'
    config_file.write_text(text.format(""))
    well, sentence = findings(run)["proxy"]
    assert (well, "server.trusted_proxies" in sentence) == (False, True)
    config_file.write_text(text.format('trusted_proxies = ["127.0.0.1/32"]\n'))
    assert findings(run)["proxy"][0]
    config_file.write_text('[store]\ndirectory = "data"\n')
    assert "proxy" not in findings(run)


def test_who_may_use_a_unix_socket(tmp_path: Path) -> None:
    path, group = tmp_path / "door.sock", grp.getgrgid(os.getegid()).gr_name
    for mode, sentence in (
        ("0o660", f"660: a reverse proxy's user must be in group {group}."),
        ("0o666", "666: everybody"),
    ):
        instance = Instance(tmp_path, bind=f'["unix:{path}"]', extra_server=f"socket_mode = {mode}")
        with serving(instance):
            assert f"ok     unix socket: {path} has mode {sentence}" in instance.run("doctor").stdout
    assert "unix socket" not in instance.run("doctor").stdout


def test_a_clock_that_went_back(run: Run, org_id: str, config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = build_parser().parse_args(["doctor"])
    past = SettableClock(SystemClock().now())
    assert run("lead", "create", "--org", org_id, "--source", "web").code == 0
    past.advance(-DAY)
    with pytest.raises(CommandError):
        doctor(arguments, Context(str(config_file), {}, past))
    assert "WRONG  clock: It says 2" in (told := capsys.readouterr().out)
    assert " and is 86" in told
    assert "behind the latest change, of " in told
    past.advance(-4_000 * DAY)
    with pytest.raises(CommandError):
        doctor(arguments, Context(str(config_file), {}, past))
    assert "WRONG  clock: It was never set: it says 20" in capsys.readouterr().out
    with pytest.raises(CommandError, match="the clock was never set"):
        accept_clock(arguments, Context(str(config_file), {}, past))


def test_an_instance_key_that_is_a_credential(
    run: Run, org_id: str, config_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """systemd.exec(5): read-only, of root or of the service's user; the mask of its access list shows as group bits."""
    passed = config_file.parent / "credentials"
    passed.mkdir()
    key = (config_file.parent / "data" / "instance.key").rename(passed / "instance.key")
    config_file.write_text('[store]\ndirectory = "data"\nkey_file = "credential:instance.key"\n')
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(passed))
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    key.chmod(0o440)
    assert findings(run)["instance key"] == (True, f"{key} is a credential, and not everybody may read it.")
    key.chmod(0o444)
    assert findings(run)["instance key"] == (False, f"{key} can be read by everybody.")


def test_a_database_that_is_out_of_reach(run: Run, config_file: Path) -> None:
    config_file.write_text('[store]\ndirectory = "gatewayd.toml/data"\n')
    told = f"{config_file}/data/gatewayd.db is out of reach: Not a directory"
    assert findings(run)["database"] == (False, f"{told}.")
    for command in (["org", "list"], ["org", "create", "--name", "Oak"], ["backup", str(config_file.parent / "copy")]):
        ran = run(*command)
        assert (ran.code, ran.out, ran.err) == (1, "", f"gatewayd: {told}\n")


def test_a_credential_that_a_shell_does_not_find_is_not_looked_at(run: Run, config_file: Path) -> None:
    config_file.write_text(
        '[server]\ntls_certificate = "credential:tls.crt"\ntls_key = "credential:tls.key"\n'
        '[store]\ndirectory = "data"\n[tax]\nmode = "forward"\nupstream = "https://127.0.0.1:1"\n'
        'ca_file = "credential:ca"\n'
    )
    found = findings(run)
    for about, key in (("credential", "server.tls_certificate"), ("tax upstream", "tax.ca_file")):
        well, sentence = found[about]
        assert (well, sentence.startswith(f"Not looked at. {key}: the credential ")) == (True, True)
    assert "TLS" not in found
