"""The systemd units agree with the defaults they lean on."""

import configparser
from pathlib import Path

from gatewayd.config import Config

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
