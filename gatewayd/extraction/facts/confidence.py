"""How far facts are to be trusted (Domain B7). Pure.

    0.4 x how much speaks for the kind, from 0 to 1
    0.6 x the share of what a document of the kind has that was found, each by its weight

More that is found never makes it less. A date counts for half where no label says what it is the date of, and a total
where nothing but the word total, or less, names it and net and VAT don't come to it. It is no probability: it orders
documents by how much a person has to look at them.
"""

from collections.abc import Mapping
from typing import Final

from gatewayd.extraction.shapes import DocumentKind

KIND_SHARE, FACTS_SHARE = 0.4, 0.6  # Chosen
_WEIGHTS: Final[Mapping[DocumentKind, Mapping[str, int]]] = {
    "invoice": {"date": 2, "total": 3, "counterparty": 2, "reference": 2, "vat_number": 1},
    "receipt": {"date": 2, "total": 4, "counterparty": 2},
    "bank_statement": {"date": 1, "counterparty": 1, "reference": 2},
    "certificate": {"date": 3, "expiry": 2, "reference": 1, "counterparty": 1, "postcode": 3},
    "contract": {"date": 1, "counterparty": 1},
    "letter": {"date": 2, "counterparty": 2, "reference": 1},
}
"""What a document of each kind has, and how much it matters. `other` has nothing, and a confidence of 0."""


def confidence(kind: DocumentKind, strength: float, sureness: Mapping[str, float]) -> float:
    """From 0 to 1, with two decimals. `found`: for each fact how sure it is, from 0 (not found) to 1."""
    weights = _WEIGHTS.get(kind)
    if weights is None:
        return 0.0
    share = sum(weight * sureness.get(name, 0.0) for name, weight in weights.items()) / sum(weights.values())
    return round(KIND_SHARE * strength + FACTS_SHARE * share, 2)
