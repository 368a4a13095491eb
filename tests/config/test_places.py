"""Where settings, data and credentials are found: by the daemon of the service, by a shell beside it, by a user.

`root` stands for the root of the file system; nothing here looks at this machine's own /etc.
"""

from pathlib import Path

import platformdirs
import pytest

from gatewayd.config import ConfigError, find_path, load, missing_credentials, require_credentials, system_file
from gatewayd.config.places import CREDENTIAL_STORES, UNIT


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    """The folder of the service's settings, which are empty."""
    folder = tmp_path / "etc" / "gatewayd"
    folder.mkdir(parents=True)
    (folder / "gatewayd.toml").touch()
    return folder


def test_the_file_is_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert find_path(None, {}, tmp_path) is None
    user = tmp_path / "config" / "gatewayd" / "gatewayd.toml"
    user.parent.mkdir(parents=True)
    user.touch()
    assert find_path(None, {"GATEWAYD_CONFIG": ""}, tmp_path) == user
    system = system_file(tmp_path)
    assert system == tmp_path / "etc" / "gatewayd" / "gatewayd.toml"
    system.parent.mkdir(parents=True)
    system.touch()
    assert find_path(None, {}, tmp_path) == system
    assert find_path(None, {"GATEWAYD_CONFIG": "/named"}, tmp_path) == Path("/named")
    assert find_path("/flag", {"GATEWAYD_CONFIG": "/named"}, tmp_path) == Path("/flag")


def test_a_shell_finds_the_data_of_the_service(etc: Path, tmp_path: Path) -> None:
    data = tmp_path / "var" / "lib" / "gatewayd"
    for environ in ({}, {"STATE_DIRECTORY": str(data)}, {"STATE_DIRECTORY": f"{data}:{tmp_path}"}):
        store = load(etc / "gatewayd.toml", environ, tmp_path).store
        assert (store.directory, store.key_file) == (str(data), str(data / "instance.key"))


def test_the_file_of_the_service_is_known_under_every_name(
    etc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(etc)
    (etc / "second.toml").symlink_to(tmp_path / "elsewhere.toml")
    (tmp_path / "elsewhere.toml").touch()
    monkeypatch.chdir(etc)
    for name in ("gatewayd.toml", "../gatewayd/gatewayd.toml", str(tmp_path / "link" / "gatewayd.toml"), "second.toml"):
        assert load(Path(name), {}, tmp_path).store.directory == str(tmp_path / "var" / "lib" / "gatewayd"), name


def test_other_settings_lead_to_the_users_data(tmp_path: Path) -> None:
    (tmp_path / "gatewayd.toml").touch()
    of_user = str(platformdirs.user_data_path("gatewayd", appauthor=False))
    assert load(tmp_path / "gatewayd.toml", {}, tmp_path).store.directory == of_user
    assert load(None, {}, tmp_path).store.directory == of_user


def test_a_daemon_is_not_sent_where_no_shell_would_look(etc: Path, tmp_path: Path) -> None:
    other = {"STATE_DIRECTORY": str(tmp_path / "var" / "lib" / "other")}
    with pytest.raises(ConfigError) as caught:
        load(etc / "gatewayd.toml", other, tmp_path)
    (problem,) = caught.value.problems
    assert problem.path == "store.directory"
    assert str(tmp_path / "var/lib/other") in problem.message
    assert str(tmp_path / "var/lib/gatewayd") in problem.message
    (etc / "gatewayd.toml").write_text('[store]\ndirectory = "/srv/books"\n')
    assert load(etc / "gatewayd.toml", other, tmp_path).store.directory == "/srv/books"


# -- credentials

TLS = '[server]\ntls_certificate = "cert.pem"\ntls_key = "credential:tls.key"\n[tax]\nca_file = "credential:ca"\n'


def place(root: Path, folder: str, name: str = "tls.key") -> str:
    path = root / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return str(path)


def test_a_credential_that_is_not_there_hinders_only_what_needs_it(tmp_path: Path) -> None:
    config = load(TLS, {}, tmp_path)
    assert config.server.tls_key == "credential:tls.key"
    assert [problem.path for problem in missing_credentials(config)] == ["server.tls_key", "tax.ca_file"]
    require_credentials(config, "store.key_file", "server.tls_certificate")
    with pytest.raises(ConfigError) as caught:
        require_credentials(config, "server.tls_key")
    (problem,) = caught.value.problems
    for word in ('"tls.key"', "gatewayd.service", "$CREDENTIALS_DIRECTORY"):
        assert word in problem.message
    with pytest.raises(ConfigError) as caught:
        require_credentials(config)
    assert len(caught.value.problems) == 2


def test_a_process_that_was_passed_credentials_has_those_and_no_others(tmp_path: Path) -> None:
    place(tmp_path, "etc/credstore")
    config = load(TLS, {"CREDENTIALS_DIRECTORY": "/passed"}, tmp_path)
    assert (config.server.tls_key, config.tax.ca_file) == ("/passed/tls.key", "/passed/ca")
    require_credentials(config)


def test_a_shell_takes_what_the_running_unit_has_then_what_the_manager_would_find(tmp_path: Path) -> None:
    """systemd.exec(5): the running unit's lie below /run/credentials; stores are searched in this order."""
    assert CREDENTIAL_STORES[:2] == ("etc/credstore", "run/credstore")
    for folder in reversed((f"run/credentials/{UNIT}", *CREDENTIAL_STORES)):
        placed = place(tmp_path, folder)
        assert load(TLS, {}, tmp_path).server.tls_key == placed
