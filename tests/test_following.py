"""Every kind of event is told by an operation that makes it happen, with the members that it changed."""

import shutil
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
import trio
from msgspec.structs import replace

from gatewayd.areas.accounting import answering
from gatewayd.areas.accounting.invoices import moves, overdue
from gatewayd.areas.banking.accounts import rows as bank_accounts
from gatewayd.areas.landlord import reminders
from gatewayd.areas.vault import trash
from gatewayd.areas.vault.documents import uploads
from gatewayd.clock import DAY, SECOND, Instant, london_date, to_wire
from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.daemon import recurring
from gatewayd.events import EVENT_KINDS, TOPIC, ResourceEvent
from gatewayd.events.resources import RESOURCES
from gatewayd.following import ANSWERS, reactions
from gatewayd.ledger.obligations import obligations
from gatewayd.ledger.obligations.obligations import OBLIGATIONS
from gatewayd.mail import claims, outbox
from gatewayd.outbound.addresses import parse_networks
from gatewayd.outbound.transport import GuardedTransport, Policy
from gatewayd.store import WriteTx
from gatewayd.store.files.blobs import Blobs
from gatewayd.webhooks.dispatch.dispatcher import Dispatcher, DispatcherParts
from gatewayd.webhooks.feeds.event_log import EventLog
from gatewayd.webhooks.queue.receivers import Address
from gatewayd.webhooks.sender import Sender
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import CreatedSubscription, CreateSubscription
from tests.contract.conftest import Seeded, engines_of, read_documents, seeded
from tests.contract.happenings import ACTS
from tests.contract.rows import BY_ID, OPERATIONS, example, send
from tests.daemon.hooks import Arrival, make_authority, receiving
from tests.mail.harness import mail_settings, new_mail
from tests.outbound.test_transport import FakeResolver
from tests.support.api import TestedApi, Tuning, reopen_api
from tests.support.delivered import as_listed, in_order, verified
from tests.support.engines import Engines, TaxLog
from tests.support.store import make_caller

__all__ = ["seeded"]  # a fixture

_WAITING = """
SELECT count(*), coalesce(max(in_flight), 0), min(due_at) FROM deliveries
WHERE org_id = :org_id AND subscription_id = :id AND due_at IS NOT NULL
"""
SECONDS = 120.0  # the longest that anything here waits
ENDING = {"legalEntity.archive", "businesses.archive", "webhooks.remove", "obligations.revokeFeed"}
"""Whose example would end what others need."""


class Told:
    """An organization in which somebody subscribes to everything, and what they are told."""

    def __init__(self, api: TestedApi, ids: dict[str, str], engines: Engines, blobs: Blobs) -> None:
        self.api, self.ids, self.engines, self.blobs = api, ids, engines, blobs
        self.subscription: CreatedSubscription | None = None

    async def do(self, operation_id: str, **values: object) -> str:
        """Something that is done; answers the id of what it is. Ids may stand as the keys of what was seeded."""
        settled = {name: self.named(value) for name, value in values.items()}
        reply = await send(self.api, BY_ID[operation_id], settled)
        assert reply.status == 200, (operation_id, settled, reply.body)
        return str(reply.json().get("id"))

    def named(self, value: object) -> object:
        if isinstance(value, list):
            return [self.named(each) for each in value]
        return self.ids.get(value, value) if isinstance(value, str) else value

    async def subscribe(self, url: str, policy: Policy) -> CreatedSubscription:
        """Subscribe a receiver to everything."""
        request = CreateSubscription(url=url, events=["*"])
        create = partial(subscriptions.create_subscription, caller=make_caller("org_a"), request=request, policy=policy)
        self.subscription = await self.api.store.write(create, "org_a")
        return self.subscription

    async def wait_sent(self) -> None:
        """Wait until the receiver has all there is. Where something failed it is time to send it again."""
        if self.subscription is None:
            return
        values = {"id": self.subscription.id}
        with trio.fail_after(SECONDS):
            while True:
                count, in_flight, due_at = (await self.api.store.read(lambda tx: tx.rows(_WAITING, **values), "org_a"))[
                    0
                ]
                if not count:
                    return
                if not in_flight and due_at > self.api.clock.now():
                    self.api.clock.advance(due_at - self.api.clock.now())
                    await self.api.store.write(lambda tx: tx.announce(TOPIC))
                await trio.sleep(0.01)

    async def seen(self, paper_id: str) -> None:
        """A client opens the link of a paper."""
        await self.api.store.write(lambda tx: answering.note_view(tx, paper_id), "org_a")

    async def pass_days(self, days: int) -> None:
        await self.wait_sent()
        self.api.clock.advance(days * DAY)

    async def events(self, since: str = "2026-01-01T00:00:00Z") -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        query: dict[str, object] = {"since": since}
        while True:
            page = (await self.api("GET", "/events", query={"limit": 100, **query})).json()
            events += page["data"]
            if page["nextCursor"] is None:
                return events
            query = {"cursor": page["nextCursor"]}


@pytest.fixture
async def told(seeded: Seeded, tmp_path: Path) -> AsyncIterator[Told]:
    shutil.copytree(seeded.directory, tmp_path, dirs_exist_ok=True)
    engines = Engines()
    async with (
        reopen_api(tmp_path, OPERATIONS, Tuning(deps=engines)) as api,
        engines_of(api, tmp_path, engines),
    ):
        api.token("org_a", "good", ALL_SCOPES)
        engines.event_log = EventLog(api.store, 3_650 * DAY)  # what is told of days to come is read in the end
        yield Told(api, dict(seeded.ids), engines, Blobs(tmp_path))


LINE = {"description": "Work", "quantity": "1", "unitPrice": "100.00"}


async def of_money(told: Told) -> None:
    do = told.do
    client = await do("accounting.createClient", name="Ash Ltd")
    sale = {"clientId": client, "legalEntityId": "ent", "lines": [LINE]}
    invoice = await do("accounting.createInvoice", **sale, status="issued")
    await do("accounting.recordPayment", invoiceId=invoice, amount="20.00", date="2026-11-20")
    await do("accounting.recordPayment", invoiceId=invoice, amount="80.00", date="2026-11-20")
    sent = await do("accounting.createInvoice", **sale, status="issued")
    await told.api.store.write(lambda tx: moves.mark_sent(tx, sent), "org_a")  # as the command line does
    await do("accounting.archiveClient", clientId=client)
    await do("accounting.updateClient", clientId=client, status="active")
    values = {"institutionId": "inst_barclays", "sortCode": "20-45-00", "accountNumber": "31926818"}
    bank = await do("banking.createAccount", name="Second", **values)
    await do("banking.updateAccount", accountId=bank, status="closed")
    # of an account that an import made on the command line, and that failed: no operation deletes one
    await told.api.store.write(lambda tx: bank_accounts.delete_account(tx, bank), "org_a")
    path = f"/accounts/{told.ids['bac']}/imports"
    assert (await told.api("POST", path, query="fileName=bad.csv", body=b"nonsense")).status == 422
    await do("billing.createPlan", code="pocket", name="Pocket", includedCredits="10")
    await do("billing.setPlan", code="pocket")
    left = (await told.api("GET", "/billing/balance")).json()
    await do("billing.adjustCredits", amount=f"-{left['balance']}", description="Spent")


async def of_sales(told: Told) -> None:
    do = told.do
    client = await do("accounting.createClient", name="Elder Ltd")
    sale = {"clientId": client, "legalEntityId": "ent", "lines": [LINE]}
    refused, offered = await do("accounting.createQuote", **sale), await do("accounting.createQuote", **sale)
    await do("accounting.deleteQuote", quoteId=refused)
    await do("accounting.issueQuote", quoteId=offered)
    await told.seen(offered)
    await do("accounting.acceptQuote", quoteId=offered)
    await told.seen(await do("accounting.invoiceQuote", quoteId=offered, status="issued"))
    today = london_date(told.api.clock.now())
    bought = {"description": "Boards", "amount": "9.00", "category": "costOfGoods"}
    bill = {"supplierId": client, "businessId": "biz", "billDate": today, "lines": [bought], "allowDuplicate": True}
    kept, gone = [await do("accounting.createBill", **bill) for _ in range(2)]
    await do("accounting.recordBillPayment", billId=kept, amount="1.00")
    await do("accounting.recordBillPayment", billId=kept)
    await do("accounting.voidBill", billId=gone, reason="Entered twice")
    await do("accounting.deleteBill", billId=await do("accounting.createBill", **bill, status="draft"))
    await do("accounting.createRecurring", **sale, unit="week", startDate=today)
    await do("accounting.archiveClient", clientId=client)
    await recurring.make_due(told.api.store, None)
    invoices = (await told.api("GET", "/invoices", query={"clientId": client, "status": "issued"})).json()["data"]
    papers = {"invoice": invoices[0]["id"], "quote": offered}
    await told.api.store.write(partial(bounce, papers=papers))


def bounce(tx: WriteTx, papers: dict[Literal["invoice", "quote"], str]) -> None:
    """The client's server takes no mail for the address to which papers go, nor any other that waits."""
    for kind, paper_id in papers.items():
        outbox.queue(tx, new_mail("gone@elder.example", "org_a", kind=kind, about=paper_id))
    at, room = Instant(tx.now), claims.Room("daemon-a:1", 1)
    while begun := claims.claim_due(tx, room, mail_settings(25), at).claims:
        ended = [claims.Ended(claim, "bounced", None, 550, "No such user", 5) for claim in begun]
        claims.record(tx, ended, room.holder, at)


async def of_assets(told: Told) -> None:
    do = told.do
    portfolio = await do("assets.createPortfolio", name="Other", legalEntityId="ent")
    await do("assets.archivePortfolio", id=portfolio)
    await do("assets.updatePortfolio", id=portfolio, status="active")
    account = await do("assets.createAccount", portfolioId="prt", name="Old", type="brokerage", currency="GBP")
    instrument = {"name": "Elm plc", "assetClass": "equity", "currency": "GBP", "symbol": "ELMP"}
    trade = {"accountId": account, "type": "buy", "tradeDate": "2026-10-05", "quantity": "10", "unitPrice": "2.00"}
    bought = await do("assets.createTransaction", **trade, instrument=instrument)
    reversal = {"accountId": account, "type": "reversal", "reversesTransactionId": bought}
    await do("assets.createTransaction", **reversal, tradeDate="2026-10-05")
    await do("assets.updateAccount", id=account, status="closed")


async def of_lets(told: Told) -> None:
    do = told.do
    house = {"businessId": "biz_b", "type": "house"}
    sold = await do("landlord.createProperty", **house, name="8 Elm Row")
    let = await do("landlord.createProperty", **house, name="10 Elm Row")
    unit = await do("landlord.createPropertyUnit", propertyId=let, name="Flat")
    await do("landlord.updatePropertyUnit", id=unit, archived=True)
    await do("landlord.updatePropertyUnit", id=unit, archived=False)
    terms = {"tenantIds": ["tnt"], "rentAmount": "900.00", "rentFrequency": "monthly", "propertyId": let}
    called_off = await do("landlord.createTenancy", **terms, startDate="2027-02-01")
    await do("landlord.updateTenancy", id=called_off, cancelled=True)
    over = await do("landlord.createTenancy", **terms, startDate="2026-06-01")
    await do("landlord.updateTenancy", id=over, endedDate="2026-10-31")
    await do("landlord.updateProperty", id=let, status="archived")
    await do("landlord.updateProperty", id=let, status="active")
    await do("landlord.updateProperty", id=sold, status="sold", disposalDate="2026-11-01", disposalProceeds="200000.00")
    await do("landlord.updateMortgage", id="mtg", redeemedDate="2026-11-01")
    await do("landlord.createCertificate", propertyId="prop_b", type="gas_safety", issuedDate="2025-12-10")
    for issued in ("2026-03-10", "2026-11-10"):  # the one in the other's place
        await do("landlord.createCertificate", propertyId="prop_b", type="pat", issuedDate=issued)


async def of_owners(told: Told) -> None:
    do = told.do
    owner = await do("legalEntity.createLegalEntity", name="Elm Works", type="sole_trader")
    business = await do("businesses.create", legalEntityId=owner, type="self_employment", name="Second")
    await do("businesses.setStatus", id=business, status="ceased", effectiveDate="2026-11-15")
    await do("businesses.archive", id=business, reason="Over", force=True)
    await do("businesses.setStatus", id=business, status="ceased", effectiveDate="2026-11-15")
    await do("legalEntity.archive", id=owner, force=True)
    await do("legalEntity.updateLegalEntity", id=owner, status="active")


async def of_periods(told: Told) -> None:
    await told.do("periods.reopen", id="per_b", reason="It is behind the other")
    await told.do("periods.close", id="per", begin=True)
    await told.do("periods.close", id="per", force=True, reason="For the test")
    await told.do("periods.reopen", id="per", reason="Forgotten")


async def of_documents(told: Told) -> None:
    for text in (b"A bill", b"fails:encrypted"):
        made = (await told.api("POST", "/vault/documents", json={"name": "read.txt"})).json()
        with told.blobs.draft(100) as draft:
            draft.write(text)
            kept = draft.save()
        token = made["upload"]["url"].rpartition("/")[2]
        received = partial(uploads.receive, token=token, size=kept.size_bytes, sha256=kept.sha256)
        assert await told.api.store.write(received) is not None
        await told.do("vault.confirmUpload", documentId=made["document"]["id"])
    await read_documents(told.api, told.engines)


async def of_days(told: Told) -> None:
    """What the daemon does as days pass: it tells of deadlines, and empties the trash."""
    store = told.api.store
    for _ in range(8):
        while not await store.read(lambda tx: obligations.is_silent(tx, 14)):
            await store.write(lambda tx: obligations.tell_some(tx, 14))
        while not await store.read(reminders.is_silent):
            await store.write(reminders.tell_some)
        while not await store.read(overdue.is_silent):
            await store.write(overdue.tell_some)
        await told.pass_days(25)
    await store.write(lambda tx: trash.purge_some(tx, Instant(store.now())))


class Receiver:
    """Refuses each seventh delivery when it comes first."""

    def __init__(self) -> None:
        self.accepted: list[Arrival] = []
        self.refused: set[str] = set()
        self._lock = threading.Lock()

    def decide(self, arrival: Arrival) -> int:
        with self._lock:
            if (len(self.accepted) + len(self.refused)) % 7 == 6 and arrival.delivery_id not in self.refused:
                self.refused.add(arrival.delivery_id)
                return 503
            self.accepted.append(arrival)
            return 204


@asynccontextmanager
async def receiving_all(told: Told, directory: Path) -> AsyncIterator[Receiver]:
    """A receiver of everything over HTTPS, and a dispatcher that sends. Names of other receivers are not found."""
    authority, ca_file = make_authority(directory)
    policy = Policy(allow_networks=parse_networks(("127.0.0.0/8",)), ca_file=str(ca_file))
    transport = GuardedTransport(policy, FakeResolver(OSError("no such name")))
    sender = Sender(transport, user_agent="gatewayd/test", timeout_seconds=SECONDS)
    settings, log = WebhookSettings(policy=policy, timeout_seconds=SECONDS), TaxLog()
    parts = DispatcherParts(store=told.api.store, sender=sender, clock=told.api.clock, settings=settings, log=log)
    receiver = Receiver()
    with receiving(authority) as hooks:
        hooks.decide = receiver.decide
        await told.subscribe(hooks.url, policy)
        async with trio.open_nursery() as nursery:
            await nursery.start(Dispatcher(parts).run)
            yield receiver
            nursery.cancel_scope.cancel()
    await sender.aclose()


async def test_every_kind_is_told_by_something_that_happens_and_arrives(told: Told, tmp_path: Path) -> None:
    told.api.clock.advance(SECOND)
    since = to_wire(told.api.clock.now())
    async with receiving_all(told, tmp_path) as receiver:
        await let_everything_happen(told)
        await told.wait_sent()
    events = await told.events(since)
    check_kinds(events)
    assert told.subscription is not None
    received = [verified(arrival, told.subscription.secret) for arrival in receiver.accepted]
    assert len({document["id"] for document in received}) == len(received)
    assert [as_listed(document) for document in in_order(received)] == events
    assert in_order(received) != received  # they did not arrive so
    assert receiver.refused


def check_kinds(events: list[dict[str, Any]]) -> None:
    """Every kind is there, and its data are as it says."""
    assert {event["event"] for event in events} == {name for name, kind in EVENT_KINDS.items() if kind.fired}
    for event in events:
        kind = EVENT_KINDS[event["event"]]
        data = msgspec.convert(event["data"], kind.data)
        if isinstance(data, ResourceEvent):
            assert (data.changed != []) <= kind.name.endswith(".updated"), event


async def let_everything_happen(told: Told) -> None:
    await of_periods(told)
    for operation in ACTS:
        if operation.id not in ENDING:
            await send(told.api, operation, example(operation, told.ids))
    for work in (of_documents, of_money, of_sales, of_assets, of_lets, of_owners, of_days):
        await work(told)


async def test_an_update_names_the_members_that_it_changed(told: Told) -> None:
    client = await told.do("accounting.createClient", name="Ash Ltd")
    before = await told.events()  # who reads kinds listens to them from then on
    await told.do("accounting.updateClient", clientId=client, email="ann@ash.example", paymentTermsDays=7)
    await told.do("accounting.updateClient", clientId=client, email="ann@ash.example")
    await told.do("accounting.updateClient", clientId=client, name="Ash & Co")
    events = [event for event in await told.events() if event not in before]
    assert [(event["event"], sorted(event["data"]["changed"])) for event in events if "client_id" in event["data"]] == [
        ("client.updated", ["email", "paymentTermsDays"]),
        ("client.updated", []),
        ("client.updated", ["name"]),
    ]


async def test_nothing_is_recorded_where_nobody_listens(told: Told) -> None:
    subscribed = await told.api("GET", "/webhooks/subscriptions")
    for subscription in subscribed.json()["data"]:
        await told.do("webhooks.remove", id=subscription["id"])
    count = "SELECT count(*) FROM events WHERE org_id = :org_id AND kind <> 'lead.created'"
    before = await told.api.store.read(lambda tx: int(tx.value(count)), "org_a")
    for work in (of_periods, of_assets, of_lets, of_owners):
        await work(told)
    assert await told.api.store.read(lambda tx: int(tx.value(count)), "org_a") == before


async def test_every_table_that_is_told_has_what_its_rows_are_answered_as() -> None:
    assert set(ANSWERS) == {resource.table for resource in RESOURCES}
    assert reactions().told == set(ANSWERS)


# -- what a list shows of other rows moves `updatedAt`


async def shown(told: Told, path: str, id_: str) -> dict[str, Any]:
    """The row of a list."""
    reply = await told.api("GET", path, query={"limit": 100, "updatedSince": "1970-01-01T00:00:00Z"})
    (row,) = [row for row in reply.json()["data"] if row["id"] == id_]
    return dict(row)


async def test_a_share_of_a_business_moves_the_properties_that_show_it(told: Told) -> None:
    business = await told.do("businesses.create", legalEntityId="ent", type="foreign_property", name="Joint")
    house = {"businessId": business, "type": "house"}
    property_id = await told.do("landlord.createProperty", **house, name="8 Elm Row")
    before = await shown(told, "/landlord/listProperties", property_id)
    told.api.clock.advance(SECOND)
    await told.do("businesses.update", id=business, ownerSharePercent="50")
    after = await shown(told, "/landlord/listProperties", property_id)
    assert (before["ownerSharePercent"], after["ownerSharePercent"]) == ("100", "50")
    assert after["updatedAt"] > before["updatedAt"]
    assert after["version"] == before["version"]


async def test_a_certificate_moves_the_tenancies_that_are_warned_of_it(told: Told) -> None:
    address = {"line1": "6 Elm Row", "postcode": "BS1 4DJ", "countryCode": "GB"}
    await told.do("landlord.updateProperty", id="prop_b", address=address, jurisdiction="england")
    before = await shown(told, "/landlord/listTenancies", told.ids["tcy"])
    told.api.clock.advance(SECOND)
    poor = {"propertyId": "prop_b", "type": "epc", "issuedDate": "2026-03-10", "rating": "F"}
    certificate = await told.do("landlord.createCertificate", **poor)
    warned = await shown(told, "/landlord/listTenancies", told.ids["tcy"])
    told.api.clock.advance(SECOND)
    await told.do("landlord.deleteCertificate", id=certificate)
    after = await shown(told, "/landlord/listTenancies", told.ids["tcy"])
    codes = [[warning["code"] for warning in row["warnings"]] for row in (before, warned, after)]
    assert ["epc_below_minimum" in each for each in codes] == [False, True, False]
    assert before["updatedAt"] < warned["updatedAt"] < after["updatedAt"]
    told.api.clock.advance(SECOND)
    await told.do("landlord.createCertificate", propertyId="prop_b", type="pat", issuedDate="2026-03-10")
    assert await shown(told, "/landlord/listTenancies", told.ids["tcy"]) == after


async def test_an_obligation_moves_the_period_that_it_is_of(told: Told) -> None:
    periods = (await told.api("GET", "/periods/list", query="type=tax_year&type=itsa_quarter&limit=100")).json()["data"]
    before = next(period for period in periods if period["obligationIds"])
    obligation_id = before["obligationIds"][0]
    told.api.clock.advance(SECOND)

    def leave(tx: WriteTx) -> None:
        OBLIGATIONS.update(tx, replace(OBLIGATIONS.get(tx, obligation_id), period_id=None))

    await told.api.store.write(leave, "org_a")
    query = "type=tax_year&type=itsa_quarter&updatedSince=1970-01-01T00:00:00Z&limit=100"
    changed = (await told.api("GET", "/periods/list", query=query)).json()["data"][-1]
    assert changed["id"] == before["id"]
    assert obligation_id not in changed["obligationIds"]
    assert changed["updatedAt"] > before["updatedAt"]


async def test_the_health_of_a_receiver_moves_its_subscription(told: Told) -> None:
    id_ = await told.do("webhooks.create", url="https://all.example/", events=["*"])
    before = await shown(told, "/webhooks/subscriptions", id_)
    address = Address("org_a", id_, "https://all.example/")
    store, states = told.api.store, []
    told.api.clock.advance(-60 * SECOND)  # the clock was set back: `updatedAt` goes on
    at = Instant(store.now())
    for work in (
        lambda tx: subscriptions.mark_failing(tx, address, at),
        lambda tx: subscriptions.mark_warned(tx, address, at),
        lambda tx: subscriptions.clear_failing(tx, address),
        lambda tx: subscriptions.disable(tx, address, "receiver_gone"),
    ):
        told.api.clock.advance(SECOND)
        await store.write(work, "org_a")
        states.append(await shown(told, "/webhooks/subscriptions", id_))
        newest = await told.api("GET", "/webhooks/subscriptions", query={"updatedSince": before["updatedAt"]})
        assert newest.json()["data"][-1]["id"] == id_
    assert [state["failingSince"] is None for state in states] == [False, False, True, True]
    assert [state["disablesAt"] is None for state in states] == [True, False, True, True]
    assert [state["enabled"] for state in states] == [True, True, True, False]
