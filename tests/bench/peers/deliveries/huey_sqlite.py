"""huey over SQLite with an fsync for each commit: eight worker threads, one httpx client, results are kept."""

import logging
import time
from pathlib import Path

import httpx
from huey import SqliteHuey
from phases import event, run, settings, signed, url_of

WORKERS = 8
GIVEN = settings()

logging.basicConfig(level=logging.ERROR)
huey = SqliteHuey("events", filename=str(Path(GIVEN["directory"]) / "huey.db"), fsync=True, timeout=30)
client = httpx.Client(timeout=10, trust_env=False, limits=httpx.Limits(max_keepalive_connections=WORKERS))


@huey.task(retries=8, retry_delay=30)
def deliver(url: str, document: dict[str, object]) -> int:
    """One attempt; what is answered is written down as the task's result."""
    headers, body = signed(document)
    return client.post(url, content=body, headers=headers).raise_for_status().status_code


def enqueue() -> None:
    for number in range(GIVEN["count"]):
        deliver(url_of(number, GIVEN), event(number))


def consume() -> None:
    consumer = huey.create_consumer(workers=WORKERS, periodic=False)
    consumer.start()
    while huey.result_count() < GIVEN["count"]:
        time.sleep(0.1)
    consumer.stop(graceful=True)


if __name__ == "__main__":
    run({"enqueue": enqueue, "deliver": consume})
