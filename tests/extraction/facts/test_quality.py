"""Facts are found in documents whose truth is known: as often, and as rarely wrong, as these floors say."""

from collections.abc import Mapping
from typing import Final

import pytest

from tests.extraction.facts import corpus, generated
from tests.extraction.facts.corpus import Document
from tests.extraction.facts.quality import Score, measure, table

_OF_WRITTEN: Final[Mapping[str, tuple[float, float]]] = {
    "kind": (0.97, 0.97),
    "date": (0.97, 0.94),
    "total": (0.95, 0.95),
    "currency": (0.95, 0.95),
    "counterparty": (0.97, 0.94),
    "vatNumber": (1.0, 0.9),
    "reference": (0.96, 0.93),
    "certificate.type": (1.0, 1.0),
    "certificate.issuedDate": (1.0, 0.93),
    "certificate.expiryDate": (1.0, 0.92),
    "certificate.result": (1.0, 0.8),
    "certificate.rating": (1.0, 1.0),
    "certificate.score": (1.0, 1.0),
    "certificate.postcode": (1.0, 0.85),
    "certificate.address": (1.0, 0.75),
    "certificate.issuerRegistration": (1.0, 0.66),
}
"""Precision and recall of each field. Of few documents, one may be missed; a wrong date, result or VAT number never."""
_OF_GENERATED: Final = (0.98, 0.98)


_OF_HELD_OUT: Final[Mapping[str, float]] = {
    "kind": 1.0,
    "date": 1.0,
    "total": 0.9,
    "currency": 0.9,
    "counterparty": 1.0,
    "vatNumber": 1.0,
    "reference": 1.0,
    "certificate.type": 1.0,
    "certificate.issuedDate": 1.0,
    "certificate.expiryDate": 0.88,
    "certificate.result": 1.0,
    "certificate.rating": 1.0,
    "certificate.score": 0.0,
    "certificate.postcode": 0.87,
}
"""Recall of each field in documents that no rule was made for: of some there are few."""


def _below(scores: Mapping[str, Score], floors: Mapping[str, tuple[float, float]]) -> list[str]:
    return [
        field
        for field, (precision, recall) in floors.items()
        if scores[field].precision < precision or scores[field].recall < recall
    ]


def test_documents_written_by_hand_are_understood() -> None:
    documents = corpus.written()
    assert len(documents) >= 67
    scores, mistakes = measure(documents)
    assert scores.keys() == _OF_WRITTEN.keys(), "a field without a floor could get worse unseen"
    assert not _below(scores, _OF_WRITTEN), f"\n{table(scores)}\n{mistakes}"


def test_documents_that_no_rule_was_made_for_are_not_misread() -> None:
    documents = corpus.held_out()
    assert len(documents) == 24
    scores, mistakes = measure(documents)
    floors = {field: (float(recall > 0), recall) for field, recall in _OF_HELD_OUT.items()}
    assert scores.keys() == floors.keys()
    assert not _below(scores, floors), f"\n{table(scores)}\n{mistakes}"


@pytest.mark.parametrize("seed", [20260401, 11, 4096])
def test_bills_in_many_layouts_are_understood(seed: int) -> None:
    scores, mistakes = measure(generated.bills(seed=seed))
    assert not _below(scores, dict.fromkeys(scores, _OF_GENERATED)), f"\n{table(scores)}\n{mistakes}"


@pytest.mark.parametrize("seed", [7, 12, 99])
def test_certificates_in_many_layouts_are_understood(seed: int) -> None:
    scores, mistakes = measure(generated.certificates(seed=seed))
    total = scores.pop("total")
    assert total == Score(0, 0, 0), "a certificate's number or fee was taken for money that is due"
    assert not _below(scores, dict.fromkeys(scores, _OF_GENERATED)), f"\n{table(scores)}\n{mistakes}"


def test_a_wrong_value_counts_against_precision_and_recall() -> None:
    true: dict[str, str | None] = {"kind": "receipt", "total": None, "reference": "A1"}
    scores, mistakes = measure(
        [Document("x", "INVOICE\nInvoice no: B-22\nInvoice date: 1 May 2026\nTotal £5.00", true)]
    )
    assert scores == {"kind": Score(0, 1, 1), "total": Score(0, 1, 0), "reference": Score(0, 1, 1)}
    assert len(mistakes) == 3
