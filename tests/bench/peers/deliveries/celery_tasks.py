"""Celery's application: Redis as broker and for results, acknowledged when done."""

import os

import httpx
from celery import Celery
from phases import signed

QUEUE = "events"
_REDIS = f"redis+socket://{os.environ['REDIS_SOCKET']}?virtual_host="

app = Celery("deliveries", broker=_REDIS + "0", backend=_REDIS + "1")
app.conf.update(
    task_acks_late=True,
    task_default_queue=QUEUE,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
)
client = httpx.Client(timeout=10, trust_env=False)


@app.task(autoretry_for=(httpx.HTTPError,), max_retries=8)
def deliver(url: str, document: dict[str, object]) -> int:
    """One attempt; what is answered is kept as the task's result."""
    headers, body = signed(document)
    return client.post(url, content=body, headers=headers).raise_for_status().status_code
