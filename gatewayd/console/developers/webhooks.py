"""`/developers/webhooks`: who is told of what happens, what was sent to them, and how that went."""

import shlex
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from quart import Quart, Response, render_template

from gatewayd.clock import from_wire
from gatewayd.console.addresses import WEBHOOKS
from gatewayd.console.browser import flash, see
from gatewayd.console.components.shapes import Action, EmptyState, Option
from gatewayd.console.operations.calls import Operations
from gatewayd.console.operations.lists import facts, members_of
from gatewayd.console.operations.pages import FormPage, ListPage, OperationPages, Page, QuestionPage, act
from gatewayd.console.operations.request_fields import Wording, words_of
from gatewayd.console.pages import add_page
from gatewayd.events import EVENT_KINDS

DELIVERIES: Final = f"{WEBHOOKS}/deliveries"
Json = Mapping[str, Any]

_CURL: Final = (
    'curl -H "Authorization: Bearer $KEY" $SERVER/api/rpc/webhooks/subscriptions '
    """--json '{"url": "https://example.com/hooks", "events": ["invoice.paid"]}'"""
)
_EVERYTHING: Final = Option("*", "Everything, and what there will be later")
_EVENTS: Final = (_EVERYTHING, *(Option(kind, kind) for kind in EVENT_KINDS))
_KINDS: Final = (Option("", "Any"), *_EVENTS[1:])
_WORDING: Final = {
    "url": Wording("URL", "Where events are posted: https, and not a private address."),
    "events": Wording("Events", "What the receiver is told of."),
}
SUBSCRIPTIONS: Final = ListPage(
    operation="webhooks.list",
    title="Webhooks",
    text="Programs of yours that are told of what happens here, as it happens.",
    address=WEBHOOKS,
    columns={
        "url": "URL",
        "events": "",
        "enabled": "Sends",
        "failingSince": "Fails since",
        "createdAt": "Created",
    },
    href=lambda row: f"{WEBHOOKS}/{row['id']}",
    primary=Action("Create subscription", f"{WEBHOOKS}/new"),
    empty=EmptyState(
        sentence="No program is told of anything yet.",
        action=Action("Create subscription", f"{WEBHOOKS}/new"),
        command=_CURL,
    ),
)
NEW: Final = FormPage(
    operation="webhooks.create",
    title="New subscription",
    text="Each event is signed; the secret for that is shown when you have created the subscription.",
    button="Create subscription",
    back=WEBHOOKS,
    names=("url", "events"),
    wording=_WORDING,
    options={"events": _EVENTS},
)
CHANGE: Final = FormPage(
    operation="webhooks.update",
    title="Change subscription",
    button="Save",
    back=WEBHOOKS,
    names=("url", "events", "enabled"),
    wording={
        **_WORDING,
        "enabled": Wording("Send events", "Events that happen while it is off are not sent later by themselves."),
    },
    options={"events": _EVENTS},
    changes=True,
)
RECOVER: Final = FormPage(
    operation="webhooks.recover",
    title="Send again what did not arrive",
    text="Events that this subscription should have had and did not, in the order in which they happened.",
    button="Send again",
    back=WEBHOOKS,
    names=("since", "statuses"),
    wording={
        "since": Wording("From", "In UTC. As far back as finished deliveries are kept."),
        "statuses": Wording("Which", "All, if you tick none."),
    },
)
ROTATE: Final = QuestionPage(operation="webhooks.update", button="Make a new secret", back=WEBHOOKS)
REMOVE: Final = QuestionPage(operation="webhooks.remove", button="Remove subscription", back=WEBHOOKS)
LOG: Final = ListPage(
    operation="webhooks.listDeliveries",
    title="Deliveries",
    address=f"{WEBHOOKS}/{{id}}",
    columns={
        "event": "Event",
        "status": "",
        "attempts": "",
        "responseCode": "Answer",
        "lastError": "Error",
        "createdAt": "When",
    },
    filters=("status", "event"),
    options={"event": _KINDS},
    href=lambda row: f"{DELIVERIES}/{row['id']}",
    empty=EmptyState(sentence="Nothing was sent yet. Send a test event to see whether it arrives."),
    template="developers/webhook.html",
)

_FACTS: Final = {
    "events": "",
    "enabled": "Sends",
    "secretPrefix": "Secret begins with",
    "previousSecretExpiresAt": "Old secret signs until",
    "failingSince": "Fails since",
    "disablesAt": "Switched off if it fails until",
    "createdAt": "Created",
}
_FACTS_OF_DELIVERY: Final = {
    "status": "",
    "attempts": "",
    "responseCode": "Answer",
    "lastError": "Error",
    "nextAttemptAt": "Next attempt",
    "createdAt": "Queued",
    "completedAt": "Over",
}


class Webhooks:
    """The pages of webhook subscriptions and their deliveries."""

    def __init__(self, operations: Operations, pages: OperationPages) -> None:
        self._operations = operations
        self._list = pages.list_of(SUBSCRIPTIONS)
        self._new, self._change, self._recover = map(pages.form_of, (NEW, CHANGE, RECOVER))
        self._rotate, self._remove = map(pages.question_of, (ROTATE, REMOVE))
        self._log = pages.list_of(LOG)
        self._facts = members_of(operations.row("webhooks.get").response, _FACTS)
        self._facts_of_delivery = members_of(operations.row("webhooks.getDelivery").response, _FACTS_OF_DELIVERY)

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        one = f"{WEBHOOKS}/<subscription_id>"
        add_page(app, "GET", WEBHOOKS, self._list.show)
        add_page(app, "GET", f"{WEBHOOKS}/new", self._new.show)
        add_page(app, "POST", f"{WEBHOOKS}/new", self.create)
        add_page(app, "GET", one, self.show)
        add_page(app, "GET", f"{one}/change", self.show_change)
        add_page(app, "POST", f"{one}/change", self.change)
        add_page(app, "GET", f"{one}/recover", self.show_recover)
        add_page(app, "POST", f"{one}/recover", self.recover)
        add_page(app, "GET", f"{one}/rotate", self.ask_rotate)
        add_page(app, "POST", f"{one}/rotate", self.rotate)
        add_page(app, "GET", f"{one}/remove", self.ask_remove)
        add_page(app, "POST", f"{one}/remove", self.remove)
        add_page(app, "POST", f"{one}/test", self.send_test)
        add_page(app, "GET", f"{DELIVERIES}/<delivery_id>", self.show_delivery)
        add_page(app, "POST", f"{DELIVERIES}/<delivery_id>/resend", self.resend)

    async def create(self) -> Page:
        return await self._new.submit(self._show_secret)

    async def _show_secret(self, made: Json) -> Page:
        """The page of a new secret; sent again, the form shows the same one."""
        return await render_template(
            "developers/webhook_secret.html", subscription=made, address=f"{WEBHOOKS}/{made['id']}"
        )

    # -- one subscription

    async def show(self, subscription_id: str) -> str:
        found = await self._operations.call("webhooks.get", {"id": subscription_id})
        fixed = {"id": subscription_id}
        return await self._log.show(fixed, subscription=found, facts=facts(self._facts, found))

    async def show_change(self, subscription_id: str) -> str:
        found = await self._operations.call("webhooks.get", {"id": subscription_id})
        return await self._change.show(found, back=f"{WEBHOOKS}/{subscription_id}")

    async def change(self, subscription_id: str) -> Page:
        here = f"{WEBHOOKS}/{subscription_id}"

        async def then(changed: Json) -> Page:
            missed = changed.get("missed", 0)
            flash("success", "The subscription was changed." + (f" It missed {missed} events." if missed else ""))
            return see(here)

        return await self._change.submit(then, {"id": subscription_id}, back=here)

    async def show_recover(self, subscription_id: str) -> str:
        await self._operations.call("webhooks.get", {"id": subscription_id})  # of nothing there is no form
        return await self._recover.show(back=f"{WEBHOOKS}/{subscription_id}")

    async def recover(self, subscription_id: str) -> Page:
        here = f"{WEBHOOKS}/{subscription_id}"

        async def then(done: Json) -> Page:
            more = " There are more: send again to go on." if done["remaining"] or done["goOnAfter"] else ""
            flash("success", f"{done['recovered']} of {done['matched']} events are sent again.{more}")
            return see(here)

        return await self._recover.submit(then, {"id": subscription_id}, back=here)

    async def ask_rotate(self, subscription_id: str) -> str:
        return await self._rotate.show(*await self._rotating(subscription_id), back=f"{WEBHOOKS}/{subscription_id}")

    async def rotate(self, subscription_id: str) -> Page:
        values = {"id": subscription_id, "rotateSecret": True}
        return await self._rotate.submit(self._show_secret, values, *await self._rotating(subscription_id))

    async def _rotating(self, subscription_id: str) -> tuple[str, list[str]]:
        found = await self._operations.call("webhooks.get", {"id": subscription_id})
        said = "The new secret is shown once. For 24 hours each event is signed with both, the old one and the new one."
        return f"A new secret for {found['url']}", [said]

    async def ask_remove(self, subscription_id: str) -> str:
        return await self._remove.show(*await self._removing(subscription_id), back=f"{WEBHOOKS}/{subscription_id}")

    async def remove(self, subscription_id: str) -> Page:
        async def then(_: Json) -> Page:
            flash("success", "The subscription was removed.")
            return see(WEBHOOKS)

        return await self._remove.submit(then, {"id": subscription_id}, *await self._removing(subscription_id))

    async def _removing(self, subscription_id: str) -> tuple[str, list[str]]:
        found = await self._operations.call("webhooks.get", {"id": subscription_id})
        said = (
            "Nothing is sent there any more. Deliveries that wait are cancelled, and what was sent is no longer listed."
        )
        return f"Remove the subscription of {found['url']}?", [said]

    async def send_test(self, subscription_id: str) -> Response:
        here = f"{WEBHOOKS}/{subscription_id}"
        said = "A test event is on its way. Reload to see whether it arrived."
        return await act(self._operations, "webhooks.sendTest", {"id": subscription_id}, said, here)

    # -- one delivery

    async def show_delivery(self, delivery_id: str) -> str:
        asked = {"deliveryId": delivery_id, "include": "attempts"}
        found = await self._operations.call("webhooks.getDelivery", asked)
        subscription = await self._operations.call("webhooks.get", {"id": found["subscriptionId"]})
        body = msgspec.json.encode(found["payload"]).decode()
        return await render_template(
            "developers/webhook_delivery.html",
            delivery=found,
            subscription=subscription,
            facts=facts(self._facts_of_delivery, found),
            attempts=[_attempt(each) for each in found["attemptLog"]],
            body=msgspec.json.format(body, indent=2),
            command=_curl(body, subscription["url"]),
            address=f"{WEBHOOKS}/{subscription['id']}",
        )

    async def resend(self, delivery_id: str) -> Response:
        said = "It is sent again."
        return await act(
            self._operations, "webhooks.resendDelivery", {"id": delivery_id}, said, f"{DELIVERIES}/{delivery_id}"
        )


def _curl(body: str, url: str) -> str:
    """What sends the same body by hand."""
    return f"curl --json {shlex.quote(body)} {shlex.quote(url)}"


def _attempt(attempt: Json) -> dict[str, object]:
    """One attempt as the page of its delivery shows it."""
    timings = [f"{name} {microseconds / 1000:.1f} ms" for name, microseconds in attempt["timings"].items()]
    outcome = attempt["error"] or f"{attempt['responseCode']}"
    return {
        **attempt,
        "at": from_wire(attempt["startedAt"]),
        "timings": ", ".join(timings),
        "outcome": words_of(outcome),
    }
