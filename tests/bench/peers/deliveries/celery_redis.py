"""Celery with Redis: four processes of its usual pool, which listen to the events only when they are told to."""

import os
import subprocess
import sys
import time
from pathlib import Path

from phases import event, run, settings, url_of

GIVEN = settings()
PROCESSES = 4
IDLE_QUEUE = "idle"
START_SECONDS = 60.0
os.environ["REDIS_SOCKET"] = GIVEN["redis"]

import redis  # noqa: E402
from celery_tasks import QUEUE, app, deliver  # noqa: E402

broker = redis.Redis(unix_socket_path=GIVEN["redis"])


def enqueue() -> None:
    for number in range(GIVEN["count"]):
        deliver.delay(url_of(number, GIVEN), event(number))


def consume() -> None:
    app.control.add_consumer(QUEUE, reply=True)
    while broker.llen(QUEUE) or broker.hlen("unacked"):
        time.sleep(0.1)


def start_worker() -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "celery", "-A", "celery_tasks", "worker", "-Q", IDLE_QUEUE, "-l", "ERROR"]
    command += ["--pool", "prefork", "--concurrency", str(PROCESSES), "--without-gossip", "--without-mingle"]
    worker = subprocess.Popen(command, cwd=Path(__file__).parent, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    deadline = time.monotonic() + START_SECONDS
    while not app.control.ping(timeout=0.5):
        if worker.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("the worker does not answer")
    return worker


if __name__ == "__main__":
    worker = start_worker()
    try:
        run({"enqueue": enqueue, "deliver": consume})
    finally:
        worker.terminate()
        worker.wait()
