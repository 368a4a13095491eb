"""The loan that a payment is of, where many are coded at once and where a rule is changed to it."""

from tests.areas.landlord.let_books import LetBooks
from tests.ledger.test_loan_payments import MONTHLY, WISH, books, loan

__all__ = ["books"]


def paid_by_debit(books: LetBooks) -> list[str]:
    """Two months' payments, as the bank shows them."""
    account = books.account(books.owner)
    dates = ("2025-05-06", "2025-06-06")
    return [books.line(account, -MONTHLY, date=date, description="DD BUILDING SOCIETY") for date in dates]


def amounts_of(books: LetBooks, line: str) -> list[str]:
    return [str(row.amount) for row in books.of_line(line)]


def test_a_rule_that_is_changed_to_a_loan_splits_its_payments(books: LetBooks) -> None:
    mortgage = loan(books)
    outcome = {"category": "premisesRunningCosts", "businessId": books.lets}
    rule = books.post("createRule", name="Loan", mode="apply", conditions={"text": "society"}, outcome=outcome)
    changed = books.post("updateRule", ruleId=rule["id"], outcome={**WISH, "mortgageId": mortgage})
    assert changed["outcome"]["mortgageId"] == mortgage
    first, second = paid_by_debit(books)
    books.post("applyRules")
    assert [amounts_of(books, line) for line in (first, second)] == [["500.00", "144.30"], ["499.28", "145.02"]]


def test_many_payments_of_a_loan_are_coded_at_once(books: LetBooks) -> None:
    mortgage = loan(books)
    lines = paid_by_debit(books)
    books.post("allocateMany", bankTransactionIds=lines, parts=[{**WISH, "mortgageId": mortgage}])
    assert [amounts_of(books, line) for line in lines] == [["500.00", "144.30"], ["499.28", "145.02"]]
