"""The number by which a document calls itself. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from gatewayd.extraction.facts.amounts import without_money
from gatewayd.extraction.facts.dates import without_dates
from gatewayd.extraction.facts.identifiers import taxpayer_reference
from gatewayd.extraction.facts.labelled import Labels, Value, labelled
from gatewayd.extraction.facts.lines import Line
from gatewayd.extraction.shapes import DocumentKind

_NO = (
    r"(?:\s?(?:n[o0](?:\.|\b)|n°|num(?:ber|\.)?|nr\.?|[#]|ref(?:erence)?(?:\s?(?:no\.?|number))?|id|code"
    r"|serial\s?(?:no\.?|number)?))"
)
_LABELS = re.compile(
    rf"""(?<![a-z])(?:
    (?P<invoice>(?:[il1]nv[o0][il1]ce|bill|debit\snote|(?<!\w)inv\.?)(?:{_NO}|\s?:(?=\s?[\w/.-]*\d)))
    |(?P<heading>[il1]nv[o0][il1]ce(?=\s+[A-Z]{{0,4}}[-/]?[0-9]))
    |(?P<document>doc(?:ument|\.)?{_NO})
    |(?P<receipt>(?:rece[il1]pt|transaction|txn|sale|trans|ticket|payment){_NO})
    |(?P<certificate>(?:certificate|cert|report|record|form|epc|eicr|cp12){_NO}|rrn|serial\s(?:no\.?
        |number)|(?:unique\s)?reference\snumber)
    |(?P<policy>policy{_NO}|agreement{_NO}|contract{_NO}|licence{_NO}|deposit\s(?:id|ref\w{{0,6}}))
    |(?P<account>(?:account|acc|a/c){_NO})
    |(?P<letter>our\s?ref(?:erence)?|(?:letter|case){_NO})
    |(?P<order>(?:order|booking|job|customer|statement){_NO})
    |(?P<plain>ref(?:erence)?(?:{_NO})?(?=\s?[:.#]|\s[A-Z0-9]))
    |(?P<other>(?:vat|phone|tel|fax|company|registration|registered|reg|charity|sort|p\.?o\.?|your(?!\s(?:invoice|bill))
        |gas\ssafe|card|merchant|terminal|licen[cs]e|meter|sheet|page|supply)\s?(?:\w{{2,12}}\s)?(?:{_NO})?)
    )(?![a-z])""",
    re.IGNORECASE | re.VERBOSE,
)
_TOKEN = re.compile(r"(?<![\w/£$€.,-])#?(?P<token>[A-Za-z0-9](?:[A-Za-z0-9]|[/_.-](?=[A-Za-z0-9])){1,39})(?![\w£$€])")
_DIGIT_GROUPS = re.compile(r"(?<![\w/.,-])\d{2,5}(?:\s\d{2,5}){1,5}(?![\w/.,-])")
_BEHIND_LABEL = re.compile(r"\s?[:.#]{0,2}\s?(?P<token>[A-Z]{2,4}\s\d{3,8}|\d)(?![\w.,/-])(?!\s?%)")
"""What only right behind its label is a number: one with letters apart from it, and of one digit."""
_MISREAD = re.compile(r"(?<=[0-9])[OolI](?=[0-9])")
_WANTED: Final[Mapping[DocumentKind, tuple[str, ...]]] = {
    "invoice": ("invoice", "heading", "document", "receipt", "plain", "account", "order"),
    "receipt": ("receipt", "invoice", "document", "order", "plain", "policy"),
    "bank_statement": ("account", "plain"),
    "certificate": ("certificate", "policy", "plain"),
    "contract": ("policy", "plain", "order", "account"),
    "letter": ("letter", "plain", "policy", "account", "invoice"),
    "other": ("plain", "invoice", "document", "order", "letter"),
}
"""Which labels name the number of a document of each kind, the best first."""


def reference_of(lines: Sequence[Line], kind: DocumentKind) -> str | None:
    """The document's number: of an invoice its own, of a statement the account's, of HMRC's letters the taxpayer's."""
    if kind == "letter" and (taxpayer := taxpayer_reference(lines)) is not None:
        return taxpayer
    first: dict[str, str] = {}
    for candidate in labelled(lines, Labels(_LABELS, read_references)):
        if candidate.label is not None:
            first.setdefault(candidate.label, candidate.value)
    return next((first[label] for label in _WANTED[kind] if label in first), None)


def read_references(text: str) -> list[Value[str]]:
    """What of a line may be a document's number: it has a digit, and is neither date nor money.

    Behind a label it is what follows at once; a line without labels may have several.
    """
    marks = [match.end() for match in _LABELS.finditer(text)]
    rest = without_money(without_dates(text))
    values = [*_groups(rest), *_tokens(rest), *_behind(rest, marks)]
    return [
        value
        for value in sorted(values, key=lambda value: (value.start, -len(value.value)))
        if _follows(text, marks, value.start)
    ]


def _follows(text: str, marks: Sequence[int], start: int) -> bool:
    """Whether a value stands right behind the label before it, if any does."""
    ends = [end for end in marks if end <= start]
    return not ends or not re.search(r"[A-Za-z]{3}", text[ends[-1] : start])


def _behind(text: str, ends: Sequence[int]) -> list[Value[str]]:
    matches = (_BEHIND_LABEL.match(text, end) for end in ends)
    return [Value(match.start("token"), match["token"]) for match in matches if match]


def _groups(text: str) -> list[Value[str]]:
    return [Value(match.start(), match.group()) for match in _DIGIT_GROUPS.finditer(text)]


def _tokens(text: str) -> list[Value[str]]:
    matches = (match for match in _TOKEN.finditer(text) if any(c.isdigit() for c in match["token"]))
    return [Value(match.start(), _MISREAD.sub(_digit, match["token"])) for match in matches]


def _digit(match: re.Match[str]) -> str:
    return "0" if match.group() in "Oo" else "1"
