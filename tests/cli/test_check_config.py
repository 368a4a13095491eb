"""`gatewayd check-config` looks at what the settings name: a certificate, a folder, and who can listen in."""

import datetime
from pathlib import Path

import pytest
import trustme

from tests.cli.conftest import Run

STORE = '[store]\ndirectory = "data"\n'


def certificate(folder: Path, name: str, days: int = 30) -> None:
    made = trustme.CA().issue_cert(
        "a.example", not_after=datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
    )
    made.cert_chain_pems[0].write_to_path(folder / f"{name}.pem")
    made.private_key_pem.write_to_path(folder / f"{name}.key")


@pytest.mark.parametrize(
    ("pem", "key", "told"),
    [
        ("words.pem", "good.key", "cannot be used together"),
        ("good.pem", "words.pem", "cannot be used together"),
        ("good.pem", "other.key", "cannot be used together"),
        ("good.pem", "nothing", "cannot be read"),
        ("old.pem", "old.key", "expired on "),
    ],
)
def test_a_certificate_that_does_not_serve(run: Run, config_file: Path, pem: str, key: str, told: str) -> None:
    folder = config_file.parent
    (folder / "words.pem").write_text("no certificate\n")
    for name, days in (("good", 30), ("other", 30), ("old", -1)):
        certificate(folder, name, days)
    config_file.write_text(f'[server]\ntls_certificate = "{pem}"\ntls_key = "{key}"\n{STORE}')
    ran = run("check-config")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("gatewayd: server.tls_certificate: ")
    assert told in ran.err
    config_file.write_text(f'[server]\ntls_certificate = "good.pem"\ntls_key = "good.key"\n{STORE}')
    assert run("check-config").code == 0


@pytest.mark.parametrize(
    ("folder", "told"), [("scans", "is not there"), ("file", "is no directory"), ("data", "may not lie in each other")]
)
def test_a_folder_that_is_not_watched(run: Run, config_file: Path, folder: str, told: str) -> None:
    (config_file.parent / "file").touch()
    config_file.write_text(f'{STORE}[vault]\nconsume_directory = "{folder}"\n')
    ran = run("check-config")
    assert (ran.code, ran.err.startswith("gatewayd: vault.consume_directory: "), told in ran.err) == (2, True, True)
    (config_file.parent / "scans").mkdir()
    config_file.write_text(f'{STORE}[vault]\nconsume_directory = "scans"\n')
    assert run("check-config").code == 0


def test_the_folder_of_shared_documents_is_not_watched(run: Run, config_file: Path) -> None:
    (config_file.parent / "share" / "scans").mkdir(parents=True)
    config_file.write_text(f'{STORE}files = "share"\n[vault]\nconsume_directory = "share/scans"\n')
    ran = run("check-config")
    assert (ran.code, "may not lie in each other" in ran.err) == (2, True)
    config_file.write_text(f'{STORE}files = "share"\n')
    assert run("check-config").code == 0


@pytest.mark.parametrize("bind", ["0.0.0.0:8080", "[::]:8080", "192.0.2.1:8080", "books.example.com:8080"])
def test_plain_http_to_other_machines_is_remarked(run: Run, config_file: Path, bind: str) -> None:
    config_file.write_text(f'[server]\nbind = ["127.0.0.1:80", "{bind}"]\n{STORE}')
    ran = run("check-config")
    assert (ran.code, f"server.bind: {bind} is plain HTTP to other machines" in ran.out) == (0, True)
    found = {one["about"]: one["well"] for one in run_doctor(run)}
    assert found["plain HTTP"] is False


def run_doctor(run: Run) -> list[dict[str, object]]:
    ran = run("doctor", "--json")
    return list(ran._replace(code=0).document)


def test_plain_http_that_stays_on_this_machine_is_not(run: Run, config_file: Path) -> None:
    config_file.write_text(f'[server]\nbind = ["127.0.0.1:80", "[::1]:80", "unix:/run/x.sock"]\n{STORE}')
    assert "plain HTTP" not in run("check-config").out
    certificate(config_file.parent, "good")
    config_file.write_text(
        f'[server]\nbind = ["0.0.0.0:443"]\ntls_certificate = "good.pem"\ntls_key = "good.key"\n{STORE}'
    )
    assert "plain HTTP" not in run("check-config").out
