"""The servers that are compared, and their requests."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.load import request_bytes
from tests.bench.processes import ServerProcess, pick_cores, running
from tests.bench.seeding import INVOICE, Seeded

ROOT = Path(__file__).parents[2]
PEERS = Path(__file__).parent / "peers"
PEERS_ENVIRONMENT = ROOT / "build" / "bench-peers"
_FLOOR_COMMAND = (sys.executable, "-m", "tests.bench.floor")
_CONFIGURATION = """
[server]
bind = ["127.0.0.1:0"]
[store]
directory = "{directory}"
[limits]
requests_per_minute = 0
"""


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a run keeps its things, and the cores of its servers and its client. `scratch` is removed in the end."""

    scratch: Path
    core: int
    client_core: int = field(default_factory=lambda: pick_cores().client)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerData:
    """The peer's database and what requests to it need."""

    database: Path
    key: str
    client_id: str
    entity_id: str


def get(path: str, key: str) -> bytes:
    """An authenticated GET."""
    return request_bytes("GET", path, {"Authorization": f"Bearer {key}"})


def post_invoice(path: str, data: Seeded | PeerData) -> bytes:
    """An authenticated POST of an invoice with two lines."""
    body = json.dumps({**INVOICE, "clientId": data.client_id, "legalEntityId": data.entity_id}).encode()
    return request_bytes(
        "POST", path, {"Authorization": f"Bearer {data.key}", "Content-Type": "application/json"}, body
    )


def configure(seeded: Seeded) -> list[str]:
    """The command that serves seeded data."""
    return command(seeded.directory)


def command(directory: Path, more: str = "") -> list[str]:
    """Write a configuration beside a data directory, with `more` settings; answers the command that serves it."""
    path = directory.with_suffix(".toml")
    path.write_text(_CONFIGURATION.format(directory=directory) + more)
    return command_of(path)


def command_of(config: Path) -> list[str]:
    """The command that serves by a configuration."""
    return [sys.executable, "-m", "gatewayd", "serve", "--config", str(config)]


@contextmanager
def daemon(bench: Bench, seeded: Seeded) -> Iterator[ServerProcess]:
    """`gatewayd serve` over seeded data, as anybody would run it, without the rate limit."""
    with serving(bench, seeded.directory) as server:
        yield server


@contextmanager
def serving(bench: Bench, directory: Path) -> Iterator[ServerProcess]:
    """The same over any data directory."""
    log = directory.with_suffix(".log")
    with running(f"gatewayd {directory.name}", command(directory), log, bench.core) as server:
        yield server


@contextmanager
def floor(bench: Bench) -> Iterator[ServerProcess]:
    """The driver with an empty application."""
    with running("empty driver", _FLOOR_COMMAND, bench.scratch / "floor.log", bench.core) as server:
        yield server


@contextmanager
def peer(bench: Bench, name: str, *arguments: str | Path) -> Iterator[ServerProcess]:
    """FastAPI on uvicorn."""
    command = [PEERS_ENVIRONMENT / "bin" / "python", PEERS / "serve.py", *arguments]
    with running(name, command, bench.scratch / f"{name.replace(' ', '-')}.log", bench.core) as server:
        yield server


def prepare_peers() -> None:
    """Make the peers' environment. Raises CalledProcessError."""
    install_peers(PEERS_ENVIRONMENT, PEERS / "requirements.txt")


def install_peers(environment: Path, requirements: Path) -> None:
    """Make an environment unless it is there and of the same requirements. Raises CalledProcessError."""
    stamp = environment / "installed.txt"
    if stamp.is_file() and stamp.read_bytes() == requirements.read_bytes():
        return
    wanted = requirements.with_suffix(".in").read_text().split()
    print(f"making {environment.relative_to(ROOT)} with {', '.join(wanted)}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
    pip = [environment / "bin" / "python", "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "--requirement", requirements], check=True)
    stamp.write_bytes(requirements.read_bytes())


def seed_peer(database: Path, invoices: int) -> PeerData:
    """Fill a new database of the peer's. Raises CalledProcessError."""
    command = [PEERS_ENVIRONMENT / "bin" / "python", PEERS / "seed.py", database, str(invoices)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return PeerData(database=database, key=told[0], client_id=told[1], entity_id=told[2])


def versions_of_peers() -> Mapping[str, str]:
    """What the peers' environment holds."""
    pip = [PEERS_ENVIRONMENT / "bin" / "python", "-m", "pip", "list", "--format=json", "--disable-pip-version-check"]
    listed = json.loads(subprocess.run(pip, check=True, capture_output=True, text=True).stdout)
    return {entry["name"]: entry["version"] for entry in listed}
