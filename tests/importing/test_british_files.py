"""A British CSV comes into an account in pounds without a question, and what was supposed is told."""

from tests.importing.conftest import Bank, OpenBank
from tests.importing.test_remembered_columns import read_here

BARE = b'03/04/26,TIMBER,"-1,040.00"\n05/04/26,SALE,1250.00\n'
CARD = b"Date,Description,Amount\n13/04/2026,Timber,40.00\n14/04/2026,PAYMENT RECEIVED,-50.00\n15/04/2026,Cafe,5.00\n"


async def moved(bank: Bank, account: str) -> list[tuple[str, str]]:
    return [(one["bookingDate"], one["amount"]) for one in await bank.listed(account)]


async def test_a_file_without_headings_comes_in_and_tells_what_was_supposed(open_bank: OpenBank) -> None:
    async with open_bank(read_here) as bank:
        account = await bank.account()
        run = await bank.bring(account, BARE)
        assert (run.status, run.added, run.refused_rows) == ("applied", 2, 0)
        assert await moved(bank, account) == [("2026-04-05", "1250.00"), ("2026-04-03", "-1040.00")]
        assert [(one.field, one.value) for one in run.supposed] == [("dateFormat", "dd/mm/yyyy"), ("columns", "")]


async def test_an_account_in_euros_is_asked(open_bank: OpenBank) -> None:
    async with open_bank(read_here) as bank:
        asked = await bank.bring(await bank.account(currency="EUR"), BARE)
        assert asked.proposal is not None
        assert {doubt.field for doubt in asked.proposal.doubts} == {"dateFormat", "columns"}


async def test_a_card_is_read_as_cards_write(open_bank: OpenBank) -> None:
    async with open_bank(read_here) as bank:
        card = await bank.account(type="card")
        run = await bank.bring(card, CARD)
        assert (run.status, [(one.field, one.value) for one in run.supposed]) == ("applied", [("negate", "true")])
        assert [amount for _, amount in await moved(bank, card)] == ["-5.00", "50.00", "-40.00"]


async def test_an_answer_is_enough_and_holds_for_the_next_file(open_bank: OpenBank) -> None:
    async with open_bank(read_here) as bank:
        account = await bank.account()
        assert (await bank.bring(account, CARD)).status == "uploaded"
        run = await bank.bring(account, CARD, negate=True)
        assert (run.status, run.supposed) == ("applied", [])
        assert [amount for _, amount in await moved(bank, account)] == ["-5.00", "50.00", "-40.00"]
        following = await bank.bring(account, CARD.replace(b"/04/", b"/05/"))
        assert (following.status, following.added) == ("applied", 3)
        assert [amount for _, amount in await moved(bank, account)][:3] == ["-5.00", "50.00", "-40.00"]


async def test_the_last_closing_balance_decides_the_sign_of_one_row(open_bank: OpenBank) -> None:
    head = b"Date,Details,Amount,Balance\n"
    async with open_bank(read_here) as bank:
        account = await bank.account()
        await bank.bring(account, head + b"13/04/2026,A,-5.00,95.00\n14/04/2026,B,5.00,100.00\n")
        await bank.bring(account, head + b"15/04/2026,Cafe,20.00,80.00\n")
        assert (await moved(bank, account))[0] == ("2026-04-15", "-20.00")


async def test_balances_that_are_there_are_never_without_an_answer(open_bank: OpenBank) -> None:
    """Whether they add up is told, where rows are missing too: 95.00 and -1.00 are not 80.00."""
    head = b"Date,Details,Amount,Balance\n"
    async with open_bank(read_here) as bank:
        good = await bank.bring(await bank.account(), head + b"13/04/2026,A,-5.00,95.00\n14/04/2026,B,-1.00,94.00\n")
        bad = await bank.bring(await bank.account(), head + b"13/04/2026,A,-5.00,95.00\n14/04/2026,B,-1.00,80.00\n")
        assert (good.balanced, bad.balanced) == (True, False)
