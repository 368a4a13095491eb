"""How well facts are found: precision and recall of each field over documents whose truth is known."""

import datetime
import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from gatewayd.extraction.facts import find_facts
from tests.extraction.facts.corpus import Document

TODAY = datetime.date(2026, 6, 30)


class Score(NamedTuple):
    """Of one field: how many values were found as they are, found wrongly, and not found."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.right + self.missed, 1)


class Mistake(NamedTuple):
    document: str
    field: str
    true: str | None
    found: str | None


def measure(documents: Iterable[Document]) -> tuple[dict[str, Score], list[Mistake]]:
    """The score of each field, and what was wrong. A wrong value of a field that has one was missed too."""
    counts: dict[str, list[int]] = {}
    mistakes = []
    for document in documents:
        found = facts_of(document)
        for field, true in document.truth.items():
            value, count = found.get(field), counts.setdefault(field, [0, 0, 0])
            if true is None and value is None:
                continue
            is_right = true is not None and value is not None and _same(field, value, true)
            count[0] += is_right
            count[1] += value is not None and not is_right
            count[2] += true is not None and not is_right
            if not is_right:
                mistakes.append(Mistake(document.name, field, true, value))
    return {field: Score(*count) for field, count in counts.items()}, mistakes


def facts_of(document: Document) -> dict[str, str | None]:
    """The facts of a document by the names that truth has for them."""
    facts = msgspec.to_builtins(find_facts([document.text], f"{document.name}.pdf", TODAY))
    certificate = facts.pop("certificate") or {}
    flat = {**facts, **{f"certificate.{name}": value for name, value in certificate.items()}}
    return {_camel(name): None if value is None else str(value) for name, value in flat.items()}


def table(scores: dict[str, Score]) -> str:
    """The scores in lines."""
    head = f"{'field':<32}{'precision':>10}{'recall':>8}{'right':>7}{'wrong':>7}{'missed':>8}"
    lines = [
        f"{name:<32}{s.precision:>10.3f}{s.recall:>8.3f}{s.right:>7}{s.wrong:>7}{s.missed:>8}"
        for name, s in scores.items()
    ]
    return "\n".join([head, *lines])


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def _same(field: str, found: str, true: str) -> bool:
    """Whether a value is the true one: names and addresses by their words, the others as they are."""
    if field in ("counterparty", "certificate.address"):
        return re.findall(r"\w+", found.lower()) == re.findall(r"\w+", true.lower())
    return found == true
