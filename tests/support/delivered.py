"""What a receiver makes of deliveries: it verifies each, and puts them into the order in which things happened."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import standardwebhooks

from gatewayd.webhooks.signature import verify
from tests.daemon.hooks import Arrival

Document = dict[str, Any]


def verified(arrival: Arrival, secret: str) -> Document:
    """The body of a delivery, once its signatures are those of its bytes, whenever it was sent.

    One as Spec §6 has it, the other as the package of Standard Webhooks makes it.
    """
    headers, body = arrival.headers, arrival.body
    timestamp = int(headers["webhook-timestamp"])
    verify(headers["x-service-signature"], body, secret, now=timestamp)
    package = standardwebhooks.Webhook(secret)
    made = package.sign(headers["webhook-id"], datetime.fromtimestamp(timestamp, UTC), body.decode())
    assert headers["webhook-signature"] == made
    document: Document = json.loads(body)
    assert (document["event"], document["id"]) == (headers["x-service-event"], headers["webhook-id"])
    return document


def in_order(documents: Iterable[Document]) -> list[Document]:
    """What was received, each event once, in the order in which events were recorded."""
    by_id = {document["id"]: document for document in documents}
    return sorted(by_id.values(), key=lambda document: str(document["sequence"]))


def as_listed(document: Document) -> Document:
    """The event that a delivery tells of, as `events.list` has it."""
    names = {"eventId": "id", "event": "event", "data": "data", "sentAt": "createdAt", "sequence": "sequence"}
    return {listed: document[sent] for sent, listed in names.items()}
