"""What is given, taken, refunded and imported, field by field, and that it is on record who has done it."""

from typing import Any

import msgspec
import pytest

from gatewayd.clock import DAY
from gatewayd.ledger.credits import invariants
from tests.areas.billing.conftest import Billing, OpenBilling

_MOST = "1000000000"
_AUDIT = "SELECT org_id, actor, action, subject FROM audit_log ORDER BY id"
_PLAN: dict[str, object] = {"code": "studio", "name": "Studio"}
_OWING: dict[str, object] = {"code": "owing", "name": "Owing", "softLimit": True}


async def _audit(billing: Billing) -> list[tuple[str | None, str, str, str]]:
    return await billing.api.store.read(lambda tx: list(tx.rows(_AUDIT)))


async def _faults(billing: Billing) -> list[str]:
    return await billing.api.store.read(invariants.faults_of_grants, "org_a")


async def test_each_change_is_on_record_with_who_made_it(open_billing: OpenBilling) -> None:
    """Plans and costs concern the instance, all else an organization."""
    async with open_billing() as billing:
        plan = await billing.do("plans", **_PLAN)
        await billing.do("plans/current", code="studio")
        await billing.do("plans/current", code="studio")  # which changes nothing
        grant = await billing.do("grants", amount="10")
        (used,) = await billing.use("4")
        refund = await billing.do("ledger/refund", id=used["id"])
        (taken,) = (await billing.do("ledger/adjust", amount="-1", description="x"))["data"]
        await billing.do("grants/void", id=grant["id"])
        await billing.do("plans/current", code="none")
        await billing.do("plans/retire", code="studio")
        await billing.do("costs", operation="tax.forward", credits="1")
        found = await _audit(billing)
    assert {actor for _, actor, *_ in found} == {"usr_admin"}
    assert [(org_id, action, subject) for org_id, _, action, subject in found] == [
        (None, "plan.created", plan["id"]),
        ("org_a", "plan.set", plan["id"]),
        ("org_a", "credits.granted", grant["id"]),
        ("org_a", "credits.imported", used["importId"]),
        ("org_a", "credits.refunded", refund["id"]),
        ("org_a", "credits.adjusted", taken["id"]),
        ("org_a", "credits.voided", grant["id"]),
        ("org_a", "plan.set", "none"),
        (None, "plan.retired", plan["id"]),
        (None, "cost.set", "tax.forward"),
    ]


@pytest.mark.parametrize("who", ["disabled", "nobody"])
async def test_who_is_no_administrator_any_more_changes_nothing(open_billing: OpenBilling, who: str) -> None:
    async with open_billing() as billing:
        callers = billing.api.authenticator.callers
        if who == "disabled":
            await billing.api.store.write(lambda tx: tx.run("UPDATE users SET disabled_at = :now"))
        else:
            callers["good"] = msgspec.structs.replace(callers["good"], user_id=None)
        reply = await billing.post("grants", {"amount": "1"})
        assert (reply.status, reply.code) == (403, "forbidden")


async def test_amounts_at_their_bounds_are_taken(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        assert (await billing.do("grants", amount="0.000001"))["amount"] == "0.000001"
        assert (await billing.do("grants", amount=_MOST))["amount"] == _MOST
        (taken,) = (await billing.do("ledger/adjust", amount=f"-{_MOST}.0", description="x"))["data"][-1:]
        assert taken["balanceAfter"] == "0.000001"
        (taken,) = (await billing.do("ledger/adjust", amount="-0.000001", description="x"))["data"]
        assert taken["balanceAfter"] == "0"
        added = await billing.do("ledger/adjust", amount=_MOST, description="x")
        assert added["data"][0]["amount"] == _MOST
        for amount in (f"-{_MOST}.000001", f"{_MOST}.000001"):
            assert (await billing.post("ledger/adjust", {"amount": amount, "description": "x"})).status == 422
        assert (await billing.do("costs", operation="tax.forward", credits=_MOST))["credits"] == _MOST
        assert (await billing.do("costs", operation="tax.forward", credits="0"))["credits"] == "0"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({}, ("grant", "promotional", 100, None, None)),
        ({"type": "purchase"}, ("purchase", "paid", 100, None, None)),
        ({"type": "purchase", "category": "promotional"}, ("purchase", "promotional", 100, None, None)),
        ({"category": "paid", "priority": 0}, ("grant", "paid", 0, None, None)),
        (
            {"description": "Welcome", "expiresAt": "2026-11-20T09:30:00.001Z"},
            ("grant", "promotional", 100, "Welcome", "2026-11-20T09:30:00.001Z"),
        ),
    ],
)
async def test_a_grant_is_what_was_asked_for(
    open_billing: OpenBilling, given: dict[str, object], shown: tuple[object, ...]
) -> None:
    async with open_billing() as billing:
        grant = await billing.do("grants", amount="3", **given)
        names = ("source", "category", "priority", "description", "expiresAt")
        assert (tuple(grant[name] for name in names), grant["status"]) == (shown, "active")
        (entry,) = (await billing.get("ledger"))["data"]
        assert (entry["type"], entry["grantId"], entry["description"]) == (shown[0], grant["id"], shown[3])
        assert (await billing.get("grants"))["data"] == [grant]


async def test_grants_are_listed_by_page_with_how_they_stand(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        expiring = await billing.do("grants", amount="1", expiresAt="2026-11-21T09:30:00Z")
        used = await billing.do("grants", amount="2", priority=1)
        await billing.use("2")
        voided = await billing.do("grants", amount="3")
        await billing.do("grants/void", id=voided["id"])
        left = await billing.do("grants", amount="4")
        ids = [one["id"] for one in (left, voided, used, expiring)]

        async def listed() -> list[tuple[str, str]]:
            found: list[tuple[str, str]] = []
            cursor = ""
            while cursor is not None:
                page = await billing.get("grants", f"limit=3{cursor}")
                found += [(one["id"], one["status"]) for one in page["data"]]
                cursor = None if page["nextCursor"] is None else f"&cursor={page['nextCursor']}"
            return found

        assert await listed() == list(zip(ids, ("active", "voided", "used", "active"), strict=True))
        billing.api.clock.advance(DAY)
        assert await listed() == list(zip(ids, ("active", "voided", "used", "expired"), strict=True))
        reply = await billing.post("grants/void", {"id": expiring["id"]})
        assert (reply.status, reply.json()["currentState"]) == (409, "expired")
        missing = await billing.post("grants/void", {"id": "gra_00000000000000000000000000"})
        assert (missing.status, missing.code) == (404, "not_found")
        missing = await billing.post("ledger/refund", {"id": "led_00000000000000000000000000"})
        assert (missing.status, missing.code) == (404, "not_found")


async def test_what_is_refunded_pays_first_what_is_owed(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        await billing.do("plans", **_OWING)
        await billing.do("plans/current", code="owing")
        given = await billing.do("grants", amount="3", category="paid", priority=7)
        of_grant, owed = await billing.use("8", operation="vault.parse")
        assert (of_grant["amount"], owed["amount"], owed["grantId"]) == ("-3", "-5", None)

        async def refund(entry: Any, amount: str) -> tuple[str, str | None, str]:
            done = await billing.do("ledger/refund", id=entry["id"], amount=amount, description="Damaged")
            assert (done["reversalOf"], done["operation"], done["description"]) == (
                entry["id"],
                "vault.parse",
                "Damaged",
            )
            return done["amount"], done["grantId"], done["balanceAfter"]

        assert await refund(owed, "2") == ("2", None, "-3")
        assert await refund(of_grant, "2") == ("2", given["id"], "-1")
        assert len((await billing.get("grants"))["data"]) == 1, "all of it was owed"
        assert await refund(of_grant, "1") == ("1", given["id"], "0")
        amount, grant_id, balance = await refund(owed, "3")
        assert (amount, balance) == ("3", "3")
        made, former = (await billing.get("grants"))["data"]
        assert (made["id"], made["source"], made["category"], made["priority"]) == (
            grant_id,
            "refund",
            "promotional",
            100,
        )
        assert (made["remaining"], former["remaining"], former["used"]) == ("3", "0", "3")
        assert await _faults(billing) == []


@pytest.mark.parametrize("expires", [True, False])
async def test_a_refund_that_pays_in_part_what_is_owed(open_billing: OpenBilling, expires: bool) -> None:
    """The rest is in the grant it came from, or where that has expired in one like it, of which the debt was used."""
    async with open_billing() as billing:
        await billing.do("plans", **_OWING)
        await billing.do("plans/current", code="owing")
        until = {"expiresAt": "2026-11-21T00:00:00Z"} if expires else {}
        given = await billing.do("grants", amount="3", category="paid", priority=7, **until)
        of_grant, _ = await billing.use("4")
        billing.api.clock.advance(DAY)
        refund = await billing.do("ledger/refund", id=of_grant["id"])
        assert (refund["amount"], refund["balanceAfter"]) == ("3", "2")
        newest = (await billing.get("grants"))["data"][0]
        assert (refund["grantId"], newest["remaining"], newest["used"]) == (newest["id"], "2", "1")
        assert (newest["category"], newest["priority"]) == ("paid", 7)
        assert (newest["id"] != given["id"], newest["amount"]) == (expires, "3")
        assert await _faults(billing) == []


async def test_imports_make_grants_of_their_kind(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        at = billing.wire_now()
        entries = [
            {"occurredAt": at, "type": "grant", "amount": "1", "description": "a"},
            {"occurredAt": at, "type": "purchase", "amount": "2", "externalId": "p"},
            {"occurredAt": at, "type": "purchase", "amount": "9", "externalId": "p"},
            {"occurredAt": at, "type": "adjustment", "amount": "4"},
            {"occurredAt": at, "type": "adjustment", "amount": "-1"},
            {"occurredAt": at, "type": "usage", "amount": "-1.5", "operation": "billing.importEntries"},
            {"occurredAt": at, "type": "usage", "amount": "-0.5", "operation": "tax.forward"},
        ]
        done = await billing.do("ledger/import", source="x", entries=entries)
        assert (done["added"], done["duplicates"]) == (6, 1)
        made = (await billing.get("grants"))["data"]
        assert [(one["source"], one["category"], one["amount"], one["description"]) for one in made] == [
            ("adjustment", "promotional", "4", None),
            ("purchase", "paid", "2", None),
            ("grant", "promotional", "1", "a"),
        ]
        used = (await billing.get("usage"))["totals"]["byOperation"]
        assert {name: one["credits"] for name, one in used.items()} == {
            "billing.importEntries": "1.5",
            "tax.forward": "0.5",
        }
        refused = {"occurredAt": at, "type": "adjustment", "amount": "1", "operation": "tax.forward"}
        reply = await billing.post("ledger/import", {"source": "x", "entries": [refused]})
        assert [one["path"] for one in reply.json()["errors"]] == ["entries[0].operation"]
        for amount, kind, told in (("1", "usage", "below"), ("-1", "grant", "above"), ("-1", "purchase", "above")):
            entry = {"occurredAt": at, "type": kind, "amount": amount}
            reply = await billing.post("ledger/import", {"source": "x", "entries": [entry]})
            assert [one["message"] for one in reply.json()["errors"]] == [f"Expected {told} 0 for {kind}."]
        for amount, kind in (("0", "grant"), ("-0", "usage"), ("0", "adjustment")):
            entry = {"occurredAt": at, "type": kind, "amount": amount}
            assert (await billing.post("ledger/import", {"source": "x", "entries": [entry]})).status == 422


async def test_imported_usage_may_be_owed_and_an_adjustment_not(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        await billing.do("plans", **_OWING)
        await billing.do("plans/current", code="owing")
        assert [one["balanceAfter"] for one in await billing.use("2")] == ["-2"]
        entry = {"occurredAt": billing.wire_now(), "type": "adjustment", "amount": "-1"}
        refused = await billing.post("ledger/import", {"source": "x", "entries": [entry]})
        assert (refused.status, refused.code) == (402, "insufficient_credits")
        assert (await billing.post("ledger/adjust", {"amount": "-1", "description": "x"})).status == 402
