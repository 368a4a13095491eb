"""The servers that are compared, and their requests."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.load import request_bytes
from tests.bench.processes import ServerProcess, running
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
    """Where a run keeps its things, and the core its servers run on. `scratch` is removed in the end."""

    scratch: Path
    core: int


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


def post_invoice(path: str, key: str, client_id: str) -> bytes:
    """An authenticated POST of an invoice with two lines."""
    body = json.dumps({**INVOICE, "clientId": client_id}).encode()
    return request_bytes("POST", path, {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}, body)


def configure(seeded: Seeded) -> list[str]:
    """Write a configuration beside the data; answers the command that serves it."""
    path = seeded.directory.with_suffix(".toml")
    path.write_text(_CONFIGURATION.format(directory=seeded.directory))
    return [sys.executable, "-m", "gatewayd", "serve", "--config", str(path)]


@contextmanager
def daemon(bench: Bench, seeded: Seeded) -> Iterator[ServerProcess]:
    """`gatewayd serve` over seeded data, as anybody would run it, without the rate limit."""
    log = seeded.directory.with_suffix(".log")
    with running(f"gatewayd {seeded.directory.name}", configure(seeded), log, bench.core) as server:
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
    """Make the peers' environment unless it is there and of the same requirements. Raises CalledProcessError."""
    requirements = PEERS / "requirements.txt"
    stamp = PEERS_ENVIRONMENT / "installed.txt"
    if stamp.is_file() and stamp.read_bytes() == requirements.read_bytes():
        return
    print(f"making {PEERS_ENVIRONMENT.relative_to(ROOT)} with FastAPI and SQLAlchemy", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", PEERS_ENVIRONMENT], check=True)
    pip = [PEERS_ENVIRONMENT / "bin" / "python", "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
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
