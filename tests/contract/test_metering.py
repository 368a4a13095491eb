"""What every row does where it has a price and nothing is left: 402, with nothing done (Domain B8)."""

import pytest

from gatewayd.contract.operation import BILLING
from gatewayd.http.render import PROBLEM_JSON
from tests.contract.conftest import OpenCatalogue
from tests.contract.rows import OPERATIONS, example, send
from tests.support import purses

PRICED = [operation for operation in OPERATIONS if operation.area != BILLING]
SYNCS = ("businesses.syncTaxBusiness", "obligations.sync")
_BOOKED = "SELECT count(*) FROM credit_entries WHERE type <> 'grant'"
_HELD = "SELECT count(*) FROM credit_holds"


@pytest.mark.parametrize("keyed", [False, True], ids=["alone", "under a key"])
async def test_no_row_does_anything_for_who_cannot_pay(open_catalogue: OpenCatalogue, keyed: bool) -> None:
    """The row's own example is sent, which is answered where it costs nothing (test_operations.py)."""
    wrong = []
    async with open_catalogue() as (api, ids):
        for operation in PRICED:
            await api.store.write(lambda tx, name=operation.id: purses.price(tx, name, 3))
        await api.store.write(purses.put_on_plan, "org_a")
        await api.store.write(lambda tx: purses.leave(tx, 2), "org_a")
        before = await api.store.read(lambda tx: (tx.value(_BOOKED), tx.value(_HELD)))
        changes = api.store.changes
        for operation in PRICED:
            fields = [(b"idempotency-key", b"k")] if keyed and operation.takes_key else []
            fields += [(b"content-type", b"application/json")] if operation.has_body else []
            reply = await send(api, operation, example(operation, ids), headers=fields)
            told = reply.json() if reply["content-type"] == PROBLEM_JSON[1].decode() else {}
            if (reply.status, told.get("required"), told.get("available")) != (402, "0.000003", "0.000002"):
                wrong.append((operation.id, reply.status, reply.body[:100]))
        assert wrong == []
        assert api.store.changes == changes
        assert await api.store.read(lambda tx: (tx.value(_BOOKED), tx.value(_HELD))) == before


async def test_each_row_is_charged_once_where_it_is_answered_and_never_where_it_is_refused(
    open_catalogue: OpenCatalogue,
) -> None:
    """One after the other on what they leave behind, so that some are refused."""
    wrong, answered = [], 0
    async with open_catalogue() as (api, ids):
        for price, operation in enumerate(PRICED, 1):
            await api.store.write(lambda tx, of=operation.id, price=price: purses.price(tx, of, price))
        await api.store.write(purses.put_on_plan, "org_a")
        await api.store.write(lambda tx: purses.leave(tx, len(PRICED) ** 2), "org_a")
        before = await api.store.read(purses.charged, "org_a")
        for price, operation in enumerate(PRICED, 1):
            reply = await send(api, operation, example(operation, ids))
            after = await api.store.read(purses.charged, "org_a")
            due = [(operation.id, price)] if reply.status == 200 else []
            if after[len(before) :] != due or await api.store.read(purses.held, "org_a"):
                wrong.append((operation.id, reply.status, after[len(before) :]))
            before, answered = after, answered + len(due)
    assert wrong == []
    assert answered > len(PRICED) * 0.8


async def test_what_tells_of_credits_and_gives_them_is_never_charged(open_catalogue: OpenCatalogue) -> None:
    """Or who has none left could not see why, and nobody could give any."""
    billing = [operation for operation in OPERATIONS if operation.area == BILLING]
    async with open_catalogue() as (api, ids):
        for operation in billing:
            await api.store.write(lambda tx, name=operation.id: purses.price(tx, name, 3))
        await api.store.write(purses.put_on_plan, "org_a")
        for operation in billing:
            assert (await send(api, operation, example(operation, ids))).status != 402, operation.id
        assert 3 not in [amount for _, amount in await api.store.read(purses.charged, "org_a")]


async def test_each_call_that_is_passed_on_to_the_tax_authority_is_charged_as_such(
    open_catalogue: OpenCatalogue,
) -> None:
    """Those that pass its answer on, and those that compare it with the books: once, however often it is asked."""
    forwarded = [operation for operation in OPERATIONS if operation.work == "tax.forward"]
    async with open_catalogue() as (api, ids):
        await api.store.write(lambda tx: purses.price(tx, "tax.forward", 3))
        await api.store.write(purses.put_on_plan, "org_a")
        await api.store.write(lambda tx: purses.leave(tx, 3 * len(forwarded)), "org_a")
        before = await api.store.read(purses.charged, "org_a")
        for operation in forwarded:
            assert (await send(api, operation, example(operation, ids))).status == 200, operation.id
        assert len(forwarded) == 10 + len(SYNCS) == len({*(one.id for one in forwarded), *SYNCS})
        assert (await api.store.read(purses.charged, "org_a"))[len(before) :] == [("tax.forward", 3)] * len(forwarded)
        assert (await send(api, forwarded[0], example(forwarded[0], ids))).status == 402
