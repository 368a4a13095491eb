"""What the delivery of events is compared with: queues and clients of others, in environments of their own."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.servers import PEERS, ROOT, install_peers

FOLDER = PEERS / "deliveries"
PYTHON_ENVIRONMENT = ROOT / "build" / "bench-delivery-peers"
NODE_ENVIRONMENT = ROOT / "build" / "bench-delivery-node"
_PYTHON = PYTHON_ENVIRONMENT / "bin" / "python"
_HTTPX = (_PYTHON, FOLDER / "httpx_clients.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One of them. `share`: of the events that the daemon gets, for one that costs many times as much."""

    name: str
    command: Sequence[str | Path]
    share: float
    queues: bool = True
    needs_redis: bool = False
    given: Mapping[str, object] = field(default_factory=dict)

    @property
    def on_node(self) -> bool:
        return self.command[0] == "node"


ALL = (
    Peer(name="huey, SQLite", command=(_PYTHON, FOLDER / "huey_sqlite.py"), share=0.25),
    Peer(name="Celery, Redis", command=(_PYTHON, FOLDER / "celery_redis.py"), share=0.2, needs_redis=True),
    Peer(
        name="BullMQ, Redis",
        command=("node", FOLDER / "bullmq_redis.mjs"),
        share=0.5,
        needs_redis=True,
        given={"modules": str(NODE_ENVIRONMENT)},
    ),
    Peer(name="httpx, one client in sequence", command=_HTTPX, share=0.4, queues=False, given={"form": "sequence"}),
    Peer(name="httpx, a client per task", command=_HTTPX, share=0.02, queues=False, given={"form": "per_task"}),
    Peer(name="httpx, one client, 32 in flight", command=_HTTPX, share=0.15, queues=False, given={"form": "shared"}),
)


@dataclass(frozen=True, slots=True)
class Found:
    """Those that can be measured here, and by name why the others cannot."""

    peers: Sequence[Peer]
    missing: Mapping[str, str]

    def notes(self) -> list[str]:
        return [f"not measured: {name}, because {why}" for name, why in self.missing.items()]


def find_peers() -> Found:
    """Install what can be installed, and see what is there."""
    redis = None if shutil.which("redis-server") else "redis-server is not installed"
    for_python, for_node = _complaint_of_python(), _complaint_of_node()
    missing: dict[str, str] = {}
    for peer in ALL:
        why = (for_node if peer.on_node else for_python) or (redis if peer.needs_redis else None)
        if why is not None:
            missing[peer.name] = why
    return Found([peer for peer in ALL if peer.name not in missing], missing)


def _complaint_of_python() -> str | None:
    try:
        install_peers(PYTHON_ENVIRONMENT, FOLDER / "requirements.txt")
    except (subprocess.CalledProcessError, OSError) as error:
        return f"its environment cannot be made ({error})"
    return None


def _complaint_of_node() -> str | None:
    if not (shutil.which("node") and shutil.which("npm")):
        return "node and npm are not installed"
    lock, stamp = FOLDER / "package-lock.json", NODE_ENVIRONMENT / "installed.json"
    if stamp.is_file() and stamp.read_bytes() == lock.read_bytes():
        return None
    print(f"making {NODE_ENVIRONMENT.relative_to(ROOT)}", flush=True)
    NODE_ENVIRONMENT.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(FOLDER / name, NODE_ENVIRONMENT / name)
    install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        subprocess.run(install, cwd=NODE_ENVIRONMENT, check=True)
    except (subprocess.CalledProcessError, OSError) as error:
        return f"its environment cannot be made ({error})"
    stamp.write_bytes(lock.read_bytes())
    return None


def versions() -> Mapping[str, str]:
    """What they are, by name, as far as it is installed."""
    bullmq = NODE_ENVIRONMENT / "node_modules" / "bullmq" / "package.json"
    asked: dict[str, Sequence[str | Path]] = {
        "redis-server": ("redis-server", "--version"),
        "node": ("node", "--version"),
        "bullmq": ("node", "-p", f"require('{bullmq}').version"),
    }
    for name in ("huey", "celery", "httpx"):
        asked[name] = (_PYTHON, "-c", f"import importlib.metadata as m; print(m.version('{name}'))")
    found: dict[str, str] = {}
    for name, command in asked.items():
        try:
            found[name] = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        except (subprocess.CalledProcessError, OSError):
            continue
    return found
