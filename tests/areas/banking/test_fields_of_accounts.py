"""Each field of a bank account: kept as it was given, changed alone, and what lists leave out by it."""

import pytest

from gatewayd.clock import DAY
from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.banking.lines import BankedBooks
from tests.areas.changes import expect_change
from tests.support.store import MemoryStore

SINCE = "updatedSince=2026-11-21T00:00:00Z"
WHOLE = {
    "name": "Euros",
    "nickname": "The jar",
    "holderName": "Ann Oak",
    "type": "savings",
    "usage": "personal",
    "currency": "EUR",
    "externalId": "acc-1",
    "overdraftLimit": "500.00",
}
CHANGES: dict[str, object] = {
    "name": "Pounds",
    "nickname": None,
    "holderName": "Bob Oak",
    "type": "loan",
    "usage": "business",
    "externalId": "acc-2",
    "overdraftLimit": "750.00",
}
GERMAN, BRITISH = "DE89370400440532013000", "GB29NWBK60161331926819"


@pytest.fixture
def books(store: MemoryStore) -> BankedBooks:
    return BankedBooks(store)


def whole_identifiers(books: BankedBooks, account_id: str) -> dict[str, str | None]:
    found: dict[str, str | None] = books.one("getAccountDetails", f"accountId={account_id}&full=true")["identifiers"]
    return found


def test_an_account_is_kept_as_it_was_given(books: BankedBooks) -> None:
    made = books.post("createAccount", **WHOLE)
    assert {name: made[name] for name in WHOLE} == WHOLE
    assert books.one("getAccountDetails", f"accountId={made['id']}") == made


@pytest.mark.parametrize("name", CHANGES)
def test_a_field_changes_alone(books: BankedBooks, name: str) -> None:
    before = books.post("createAccount", **WHOLE)
    after = books.post("updateAccount", accountId=before["id"], **{name: CHANGES[name]})
    expect_change(before, after, **{name: CHANGES[name]})


@pytest.mark.parametrize("inside", [False, True])
def test_each_identifier_is_kept_and_changed(books: BankedBooks, inside: bool) -> None:
    def given(**fields: object) -> dict[str, object]:
        return {"identifiers": fields} if inside else fields

    first = {"sortCode": "040004", "accountNumber": "31926819", "iban": BRITISH, "bic": "MONZGB2L"}
    made = books.post("createAccount", name="Current", **given(**first))
    assert whole_identifiers(books, made["id"]) == first
    second = {"sortCode": "200415", "accountNumber": "38290008", "iban": GERMAN, "bic": "COBADEFFXXX"}
    books.post("updateAccount", accountId=made["id"], **given(**second))
    assert whole_identifiers(books, made["id"]) == second
    books.post("updateAccount", accountId=made["id"], **given(iban=None, bic=None))
    assert whole_identifiers(books, made["id"]) == {**second, "iban": None, "bic": None}


@pytest.mark.parametrize("inside", [False, True])
def test_an_iban_has_check_digits(books: BankedBooks, inside: bool) -> None:
    given = {"iban": GERMAN.replace("89", "88")}
    with pytest.raises(Problem) as caught:
        books.post("createAccount", name="Current", **({"identifiers": given} if inside else given))
    ((path, code),) = fields_of(caught.value)
    assert (path.rpartition(".")[2], code) == ("iban", "invalid_format")


def test_another_bank_and_other_businesses(books: BankedBooks) -> None:
    owner = books.entity()
    first, second = books.business(owner), books.business(owner)
    made = books.post("createAccount", name="Current", institutionId="inst_monzo", businessIds=[first])
    after = books.post(
        "updateAccount", accountId=made["id"], institutionId="inst_starling", businessIds=[second, first]
    )
    assert (made["institutionName"], after["institutionName"]) == ("Monzo", "Starling Bank")
    assert set(after["businessIds"]) == {first, second}
    for name, value in (("institutionId", "inst_none"), ("businessIds", ["biz_1"])):
        with pytest.raises(Problem) as caught:
            books.post("updateAccount", accountId=made["id"], **{name: value})
        assert fields_of(caught.value)[0][0].startswith(name)


def test_each_filter_leaves_out_the_others(books: BankedBooks) -> None:
    owner = books.entity()
    one = books.post("createAccount", name="A", legalEntityId=owner, institutionId="inst_monzo", externalId="acc-1")
    books.post(
        "createAccount",
        name="B",
        legalEntityId=books.unregistered_entity(),
        institutionId="inst_starling",
        externalId="acc-2",
    )
    for query in (f"legalEntityId={owner}", "institutionId=inst_monzo", "externalId=acc-1"):
        assert books.get("listAccounts", query) == ([one], None)
    assert books.get("listAccounts", "institutionId=inst_barclays")[0] == []


def test_accounts_come_page_by_page_and_by_what_changed(books: BankedBooks) -> None:
    made = [books.post("createAccount", name=f"Account {n}")["id"] for n in range(3)]
    page, cursor = books.get("listAccounts", "limit=2")
    assert (len(page), cursor is not None) == (2, True)
    assert [one["id"] for one in books.walk("listAccounts", "limit=2")] == made[::-1]
    assert books.get("listAccounts", SINCE)[0] == []
    books.store.clock.advance(DAY)
    changed = books.post("updateAccount", accountId=made[0], nickname="First")
    assert books.get("listAccounts", SINCE) == ([changed], None)
