"""An organization with credits: what tests do to it, and what they look at."""

from gatewayd.clock import HOUR, Instant
from gatewayd.ledger.credits import booking, charging, costs, entries, grants, plans
from gatewayd.ledger.credits.charging import Charge
from gatewayd.ledger.credits.entries import NewEntry
from gatewayd.ledger.credits.grants import NewGrant
from gatewayd.ledger.credits.shapes import ZERO, CostRow, EntryType, PlanLimits, PlanRow
from gatewayd.money import MICRO, Credits
from gatewayd.store import WriteTx
from tests.support.store import MemoryStore

ENTRIES = "SELECT type, amount, balance_after, grant_id FROM credit_entries WHERE org_id = :org_id ORDER BY sequence"


def plan(tx: WriteTx, **changed: object) -> PlanRow:
    """A plan that includes nothing and refuses what there are no credits for."""
    values: dict[str, object] = {
        "id": tx.new_id("plan"),
        "code": "metered",
        "name": "Metered",
        "description": None,
        "currency": "GBP",
        "price_monthly": None,
        "price_yearly": None,
        "included_credits": ZERO,
        "rollover": "none",
        "soft_limit": False,
        "features": {},
        "limits": PlanLimits(),
        "status": "active",
        "retired_at": None,
        "created_at": tx.now,
        "updated_at": tx.now,
        "version": 1,
    }
    return PlanRow(**{**values, **changed})  # type: ignore[arg-type]


class Purse:
    """One organization under a plan of its own. Credits are whole ones here."""

    def __init__(self, store: MemoryStore, **of_plan: object) -> None:
        self.store = store
        self.org_id = store.org()
        self.subscribe(**of_plan)

    def subscribe(self, **of_plan: object) -> PlanRow:
        def work(tx: WriteTx) -> PlanRow:
            made = plans.create(tx, plan(tx, **{"code": tx.new_id("code"), **of_plan}))
            booking.change_plan(tx, made)
            return made

        return self.store.write(work, self.org_id)

    def give(self, amount: int, **of_grant: object) -> str:
        def work(tx: WriteTx) -> str:
            grant = NewGrant(**{"source": "grant", "amount": amount * MICRO, **of_grant})  # type: ignore[arg-type]
            kind: EntryType = "purchase" if grant.source == "purchase" else "grant"
            return booking.give(tx, grant, NewEntry(type=kind, amount=grant.amount)).grant.id

        return self.store.write(work, self.org_id)

    def use(self, amount: int, operation_id: str, operation: str = "vault.parse") -> None:
        of_work = Charge(operation=operation, amount=amount * MICRO, operation_id=operation_id)
        self.store.write(lambda tx: charging.charge(tx, of_work), self.org_id)

    def hold(self, most: int, operation_id: str, seconds: int = 3600) -> str:
        until = Instant(self.store.now() + seconds * HOUR // 3600)
        return self.store.write(
            lambda tx: charging.hold(tx, "vault.parse", most * MICRO, operation_id, until), self.org_id
        )

    def settle(self, hold_id: str, actual: int) -> None:
        self.store.write(lambda tx: charging.settle(tx, hold_id, actual * MICRO), self.org_id)

    def release(self, hold_id: str) -> None:
        self.store.write(lambda tx: charging.release(tx, hold_id), self.org_id)

    def book(self) -> None:
        self.store.write(booking.book_due, self.org_id)

    def cost(self, operation: str, amount: int, unit: str = "call") -> None:
        def work(tx: WriteTx) -> None:
            costs.put(
                tx,
                CostRow(
                    operation=operation,
                    unit=unit,  # type: ignore[arg-type]
                    credits=Credits(amount * MICRO),
                    effective_from=tx.today,
                    effective_to=None,
                    description=None,
                ),
            )

        self.store.write(work, self.org_id)

    @property
    def ledger(self) -> list[tuple[str, int, int, str | None]]:
        """Type, amount, balance and grant of each entry."""
        rows = self.store.read(lambda tx: tx.rows(ENTRIES), self.org_id)
        return [(kind, amount // MICRO, after // MICRO, grant_id) for kind, amount, after, grant_id in rows]

    @property
    def balance(self) -> int:
        return self.store.read(entries.balance, self.org_id) // MICRO

    def left(self, grant_id: str) -> int:
        return self.store.read(lambda tx: grants.get(tx, grant_id), self.org_id).remaining // MICRO
