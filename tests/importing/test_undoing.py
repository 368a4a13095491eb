"""An import whose lines are allocated is undone with what they are for, where that may go."""

import datetime
import json
from typing import Any, NamedTuple

import pytest

from gatewayd.areas.accounting.clients.shapes import CreateClient
from gatewayd.areas.accounting.invoices.line_shapes import LineRequest
from gatewayd.areas.accounting.invoices.operations import create_invoice, record_payment
from gatewayd.areas.accounting.invoices.shapes import CreateInvoice, RecordPayment
from gatewayd.areas.banking.allocations.operations import allocate, match_transfer
from gatewayd.areas.banking.allocations.shapes import Allocate, AllocationPart, MatchTransfer
from gatewayd.areas.banking.imports.shapes import UndoStatement
from gatewayd.errors import Problem
from gatewayd.importing.bank import undoing
from gatewayd.importing.engine import Importing
from gatewayd.importing.operations import undo_import
from gatewayd.ledger.calendar import period_locks
from tests.importing.conftest import ORG, Bank, OpenBank
from tests.support.statement_files import line, statement
from tests.support.store import make_caller
from tests.support.wire import shown

MARCH = datetime.date(2026, 3, 1)
DRAWINGS = AllocationPart(category="not_pnl", purpose="drawings")
LINES = [line(2, "2026-03-02", -320, "COFFEE"), line(3, "2026-03-05", -50_000, "TO SAVINGS")]
_COUNT = "SELECT count(id) FROM allocations WHERE org_id = :org_id"


class Deps(NamedTuple):
    """What the operation is given."""

    importing: Importing


async def undo(bank: Bank, import_id: str, **values: bool) -> dict[str, Any]:
    request = UndoStatement(import_id=import_id, **values)
    found: dict[str, Any] = shown(await undo_import(Deps(bank.importing), make_caller(ORG), request))
    return found


async def left(bank: Bank) -> int:
    return int(await bank.store.read(lambda tx: tx.value(_COUNT), ORG))


async def allocated(bank: Bank, entity: str | None = None) -> tuple[str, str, str]:
    """An import with a line that is drawings, and one that is half of a transfer: the import and both accounts."""
    account = await bank.account(legal_entity_id=entity)
    savings = await bank.account(name="Savings", legal_entity_id=entity)
    run = await bank.bring(account, statement(LINES))
    await bank.bring(savings, statement([line(2, "2026-03-05", 50_000, "FROM CURRENT")]))
    ids = {one["description"]: one["id"] for one in await bank.listed(account)}
    (other,) = await bank.listed(savings)
    drawn = Allocate(bank_transaction_id=ids["COFFEE"], parts=[DRAWINGS])
    moved = MatchTransfer(bank_transaction_id=ids["TO SAVINGS"], counterpart_id=other["id"])
    await bank.store.write(lambda tx: allocate(tx, make_caller(ORG), drawn), ORG)
    await bank.store.write(lambda tx: match_transfer(tx, make_caller(ORG), moved), ORG)
    return run.id, account, savings


async def test_a_preview_tells_what_would_go(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        import_id, account, _ = await allocated(bank)
        told = await undo(bank, import_id, preview=True)
        assert (told["status"], told["undoing"]) == (
            "applied",
            {"transactions": 2, "putBack": 0, "allocations": 2, "kept": []},
        )
        assert (await left(bank), len(await bank.listed(account))) == (3, 2)


async def test_allocations_go_along_where_that_is_said(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        import_id, account, savings = await allocated(bank)
        with pytest.raises(Problem, match="are allocated"):
            await undo(bank, import_id)
        told = await undo(bank, import_id, remove_allocations=True)
        assert (told["status"], told["undoing"]["allocations"]) == ("reverted", 2)
        assert (await left(bank), await bank.listed(account)) == (0, [])
        (other,) = await bank.listed(savings)
        assert (other["unallocatedAmount"], other["allocations"]) == ("500.00", [])
        with pytest.raises(Problem, match="is reverted"):
            await undo(bank, import_id, preview=True)


async def test_a_payment_of_an_invoice_keeps_all_of_it(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        run = await bank.bring(account, statement([line(2, "2026-03-02", 12_000, "ASH AND CO")]))
        (paid,) = await bank.listed(account)
        sale = LineRequest(description="Work", quantity="1", unit_price="120.00")
        request = CreateInvoice(client=CreateClient(name="Ash & Co"), lines=[sale], issue_date=MARCH, status="issued")
        made = await bank.store.write(lambda tx: create_invoice(tx, make_caller(ORG), request), ORG)
        payment = RecordPayment(invoice_id=json.loads(made)["id"], bank_transaction_id=paid["id"])
        await bank.store.write(lambda tx: record_payment(tx, make_caller(ORG), payment), ORG)
        (kept,) = (await undo(bank, run.id, preview=True))["undoing"]["kept"]
        assert (kept["bankTransactionId"], "payment of the invoice" in kept["reason"]) == (paid["id"], True)
        with pytest.raises(Problem, match="payment of the invoice"):
            await undo(bank, run.id, remove_allocations=True)
        assert (await left(bank), len(await bank.listed(account))) == (1, 1)


async def test_a_closed_period_keeps_all_of_it(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        entity = await bank.entity()
        import_id, account, _ = await allocated(bank, entity)
        await bank.store.write(lambda tx: period_locks.close(tx, entity, "2026-03-01", "2026-03-03"), ORG)
        (kept,) = (await undo(bank, import_id, preview=True))["undoing"]["kept"]
        assert "closed" in kept["reason"]
        with pytest.raises(Problem) as caught:
            await undo(bank, import_id, remove_allocations=True)
        assert caught.value.code == "period_closed"
        assert (await left(bank), len(await bank.listed(account))) == (3, 2)


async def test_too_many_are_told(open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undoing, "REMOVED_AT_ONCE", 1)
    async with open_bank() as bank:
        import_id, account, _ = await allocated(bank)
        with pytest.raises(Problem, match="more than 1 allocations"):
            await undo(bank, import_id, remove_allocations=True)
        assert (await left(bank), len(await bank.listed(account))) == (3, 2)
