"""The systemd units agree with the defaults they lean on."""

import configparser
from pathlib import Path

from gatewayd.config import Config, system_file
from gatewayd.config.places import UNIT, system_data

FOLDER = Path(__file__).parents[2] / "systemd"


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    parser.read(FOLDER / name)
    return parser


def test_the_manager_waits_longer_than_the_daemon_drains() -> None:
    service = unit("gatewayd.service")["Service"]
    assert float(service["TimeoutStopSec"]) > Config().server.drain_seconds
    assert service["Type"] == "notify"
    assert service["RestartPreventExitStatus"] == "2"


def test_descriptors_suffice_for_connections_and_deliveries() -> None:
    config = Config()
    wanted = config.server.max_connections + config.webhooks.concurrency
    assert int(unit("gatewayd.service")["Service"]["LimitNOFILE"]) > 2 * wanted


def test_the_socket_listens_where_the_default_binds() -> None:
    assert unit("gatewayd.socket")["Socket"]["ListenStream"] == Config().server.bind[0]


def test_the_daemon_reads_the_settings_and_the_data_that_a_shell_finds() -> None:
    service = unit("gatewayd.service")["Service"]
    assert service["ExecStart"] == f"/opt/gatewayd/bin/gatewayd serve --config {system_file()}"
    assert Path("/var/lib") / service["StateDirectory"] == system_data()
    assert Path("/etc") / service["ConfigurationDirectory"] == system_file().parent
    assert UNIT in {path.name for path in FOLDER.iterdir()}


def test_the_user_of_the_service_is_made_with_its_data_as_home() -> None:
    service = unit("gatewayd.service")["Service"]
    line = (FOLDER / "gatewayd.sysusers").read_text().splitlines()[-1]
    kind, name, _, rest = line.split(maxsplit=3)
    assert (kind, name, name) == ("u", service["User"], service["Group"])
    assert rest.endswith(f" {system_data()}")


def test_the_manager_knows_how_to_reload() -> None:
    assert unit("gatewayd.service")["Service"]["ExecReload"] == "/bin/kill -HUP $MAINPID"


def test_readers_of_documents_may_shut_themselves_in() -> None:
    """The calls that they make for it are of no group that an ordinary service has, or of one that could be refused."""
    lines = (FOLDER / "gatewayd.service").read_text().splitlines()
    filters = [line.partition("=")[2].split() for line in lines if line.startswith("SystemCallFilter=")]
    allowed = {name for names in filters if not names[0].startswith("~") for name in names}
    refused = {name.removeprefix("~") for names in filters if names[0].startswith("~") for name in names}
    assert {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp"} <= allowed
    assert not refused & {"@resources", "@process", "@sandbox", "memfd_create", "prctl", "sched_setscheduler"}
    assert unit("gatewayd.service")["Service"]["RestrictAddressFamilies"].split()[-1] == "AF_UNIX"
