"""Whose a file is: what an account takes of it, what is refused, and how the accounts of one file are kept apart."""

import math
from typing import Any

import pytest
import trio

from gatewayd.areas.banking.accounts.operations import get_account_details, update_account
from gatewayd.areas.banking.accounts.shapes import CreateAccount, GetAccountDetails, UpdateAccount
from gatewayd.areas.banking.institutions import ListInstitutions, list_institutions
from gatewayd.errors import Problem
from gatewayd.importing.runs import Order
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.statements.shapes import Line, Part, Refused
from tests.importing.conftest import DEADLINE, ORG, Bank, OpenBank
from tests.support.statement_files import closed, file_of, line, opened, received, statement
from tests.support.store import make_caller
from tests.support.wire import shown

OURS = {"sort_code": "204500", "account_number": "31926819"}
THEIRS = {"sort_code": "601111", "account_number": "55779911"}
MARCH = [line(2, "2026-03-02", -320, "COSTA COFFEE 12"), line(4, "2026-03-05", 120000, "RENT FLAT 2")]


async def details(bank: Bank, account_id: str) -> dict[str, Any]:
    request = GetAccountDetails(account_id=account_id, full=True)
    told = await bank.store.read(lambda tx: get_account_details(tx, make_caller(ORG), request), ORG)
    found: dict[str, Any] = shown(told)
    return found


async def connected(bank: Bank) -> dict[str, list[str]]:
    """The banks that the list names as connected, with their accounts."""
    request = ListInstitutions(connected=True, limit=100)
    page = await bank.store.read(lambda tx: list_institutions(tx, make_caller(ORG), request), ORG)
    return {one["id"]: one["accountIds"] for one in shown(page)}


async def into_new(bank: Bank, content: bytes, name: str = "Current", **values: Any) -> ImportRunRow:
    given = {"file_name": "march.ofx", "format": None, "mapping": None, "preview": False, **values}
    order = Order(kind="bank", new_account=CreateAccount(name=name), **given)
    with trio.fail_after(DEADLINE):
        return await bank.importing.import_file(ORG, order, received(bank.directory, content))


def one_of(statement_: int, lines: list[Line], balances: tuple[int, int] | None = None, **values: Any) -> list[Part]:
    """A statement among others in a file."""
    own = [line(one.line, one.booking_date, one.amount, one.description, statement=statement_) for one in lines]
    opening, closing = balances or (None, None)
    return [opened(statement_, **values), *own, closed(own, opening, closing, statement=statement_)]


def balances(run: ImportRunRow) -> tuple[str, str, bool | None]:
    return str(run.opening_balance), str(run.closing_balance), run.balanced


# -- what an account takes


async def test_an_account_takes_what_its_first_file_says(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, statement(MARCH, **OURS, holder="Elm Farm Ltd", bic="BUKBGB22"))
        found = await details(bank, account)
        assert found["identifiers"] == {
            "sortCode": "204500",
            "accountNumber": "31926819",
            "iban": None,
            "bic": "BUKBGB22",
        }
        assert (found["holderName"], found["institutionName"], found["version"]) == ("Elm Farm Ltd", "Barclays", 1)
        assert await connected(bank) == {"inst_barclays": [account]}


async def test_what_a_person_said_stays(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account(institution_id="inst_tide", holder_name="A. Baker")
        await bank.bring(account, statement(MARCH, **OURS, holder="MR A BAKER"))
        found = await details(bank, account)
        assert (found["holderName"], found["institutionId"]) == ("A. Baker", "inst_tide")
        assert found["identifiers"]["accountNumber"] == "31926819"


async def test_an_account_of_which_no_file_tells_the_bank_is_listed_too(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, statement(MARCH))
        assert await connected(bank) == {"inst_other": [account]}
        await bank.bring(account, statement([line(9, "2026-03-09", -5)], profile="monzo"))
        assert await connected(bank) == {"inst_monzo": [account]}


async def test_a_preview_gives_the_account_nothing_until_it_is_applied(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        run = await bank.bring(account, statement(MARCH, **OURS), preview=True)
        assert (await details(bank, account))["identifiers"]["accountNumber"] is None
        await bank.importing.apply(ORG, run.id, "bank")
        assert (await details(bank, account))["identifiers"]["accountNumber"] == "31926819"


async def test_what_the_only_import_gave_goes_with_its_undoing(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        wrong = await bank.bring(account, statement(MARCH, **THEIRS))
        await bank.importing.undo(ORG, wrong.id, "bank")
        found = await details(bank, account)
        assert (found["identifiers"]["accountNumber"], found["institutionId"]) == (None, "inst_other")
        right = await bank.bring(account, statement(MARCH, **OURS))
        second = await bank.bring(account, statement([line(9, "2026-04-01", -5)], **OURS))
        await bank.importing.undo(ORG, right.id, "bank")
        assert (await details(bank, account))["identifiers"]["accountNumber"] == "31926819"
        assert second.status == "applied"


async def test_what_is_no_number_is_not_taken(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        odd = {"sort_code": "20450", "account_number": "£" * 40, "iban": "GB00XXXX", "bic": "nobic"}
        run = await bank.bring(account, statement(MARCH, **odd))
        assert (run.status, run.added) == ("applied", 2)
        assert set((await details(bank, account))["identifiers"].values()) == {None}


# -- a file of another account


@pytest.mark.parametrize("theirs", [THEIRS, {"iban": "GB29NWBK60161331926818"}, {**OURS, "account_number": "31926810"}])
async def test_a_file_of_another_account_is_refused(open_bank: OpenBank, theirs: dict[str, str]) -> None:
    async with open_bank() as bank:
        account = await bank.account(**OURS)
        with pytest.raises(Problem) as caught:
            await bank.bring(account, statement(MARCH, **theirs))
        assert [(one.path, one.code) for one in caught.value.errors] == [("accountId", "conflict")]
        assert "existingId" not in caught.value.extra
        assert await bank.listed(account) == []
        assert (await bank.run(str(caught.value.extra["importId"]))).status == "failed"


async def test_the_account_that_has_a_file_is_offered(open_bank: OpenBank) -> None:
    """The very line that is there already, of another account, is no duplicate and is not dropped."""
    async with open_bank() as bank:
        ours, theirs = await bank.account(), await bank.account()
        await bank.bring(ours, statement(MARCH, **OURS))
        await bank.bring(theirs, statement([line(9, "2026-04-01", -5)], **THEIRS))
        for account in (ours, await bank.account()):
            with pytest.raises(Problem) as caught:
                await bank.bring(account, statement(MARCH, **THEIRS))
            assert caught.value.extra["existingId"] == theirs
            assert theirs in caught.value.message
        run = await bank.bring(theirs, statement(MARCH, **THEIRS))
        assert (run.added, run.duplicates) == (2, 0)


async def test_a_file_in_another_currency_is_another_accounts(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        euros = [line(2, "2026-03-02", -320, currency="EUR")]
        with pytest.raises(Problem, match="in EUR, and the account in GBP"):
            await bank.bring(account, statement(euros, currency="EUR"))


async def test_two_accounts_cannot_take_one_number_at_once(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        first, second = await bank.account(), await bank.account()
        previews = [await bank.bring(one, statement(MARCH, **OURS), preview=True) for one in (first, second)]
        await bank.importing.apply(ORG, previews[0].id, "bank")
        with pytest.raises(Problem, match=f"import the file into {first}"):
            await bank.importing.apply(ORG, previews[1].id, "bank")
        assert ((await bank.run(previews[1].id)).status, await bank.listed(second)) == ("failed", [])


async def test_a_card_ending_like_a_number_is_another(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        current, card = await bank.account(**OURS), await bank.account(type="card")
        run = await bank.bring(card, statement(MARCH, account_number="************6819"))
        assert (run.added, (await details(bank, card))["identifiers"]["accountNumber"]) == (2, "************6819")
        assert await bank.listed(current) == []


# -- an account that is made for a file


async def test_the_same_file_makes_one_account(open_bank: OpenBank) -> None:
    async with open_bank(patience=math.inf) as bank:
        first = await into_new(bank, statement(MARCH))
        again = await into_new(bank, statement(MARCH))
        assert (again.id, again.account_id, again.added, again.duplicates) == (first.id, first.account_id, 0, 2)
        assert again.first_imported_at == first.applied_at
        assert await bank.leases() == []


async def test_another_file_of_an_account_that_is_there_makes_none(open_bank: OpenBank) -> None:
    async with open_bank(patience=math.inf) as bank:
        first = await into_new(bank, statement(MARCH, **OURS))
        with pytest.raises(Problem, match=f"import the file into {first.account_id}") as caught:
            await into_new(bank, statement([line(9, "2026-04-01", -5)], **OURS))
        assert (caught.value.code, caught.value.extra["existingId"]) == ("already_exists", first.account_id)
        assert await connected(bank) == {"inst_barclays": [first.account_id]}


# -- several accounts of one file


CURRENT = one_of(0, MARCH, (1000, 120680), account_name="Current")
SAVINGS = one_of(1, [line(3, "2026-03-03", 2500), line(7, "2026-03-07", -99)], (50, 2451), account_name="Savings")
FILE = file_of([*CURRENT, *SAVINGS, Refused(line=8, reason="it has no date", statement=1)])


async def test_only_the_rows_of_the_account_come_in_and_the_others_are_named(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account(**OURS)
        other = await bank.account(**THEIRS)
        parts = [*one_of(0, MARCH, (0, 119680), **OURS), *one_of(1, [line(7, "2026-03-07", -99)], (5, -94), **THEIRS)]
        run = await bank.bring(account, file_of(parts))
        assert (run.rows, run.added, run.ignored_rows, run.refused_rows, run.duplicates) == (3, 2, 1, 0, 0)
        assert [(one.kind, one.rows, one.first_line) for one in run.ignored] == [("other_account", 1, 7)]
        (named,) = run.other_accounts
        assert (named.account_number, named.rows, named.account_id) == ("****9911", 1, other)
        assert balances(run) == ("0.00", "1196.80", True)
        assert [(one["fromDate"]) for one in [(await details(bank, account))["coverage"]]] == ["2026-03-02"]


async def test_a_file_of_several_accounts_asks_which_is_meant(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        with pytest.raises(Problem) as caught:
            await bank.bring(account, FILE)
        assert [(one.path, one.code) for one in caught.value.errors] == [("ofAccount", "required")]
        assert "Current (GBP), Savings (GBP)" in caught.value.message
        with pytest.raises(Problem, match="no account Pocket: it is of Current"):
            await bank.bring(account, FILE, of_account="Pocket")
        run = await bank.bring(account, FILE, of_account="savings")
        assert (run.rows, run.added, run.ignored_rows, run.refused_rows) == (5, 2, 2, 1)
        assert balances(run) == ("0.50", "24.51", True)
        assert [(one.name, one.rows, one.account_id) for one in run.other_accounts] == [("Current", 2, None)]


async def test_which_account_it_was_is_remembered_and_goes_with_an_undoing(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        first = await bank.bring(account, FILE, of_account="Savings")
        april = [*one_of(0, [line(2, "2026-04-02", -7)], account_name="Current")]
        april += one_of(1, [line(3, "2026-04-03", 9)], account_name="Savings")
        run = await bank.bring(account, file_of(april))
        assert (run.added, run.ignored_rows, await bank.amounts(account)) == (1, 1, ["0.09", "-0.99", "25.00"])
        with pytest.raises(Problem, match=r"of Current \(GBP\), and the account's were of Savings"):
            await bank.bring(account, file_of(one_of(0, MARCH, account_name="Current")))
        for one in (run, first):
            await bank.importing.undo(ORG, one.id, "bank")
        assert (await bank.bring(account, file_of(one_of(0, MARCH, account_name="Current")))).added == 2


@pytest.mark.parametrize("order", [(CURRENT, SAVINGS), (SAVINGS, CURRENT)])
async def test_an_account_of_the_same_name_is_meant(open_bank: OpenBank, order: tuple[list[Part], list[Part]]) -> None:
    async with open_bank() as bank:
        account = await bank.account(name="Savings")
        run = await bank.bring(account, file_of([*order[0], *order[1]]))
        assert (run.added, [one.name for one in run.other_accounts]) == (2, ["Current"])
        assert await bank.amounts(account) == ["-0.99", "25.00"]


async def test_each_account_of_a_file_gets_one_of_its_own(open_bank: OpenBank) -> None:
    async with open_bank(patience=math.inf) as bank:
        made = [await into_new(bank, FILE, name, of_account=name) for name in ("Current", "Savings")]
        assert made[0].account_id != made[1].account_id
        again = await into_new(bank, FILE, "Savings", of_account="Savings")
        assert (again.account_id, again.added) == (made[1].account_id, 0)
        third = await bank.bring(await bank.account(), FILE, of_account="Current")
        assert [one.account_id for one in third.other_accounts] == [made[1].account_id]


async def test_statements_of_one_account_are_taken_together(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        days = [one_of(day, [line(day, f"2026-03-0{day}", -day)], **OURS) for day in (1, 2, 3)]
        run = await bank.bring(account, file_of([part for day in days for part in day]))
        assert (run.added, run.other_accounts) == (3, [])


async def test_an_account_whose_number_changes_takes_its_files(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account(**THEIRS)
        request = UpdateAccount(account_id=account, sort_code="20-45-00", account_number="31926819")
        await bank.store.write(lambda tx: update_account(tx, make_caller(ORG), request), ORG)
        assert (await bank.bring(account, statement(MARCH, **OURS))).added == 2
