"""Bank accounts and institutions: what is kept of them, what is shown, and what is refused."""

from typing import Any

import pytest

from gatewayd.areas.banking.accounts.operations import (
    create_account,
    get_account_details,
    list_accounts,
    update_account,
)
from gatewayd.areas.banking.accounts.shapes import (
    BankAccount,
    CreateAccount,
    GetAccountDetails,
    GivenIdentifiers,
    ListAccounts,
    UpdateAccount,
)
from gatewayd.areas.banking.institutions import BANKS, Institution, ListInstitutions, list_institutions
from gatewayd.contract.pages import Listing
from gatewayd.errors import Problem
from gatewayd.ledger import references
from gatewayd.statements.csv.plan import bank_profiles
from tests.areas.accounting.books import Books
from tests.support.store import MemoryStore, make_caller
from tests.support.wire import shown

_ADD_LINE = """
INSERT INTO bank_transactions (id, org_id, account_id, date, amount, allocated, currency, status, booking_date,
    description, raw_description, type, source, fingerprint, match_key, search_text, created_at, updated_at, version)
VALUES ('btx_1', :org_id, :account_id, '2026-03-01', 100, :allocated, 'GBP', 'booked', '2026-03-01', '', '', 'other',
    'import', '', '', '', :now, :now, 1)
"""


class Accounts:
    """One organization's accounts."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.books = Books(store)
        self.org_id = self.books.org_id

    def make(self, **values: Any) -> BankAccount:
        request = CreateAccount(**{"name": "Current account", **values})
        return self.store.write(lambda tx: create_account(tx, make_caller(self.org_id), request), self.org_id)

    def change(self, account_id: str, **values: Any) -> BankAccount:
        request = UpdateAccount(account_id=account_id, **values)
        return self.store.write(lambda tx: update_account(tx, make_caller(self.org_id), request), self.org_id)

    def get(self, account_id: str, org_id: str | None = None, *, full: bool = False) -> BankAccount:
        request, org = GetAccountDetails(account_id=account_id, full=full), org_id or self.org_id
        return self.store.read(lambda tx: get_account_details(tx, make_caller(org), request), org)

    def listed(self, **filters: Any) -> list[dict[str, Any]]:
        request = ListAccounts(**filters)
        page = self.store.read(lambda tx: list_accounts(tx, make_caller(self.org_id), request), self.org_id)
        return shown(page)

    def add_line(self, account_id: str, allocated: int = 0) -> None:
        self.store.write(lambda tx: tx.run(_ADD_LINE, account_id=account_id, allocated=allocated), self.org_id)


@pytest.fixture
def accounts(store: MemoryStore) -> Accounts:
    return Accounts(store)


def refused(problem: "pytest.ExceptionInfo[Problem]") -> list[tuple[str, str]]:
    assert problem.value.code == "validation_failed"
    return [(error.path, error.code) for error in problem.value.errors]


def test_a_new_account_is_answered_whole(accounts: Accounts) -> None:
    made = accounts.make(
        institution_id="inst_monzo",
        sort_code="04-00-04",
        account_number="31926819",
        iban="GB29 NWBK 6016 1331 9268 19",
        bic="MONZGB2L",
        overdraft_limit="500.00",
        external_id="acc-1",
    )
    told = shown(made)
    assert told["identifiers"] == {
        "sortCode": "040004",
        "accountNumber": "****6819",
        "iban": "******************6819",
        "bic": "MONZGB2L",
    }
    assert (told["institutionName"], told["overdraftLimit"], told["status"]) == ("Monzo", "500.00", "active")
    assert told["coverage"] == {"fromDate": None, "toDate": None, "gaps": []}
    assert (told["balances"], told["lastImportId"], told["version"]) == ([], None, 1)
    assert made.id.startswith("bac_")
    whole = shown(accounts.get(made.id, full=True))["identifiers"]
    assert (whole["accountNumber"], whole["iban"]) == ("31926819", "GB29NWBK60161331926819")


def test_an_account_is_at_the_bank_of_its_numbers_where_it_names_none(accounts: Accounts) -> None:
    made = accounts.make(sort_code="20-45-00", account_number="31926819")
    assert shown(made)["institutionName"] == "Barclays"
    assert shown(accounts.make())["institutionId"] == "inst_other"
    assert shown(accounts.make(institution_id="inst_tide", sort_code="20-45-00"))["institutionName"] == "Tide"


def test_lists_show_no_whole_number(accounts: Accounts) -> None:
    made = accounts.make(sort_code="040004", account_number="31926819")
    (listed,) = accounts.listed()
    assert (listed["id"], listed["identifiers"]["accountNumber"]) == (made.id, "****6819")
    assert accounts.listed(status="closed") == []


def test_another_organizations_account_is_not_found(accounts: Accounts, store: MemoryStore) -> None:
    made = accounts.make()
    with pytest.raises(Problem) as caught:
        accounts.get(made.id, store.org())
    assert caught.value.code == "not_found"


@pytest.mark.parametrize(
    ("values", "path", "code"),
    [
        ({"iban": "GB29NWBK60161331926818"}, "iban", "invalid_format"),
        ({"bic": "XXXXXX99"}, "bic", "invalid_format"),
        ({"institution_id": "inst_nowhere"}, "institutionId", "unknown_reference"),
        ({"legal_entity_id": "ent_1"}, "legalEntityId", "unknown_reference"),
        ({"business_ids": ["biz_1"]}, "businessIds[0]", "unknown_reference"),
        ({"overdraft_limit": "-1"}, "overdraftLimit", "out_of_range"),
        ({"overdraft_limit": "1.005"}, "overdraftLimit", "invalid_decimal"),
        ({"account_number": "- - -1"}, "accountNumber", "invalid_format"),
    ],
)
def test_what_a_new_account_may_not_be(accounts: Accounts, values: dict[str, Any], path: str, code: str) -> None:
    with pytest.raises(Problem) as caught:
        accounts.make(**values)
    assert refused(caught) == [(path, code)]


def test_an_account_is_of_the_legal_entity_of_its_businesses(accounts: Accounts) -> None:
    entity, other = accounts.books.entity(), accounts.books.entity(vatNumber=None, vat=None)
    business, theirs = accounts.books.business(entity), accounts.books.business(other)
    assert accounts.make(business_ids=[business]).legal_entity_id == entity
    with pytest.raises(Problem) as caught:
        accounts.make(business_ids=[business, theirs, business])
    assert refused(caught) == [("businessIds[1]", "conflict"), ("businessIds[2]", "conflict")]


def test_an_open_account_is_there_once(accounts: Accounts) -> None:
    first = accounts.make(sort_code="204500", account_number="31926819")
    with pytest.raises(Problem) as caught:
        accounts.make(sort_code="20-45-00", account_number="3192 6819")
    assert (caught.value.code, caught.value.extra["existingId"]) == ("already_exists", first.id)
    accounts.change(first.id, status="closed")
    second = accounts.make(sort_code="204500", account_number="31926819")
    with pytest.raises(Problem) as caught:
        accounts.change(first.id, status="active")
    assert caught.value.extra["existingId"] == second.id


def test_the_currency_is_fixed_once_there_are_transactions(accounts: Accounts) -> None:
    made = accounts.make()
    assert accounts.change(made.id, currency="EUR").currency == "EUR"
    accounts.change(made.id, currency="GBP")
    accounts.add_line(made.id)
    with pytest.raises(Problem) as caught:
        accounts.change(made.id, currency="EUR")
    assert caught.value.code == "invalid_state"


def test_the_legal_entity_is_fixed_once_anything_is_allocated(accounts: Accounts) -> None:
    entity, other = accounts.books.entity(), accounts.books.entity(vatNumber=None, vat=None)
    made, free = accounts.make(legal_entity_id=entity), accounts.make(legal_entity_id=entity)
    accounts.add_line(made.id, allocated=100)
    with pytest.raises(Problem) as caught:
        accounts.change(made.id, legal_entity_id=other)
    assert caught.value.code == "invalid_state"
    assert accounts.change(free.id, legal_entity_id=other).legal_entity_id == other


def test_an_account_is_changed_at_the_version_that_was_seen(accounts: Accounts) -> None:
    made = accounts.make()
    changed = accounts.change(made.id, nickname="Tax", expected_version=1)
    assert (changed.nickname, changed.version) == ("Tax", 2)
    with pytest.raises(Problem) as caught:
        accounts.change(made.id, nickname=None, expected_version=1)
    assert caught.value.code == "version_conflict"


def test_businesses_and_invoices_may_name_an_account(accounts: Accounts) -> None:
    made = accounts.make()
    assert accounts.store.read(lambda tx: references.exists(tx, "bank_account", made.id), accounts.org_id)
    assert not accounts.store.read(lambda tx: references.exists(tx, "bank_account", made.id), accounts.store.org())


# -- institutions


def institutions(accounts: Accounts, **filters: Any) -> list[dict[str, Any]]:
    request = ListInstitutions(**filters)
    listed: list[dict[str, Any]] = shown(institutions_page(accounts, request))
    return listed


def institutions_page(accounts: Accounts, request: ListInstitutions) -> Listing[Institution]:
    return accounts.store.read(lambda tx: list_institutions(tx, make_caller(accounts.org_id), request), accounts.org_id)


def test_a_bank_is_connected_where_an_open_account_names_it(accounts: Accounts) -> None:
    made = accounts.make(institution_id="inst_monzo")
    (monzo,) = institutions(accounts, connected=True)
    assert (monzo["id"], monzo["accountIds"], monzo["bic"]) == ("inst_monzo", [made.id], "MONZGB2L")
    assert "csv:monzo" in monzo["importFormats"]
    assert len(institutions(accounts, connected=False)) == len(BANKS) - 1
    accounts.change(made.id, status="closed")
    assert institutions(accounts, connected=True) == []


def test_a_bank_names_profiles_that_are_read() -> None:
    known = {profile.name for profile in bank_profiles()}
    assert {profile for bank in BANKS for profile in bank.profiles} <= known


def test_banks_are_found_by_name_and_code(accounts: Accounts) -> None:
    assert [one["id"] for one in institutions(accounts, q="STARLING")] == ["inst_starling"]
    assert [one["id"] for one in institutions(accounts, q="srlggb3l")] == ["inst_starling"]
    assert institutions(accounts, country="FR") == []
    assert [one["name"].casefold() for one in institutions(accounts)] == sorted(
        (one["name"].casefold() for one in institutions(accounts)), key=lambda name: name.removeprefix("the ")
    )


def test_banks_come_page_by_page_in_the_same_order(accounts: Accounts) -> None:
    seen, request = [], ListInstitutions(limit=4)
    while True:
        page = institutions_page(accounts, request)
        seen.append([one["id"] for one in shown(page)])
        if page.next_cursor is None:
            break
        request = ListInstitutions(limit=4, cursor=page.next_cursor)
    assert [len(ids) for ids in seen] == [4, 4, 4, 4, 4, 4, 1]
    assert [id_ for ids in seen for id_ in ids] == [bank.id for bank in BANKS]
    other = ListInstitutions(
        limit=4, cursor=institutions_page(accounts, ListInstitutions(limit=4)).next_cursor, q="bank"
    )
    with pytest.raises(Problem) as caught:
        institutions_page(accounts, other)
    assert caught.value.code == "invalid_cursor"


def test_identifiers_are_written_as_they_are_read(accounts: Accounts) -> None:
    """A number of which only the end was shown stays when it comes back."""
    made = accounts.make(identifiers=GivenIdentifiers(sort_code="20-45-00", account_number="31926819"))
    assert (made.identifiers.sort_code, made.identifiers.account_number) == ("204500", "****6819")
    back = GivenIdentifiers(sort_code="204501", account_number=made.identifiers.account_number)
    accounts.change(made.id, identifiers=back)
    whole = accounts.get(made.id, full=True).identifiers
    assert (whole.sort_code, whole.account_number) == ("204501", "31926819")
    accounts.change(made.id, identifiers=GivenIdentifiers(account_number=None))
    assert accounts.get(made.id, full=True).identifiers.account_number is None


def test_identifiers_say_what_is_said_beside_them(accounts: Accounts) -> None:
    with pytest.raises(Problem) as problem:
        accounts.make(sort_code="204500", identifiers=GivenIdentifiers(sort_code="204501"))
    assert refused(problem) == [("identifiers.sortCode", "conflict")]
