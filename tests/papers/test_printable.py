"""Which letters papers print, as the compiler says, and who is told of the others."""

from itertools import pairwise

import pytest

from gatewayd.areas.accounting.invoices.printable import RANGES, unprintable
from gatewayd.papers import cii
from gatewayd.papers.orders import Order, Set
from gatewayd.papers.typesetting import Typesetter
from tests.areas.accounting.books import Books
from tests.papers.samples import paper


def is_archival(typesetter: Typesetter, notes: str) -> bool:
    """Whether a paper with such notes has a glyph for each character, and so its electronic invoice with it."""
    told = paper(notes=notes)
    answer = typesetter.answer(Order(paper=told, xml=cii.write(told)))
    assert isinstance(answer, Set)
    return answer.is_archival


def test_the_letters_of_all_ranges_have_a_glyph(typesetter: Typesetter) -> None:
    ends = [chr(code) for first, last in RANGES for code in (first, (first + last) // 2, last)]
    assert is_archival(typesetter, "\n".join(letter for letter in ends if letter.isalpha()))
    assert [first for first, _ in RANGES] == sorted(first for first, _ in RANGES)


@pytest.mark.parametrize(("first", "last"), [*pairwise(RANGES)][::8])
def test_between_ranges_no_letter_has_one(
    typesetter: Typesetter, first: tuple[int, int], last: tuple[int, int]
) -> None:
    between = [chr(code) for code in range(first[1] + 1, last[0]) if chr(code).isalpha()]
    assert between
    assert not is_archival(typesetter, between[0])
    assert unprintable(between) == "".join(between)


@pytest.mark.parametrize("text", ["李明", "한국", "ไทย", "தமிழ்"])
def test_scripts_without_a_font_are_told(typesetter: Typesetter, text: str) -> None:
    assert unprintable([text])
    assert not is_archival(typesetter, text)


@pytest.mark.parametrize("text", ["Zoë Łódź", "Ελλάδα", "Привет", "שלום", "हिन्दी", "ქართული"])
def test_scripts_with_a_font_are_not(typesetter: Typesetter, text: str) -> None:
    assert unprintable([text, None]) == ""
    assert is_archival(typesetter, text)


def test_who_issues_an_invoice_is_told_of_letters_that_it_cannot_print(registered: Books) -> None:
    client = registered.client("李明 Ltd")
    line = {"description": "Tea, 茶", "unitPrice": "10.00"}
    made = registered.invoice(clientId=client, lines=[line], notes="Zoë")
    assert [(warning["path"], warning["code"]) for warning in made["warnings"]] == [
        ("clientSnapshot", "letters_unprintable"),
        ("lines", "letters_unprintable"),
    ]
    assert "李, 明" in made["warnings"][0]["message"]
    draft = registered.invoice(clientId=client, lines=[line], status="draft")
    assert "warnings" not in draft
    assert [warning["path"] for warning in registered.post("issueInvoice", invoiceId=draft["id"])["warnings"]] == [
        "clientSnapshot",
        "lines",
    ]
    assert "warnings" not in registered.invoice(clientId=registered.client("Zoë"), notes="Ελλάδα")
