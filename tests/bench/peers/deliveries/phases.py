"""What every peer in Python does alike: the request of an event, signed as the daemon signs, and the steps of a run.

A peer is started with one JSON document: `url` and `receivers` of the sink, `count` of events, `directory` for its
files, `redis` (a socket, where it needs one). It says `ready`, does a step for each line it is told (`enqueue`,
`deliver`) and answers `done`.
"""

import hashlib
import hmac
import json
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any

SECRET = "whsec_" + b64encode(bytes(range(32))).decode()
_KEY = b64decode(SECRET.removeprefix("whsec_"))
Step = Callable[[], None]


def settings() -> dict[str, Any]:
    """What this run was started with."""
    return json.loads(sys.argv[1])


def run(steps: Mapping[str, Step]) -> None:
    """Do what is told on stdin until that ends."""
    print("ready", flush=True)
    for line in sys.stdin:
        steps[line.strip()]()
        print("done", flush=True)


def event(number: int) -> dict[str, object]:
    """As much as an event of the daemon's says."""
    data = {"lead_id": f"lead_{number:026}", "source": "website", "status": "new"}
    return {"id": f"wdlv_{number:026}", "event": "lead.created", "data": data, "sentAt": "2026-11-20T09:30:00.125Z"}


def signed(document: Mapping[str, object]) -> tuple[dict[str, str], bytes]:
    """Headers and body of one attempt, in both dialects of signatures."""
    body = json.dumps(document, separators=(",", ":")).encode()
    now, identity = int(time.time()), str(document["id"])
    ours = hmac.digest(SECRET.encode(), b"%d." % now + body, "sha256").hex()
    standard = b64encode(hmac.digest(_KEY, f"{identity}.{now}.".encode() + body, hashlib.sha256)).decode()
    return {
        "Content-Type": "application/json",
        "X-Service-Event": str(document["event"]),
        "X-Service-Delivery": identity,
        "X-Service-Signature": f"t={now},v1={ours}",
        "webhook-id": identity,
        "webhook-timestamp": str(now),
        "webhook-signature": f"v1,{standard}",
    }, body


def url_of(number: int, given: Mapping[str, Any]) -> str:
    """Whose turn it is."""
    return f"{given['url']}/{number % given['receivers']}"
