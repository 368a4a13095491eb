"""Verifies deliveries with the packages that receivers use on Python, unchanged: the twin of `verify_webhooks.mjs`.

Standard input: `[{name, headers, body, secret, at}]`; names of headers in lower case, `body` in base64, `at` the Unix
seconds that the receiver's clock shows, or null for now.
Standard output: `{package: {name: null, or [class of the error, its message]}}`.
"""

import base64
import contextlib
import datetime
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import standardwebhooks.webhooks
import stripe
import svix.webhooks

Delivery = dict[str, Any]


def with_stripe(delivery: Delivery) -> Any:
    header = delivery["headers"]["x-service-signature"]
    return stripe.Webhook.construct_event(delivery["body"], header, delivery["secret"])["event"]


def with_standardwebhooks(delivery: Delivery) -> Any:
    return standardwebhooks.Webhook(delivery["secret"]).verify(delivery["body"], delivery["headers"])["event"]


def with_svix(delivery: Delivery) -> Any:
    svix.webhooks.Webhook(delivery["secret"]).verify(delivery["body"], delivery["headers"])
    return json.loads(delivery["body"])["event"]


VERIFIERS: dict[str, Callable[[Delivery], Any]] = {
    "stripe": with_stripe,
    "standardwebhooks": with_standardwebhooks,
    "svix": with_svix,
}


@contextlib.contextmanager
def clock(at: int | None) -> Iterator[None]:
    """The clock shows `at` for the length of the block: this process is the receiver's."""
    if at is None:
        yield
        return

    class Still(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:
            return datetime.datetime.fromtimestamp(at, tz)

    with (
        mock.patch("time.time", return_value=float(at)),
        mock.patch.object(standardwebhooks.webhooks, "datetime", Still),
    ):
        yield


def verdict(verify: Callable[[Delivery], Any], delivery: Delivery) -> list[str] | None:
    try:
        with clock(delivery["at"]):
            event = verify(delivery)
    except (stripe.SignatureVerificationError, standardwebhooks.WebhookVerificationError) as error:
        return [type(error).__name__, str(error)]
    return None if event == "lead.created" else ["Document", str(event)]


def main() -> None:
    deliveries = [one | {"body": base64.b64decode(one["body"])} for one in json.load(sys.stdin)]
    verdicts = {name: {one["name"]: verdict(verify, one) for one in deliveries} for name, verify in VERIFIERS.items()}
    json.dump(verdicts, sys.stdout)


if __name__ == "__main__":
    main()
