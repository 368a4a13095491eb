"""What kind of document a text is, by the phrases that its kind is made of. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from gatewayd.extraction.facts.lines import Line
from gatewayd.extraction.shapes import CertificateKind, DocumentKind

_HEAD: Final = 14  # lines among which a heading stands
_HEADING_WORDS: Final = 6
_ENOUGH: Final = 3
"""Chosen: what a kind needs at least: one heading, or some phrases."""


class Clue(NamedTuple):
    """A phrase that speaks for a kind, once for a document. `in_heading`: only in a short line near the top."""

    kind: DocumentKind
    weight: int
    pattern: re.Pattern[str]
    in_heading: bool = False


def _clue(kind: DocumentKind, weight: int, pattern: str, *, heading: bool = False) -> Clue:
    return Clue(kind, weight, re.compile(rf"(?<![a-z])(?:{pattern})(?![a-z])", re.IGNORECASE), heading)


def _alone(title: str) -> str:
    return rf"^(?:{title})(?:\s{_PAPER})?$"


_WORK: Final = r"(?:\s(?:system|periodic|annual|inspection|servicing|service|test(?:ing)?|and|&))*"
_PAPER: Final = r"(?:certificate|report|record)"
_TITLES: Final[Mapping[CertificateKind, str]] = {
    "selective_licence": r"selective\s(?:property\s)?licen[cs]e",
    "additional_licence": r"additional\s(?:hmo\s)?licen[cs]e",
    "hmo_licence": r"(?:mandatory\s)?(?:hmo|house\sin\smultiple\soccupation)\slicen[cs]e"
    r"|licen[cs]e\s(?:for|to\soperate)\san?\s(?:hmo|house\sin\smultiple\soccupation)",
    "fire_risk_assessment": r"fire\srisk\sassessment",
    "legionella_assessment": r"(?:legionella|legionnaires'?(?:\sdisease)?)\s(?:risk\s)?assessment",
    "pat": rf"portable\sappliance\stest(?:s|ing)?|pat{_WORK}\s{_PAPER}",
    "emergency_lighting": rf"emergency\slight(?:ing|s){_WORK}\s{_PAPER}",
    "fire_alarm": rf"fire\s(?:detection\s(?:and|&)\s(?:fire\s)?)?alarms?{_WORK}\s{_PAPER}",
}
"""What stands alone in a line at their head: elsewhere letters, bills and licences speak of them."""

_CLUES: Final = (
    _clue("invoice", 4, r"(?:[il1]nv[o0][il1]ce|bill)", heading=True),
    _clue("invoice", 2, r"(?:vat|tax|sales|pro\s?forma|service|final)\s?[il1]nv[o0][il1]ce", heading=True),
    _clue("invoice", 4, r"[il1]nv[o0][il1]ce\s?(?:n[o0umber]{0,5}\b|#|ref|id)"),
    _clue("invoice", 3, r"[il1]nv[o0][il1]ce\s?date"),
    _clue("invoice", 2, r"(?:bill(?:ed)?|invoiced?)\s?to"),
    _clue("invoice", 2, r"(?:amount|balance|total)\s?(?:due|payable|to\s?pay)|please\s?pay"),
    _clue("invoice", 1, r"due\s?date|payment\s?(?:terms|due)|remittance|payable\s?(?:to|within)"),
    _clue("invoice", 5,
        r"your\s(?:latest\s|new\s|quarterly\s|monthly\s)?(?:electricity|gas|energy|water|phone"
        r"|broadband|council\stax)?\s?bill"),
    _clue("invoice", 2, r"kwh|meter\sreading|standing\scharge|bill\s(?:date|number|period)"),
    _clue("receipt", 5, r"(?:sales?\s|payment\s|customer\s|till\s|vat\s)?rece[il1]pt", heading=True),
    _clue("receipt", 3, r"rece[il1]pt\s?(?:n[o0umber]{0,5}\b|#|date)"),
    _clue("receipt", 3,
        r"thank\s?you\sfor\s(?:your\s(?:custom|purchase|visit|order|payment)|shopping|visiting)"
        r"|please\s(?:keep|retain)\s(?:this|your)\s?(?:receipt)?|come\sagain"),
    _clue("receipt", 3,
        r"(?:customer|cardholder|merchant)\s?copy|auth(?:orisation)?\s?code|aid\s?:|pan\sseq"
        r"|contactless|chip\s(?:&|and)\spin|verified\sby\spin"),
    _clue("receipt", 4,
        r"pump\s?(?:n[o0]\.?\s?)?\d{1,2}(?![\d.,])|(?:unleaded|diesel)\s.{0,30}\d\s?l(?:tr|itres?)?(?![a-z])"
        r"|\d\s?l(?:tr|itres?)?\s?@"),
    _clue("receipt", 3, r"change(?:\s(?:due|given))?\s?:?\s*[£$€]?\d{1,4}\.\d\d"),
    _clue("receipt", 2,
        r"till|cashier|served\sby|operator|change(?:\sdue)?|cash\stendered|eft|card\s(?:sale|no"
        r"|number)|visa\s?(?:debit)?|mastercard"),
    _clue("receipt", 2,
        r"payment\sreceived|paid\sin\sfull|amount\spaid|received\swith\sthanks|paid\sby\scard"
        r"|booking\sconfirm\w{1,5}"),
    _clue("bank_statement", 4,
        r"(?:bank|account|current\saccount|savings|business\saccount"
        r"|credit\scard)?\s?statement(?:\sof\saccount)?", heading=True),
    _clue("bank_statement", 3,
        r"opening\sbalance|start\sbalance|balance\s(?:brought\sforward|b/f|at\sstart)"
        r"|brought\sforward"),
    _clue("bank_statement", 3,
        r"closing\sbalance|end\sbalance|balance\s(?:carried\sforward|c/f|at\send)|carried\sforward"),
    _clue("bank_statement", 3, r"(?:money|paid|payments?)\s?(?:in|out)|withdrawals|debits?\s.{0,12}credits?"),
    _clue("bank_statement", 2,
        r"statement\s(?:period|number|no|date)|sheet\s(?:number|no)|overdraft|your\s(?:transactions"
        r"|account\ssummary)"),
    _clue("bank_statement", 1, r"sort\s?code|iban|bic|swift"),
    _clue("certificate", 5, r"[\w\s()/-]{0,60}certificate[\w\s()/-]{0,30}", heading=True),
    _clue("certificate", 9, r"gas\s?safety\s?(?:record|certificate|inspection|check\srecord)|cp\s?12"),
    _clue("certificate", 9, r"electrical\s?installation\s?(?:condition\s?report|certificate)|eicr"),
    _clue("certificate", 9, r"energy\s?performance\s?certificate"),
    *(_clue("certificate", 9, _alone(title)) for title in _TITLES.values()),
    _clue("certificate", 5,
        r"(?:this\sis\sto|we\shereby|hereby)\scertify|certificate\s(?:n[o0umber]{0,5}\b|ref)"
        r"|certificate\sof\s\w{3,20}"),
    _clue("certificate", 2,
        r"gas\ssafe\s(?:register|reg)|niceic|napit|inspect(?:ed|ion)\s(?:by|date)"
        r"|appliances?\stested"),
    _clue("contract", 4, r"[\w\s()'-]{0,50}(?:agreement|contract|lease|deed)[\w\s()'-]{0,40}", heading=True),
    _clue("contract", 5,
        r"(?:this|the)\s(?:agreement|contract|lease|deed)\s(?:is\s)?(?:made|dated|between|shall|sets"
        r"|begins)"),
    _clue("contract", 3,
        r"(?:assured\s)?(?:shorthold\s)?tenancy\sagreement|hereinafter|whereas|governing\slaw"
        r"|governed\sby|in\switness\swhereof"),
    _clue("contract", 2,
        r"(?:the\s)?part(?:y|ies)|the\sterm|termination|obligations|shall\s(?:not|be|pay)"
        r"|signed\s(?:by|for|as)|clause\s\d"),
    _clue("letter", 4, r"dear\s(?:sir|madam|mr|mrs|ms|miss|dr|customer|client|tenant|landlord|\w{2,20})"),
    _clue("letter", 5, r"yours\s?(?:sincerely|faithfully|truly)"),
    _clue("letter", 2,
        r"(?:kind|best|warm)?\s?regards|(?:our|your)\sref(?:erence)?|i\s(?:am|write)\s\w{2,12}"
        r"|we\s(?:are|have)\s(?:writing|written)"),
    _clue("letter", 3, r"hm\srevenue|hmrc|unique\staxpayer"),
)  # fmt: skip
_CERTIFICATES: Final[Mapping[CertificateKind, re.Pattern[str]]] = {
    "gas_safety": re.compile(r"gas\s?safety\s?(?:record|certificate|inspection|check)|cp\s?12\b", re.IGNORECASE),
    "eicr": re.compile(r"electrical\s?installation\s?condition\s?report|\beicr\b", re.IGNORECASE),
    "epc": re.compile(r"energy\s?performance\s?certificate|\bepc\b", re.IGNORECASE),
    **{kind: re.compile(_alone(title), re.IGNORECASE) for kind, title in _TITLES.items()},
}
_UNDER_ADDITIONAL_LICENSING: Final = re.compile(r"\badditional\s(?:hmo\s)?licensing\b", re.IGNORECASE)
_DRAFTS: Final = re.compile(
    r"(?<![a-z])(?:quot(?:e|ation)|estimate|credit\s?note|remittance\sadvice|purchase\sorder"
    r"|delivery\snote|payslip|pay\sadvice|p60)(?![a-z])",
    re.IGNORECASE,
)


class KindFound(NamedTuple):
    """The kind that most speaks for, and how much that is: from 0, where nothing does, to 1."""

    kind: DocumentKind
    strength: float


def kind_of(lines: Sequence[Line]) -> KindFound:
    """What kind of document it is; `other` where little speaks for any, or its heading says so."""
    headings = [
        cell for line in [line for line in lines if line.cells][:_HEAD] for cell in line.cells if _is_heading(cell)
    ]
    if any(_DRAFTS.search(heading) for heading in headings[:6]):
        return KindFound("other", 0.0)  # Chosen: neither asks for money nor tells of it
    points: dict[DocumentKind, int] = {}
    for clue in _CLUES:
        places = headings if clue.in_heading else (line.text for line in lines)
        if any(clue.pattern.search(text) for text in places):
            points[clue.kind] = points.get(clue.kind, 0) + clue.weight
    if not points:
        return KindFound("other", 0.0)
    kind = max(points, key=lambda name: points[name])
    if points[kind] < _ENOUGH:
        return KindFound("other", 0.0)
    return KindFound(kind, min(points[kind], 10) / 10)


def certificate_kind(lines: Sequence[Line]) -> CertificateKind:
    """What a certificate certifies: what is named first."""
    kinds = (kind for line in lines for kind, pattern in _CERTIFICATES.items() if pattern.search(line.text))
    kind: CertificateKind = next(kinds, "other")
    if kind == "hmo_licence" and any(_UNDER_ADDITIONAL_LICENSING.search(line.text) for line in lines):
        return "additional_licence"
    return kind


def _is_heading(text: str) -> bool:
    return len(text.split()) <= _HEADING_WORDS and not text.endswith((".", ","))
