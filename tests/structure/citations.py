"""What files cite, read off their text: sections of our documents and of others', decisions, other files.

    Spec §6    Domain B5    Domain C4.6    RFC 9110 §5.3    Decision 0009    docs/product.md

The longer forms `domain model B5` and `domain model §B5` are read too. Sections that follow a document go with it
(`RFC 9449 §5 and §10`); one that stands alone is the domain's where it begins with a letter or with 0, else of the
document that the file names first.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.structure.sources import ROOT

PLACES = ("gatewayd", "tests", "conf", "systemd", "docs", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile")
SUFFIXES = frozenset({"", ".css", ".html", ".js", ".md", ".mjs", ".py", ".service", ".socket", ".sql", ".toml"})
OWN = frozenset({"tests/structure/citations.py", "tests/structure/test_citations.py"})
"""They hold citations that must not resolve."""
TABLE = Path(__file__).with_name("cited_sections.tsv")

_LABEL = r"(?:0\.\d|[A-H](?:\d{1,2}(?:\.\d)?)?)(?!\w)"
_ALSO = r"(?:\s*,\s*|\s+and\s+|\s+or\s+)"
_CONTINUED = re.compile(r"\n[ \t]*(?:#|--|//|\*(?!\*))?")
_JOIN = re.compile(r"(?:\s+1\.0)?[\s,;(]*(?:(?:and|or)\s+)?")
_POINT = re.compile(r"(?:,\s+(?P<part>[A-Z][\w ]*))?,\s+(?:rule|finding)\s+(?P<point>\d+)")
_DECISION = re.compile(r"\b[Dd]ecisions?\s+(\d{4})\b")
_FILE = re.compile(r"(?<![\w/.:*-])((?:[\w.-]+/)*[\w.-]+\.md)\b")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PLACEHOLDER = "NNNN-title.md"


class Text(NamedTuple):
    """One file. `name` is its path from the repository's root."""

    name: str
    text: str

    def at(self, offset: int) -> str:
        """`docs/spec.md:12`, as editors understand it."""
        return f"{self.name}:{self.text.count(chr(10), 0, offset) + 1}"

    @property
    def flat(self) -> str:
        """The text with lines joined, comment marks blanked, and every offset as it was."""
        return _CONTINUED.sub(lambda found: " " * len(found[0]), self.text)


class Citation(NamedTuple):
    """One reference. `section` is empty where a whole document is named; `part` and `point` are within a section."""

    where: str
    document: str
    section: str
    part: str | None = None
    point: str | None = None


class Row(NamedTuple):
    """A document of somebody else's, or one of its sections, that has been looked up."""

    document: str
    section: str
    title: str


def texts() -> Iterator[Text]:
    """Every file in which a citation may stand."""
    for place in PLACES:
        root = ROOT / place
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            name = path.relative_to(ROOT).as_posix()
            if path.is_file() and path.suffix in SUFFIXES and name not in OWN and not _is_foreign(path):
                yield Text(name, path.read_text("utf-8"))


def _is_foreign(path: Path) -> bool:
    return not {"__pycache__", "node_modules", "scalar"}.isdisjoint(path.parts)


def table() -> list[Row]:
    """The sections of others that are cited, with their titles."""
    _, *lines = TABLE.read_text("utf-8").splitlines()
    return [Row(*line.split("\t")) for line in lines]


def _names() -> str:
    """The names of documents that are no RFCs, the longest first."""
    others = sorted({row.document for row in table() if not row.document.startswith("RFC ")}, key=len, reverse=True)
    return "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in others)


_TOKEN = re.compile(
    r"\b(?P<spec>Spec)(?=\s+§)"
    r"|\bRFC\s+(?P<rfc>\d{3,4}(?:,\s+\d{4}\b)*)(?:\s+appendix\s+(?P<appendix>[A-Z])\b)?"
    rf"|\b(?P<domain>[Dd]omain\s+model|Domain(?=\s+§?{_LABEL}))"
    rf"(?:\s+(?P<labels>§?{_LABEL}(?:{_ALSO}§?{_LABEL})*))?"
    rf"|(?P<other>{_names()})"
    r"|§\s?(?P<section>[0-9A-H]\d*(?:\.\d+)*)"
)


class _Reader:
    """Reads one file from front to back: which document the next section belongs to depends on what stood before."""

    def __init__(self, source: Text) -> None:
        self._source = source
        self._flat = source.flat
        self._document = self._subject = ""
        self._end = 0

    def citations(self) -> Iterator[Citation]:
        for found in _TOKEN.finditer(self._flat):
            if found["section"] is not None:
                yield self._section(found)
            else:
                yield from self._named(found)
            self._end = found.end()

    def _named(self, found: re.Match[str]) -> Iterator[Citation]:
        where = self._source.at(found.start())
        if found["domain"] is not None:
            self._name("Domain")
            labels = re.findall(_LABEL, found["labels"] or "")
            yield from (Citation(where, "Domain", label, point=self._point(found.end())) for label in labels or [""])
        elif found["rfc"] is not None:
            for number in found["rfc"].split(","):
                self._name(f"RFC {number.strip()}")
                yield Citation(where, self._document, "")
            if found["appendix"] is not None:
                yield Citation(where, self._document, found["appendix"])
        else:
            self._name(found["spec"] or re.sub(r"\s+", " ", found["other"]))
            if found["other"] is not None:
                yield Citation(where, self._document, "")

    def _section(self, found: re.Match[str]) -> Citation:
        section, where = found["section"], self._source.at(found.start())
        if section[0].isalpha() or section.startswith("0"):
            self._document = "Domain"
        elif not _JOIN.fullmatch(self._flat, self._end, found.start()):
            self._document = self._subject
        after = _POINT.match(self._flat, found.end())
        return Citation(where, self._document, section, after and after["part"], after and after["point"])

    def _point(self, at: int) -> str | None:
        after = _POINT.match(self._flat, at)
        return after and after["point"]

    def _name(self, document: str) -> None:
        self._document = document
        self._subject = self._subject or document


def citations(source: Text) -> list[Citation]:
    """What a file cites, in its order."""
    return list(_Reader(source).citations())


def decisions(source: Text) -> Iterator[tuple[str, str]]:
    """Where a decision is cited, and its number."""
    return ((source.at(found.start()), found[1]) for found in _DECISION.finditer(source.flat))


def files(source: Text) -> Iterator[tuple[str, str]]:
    """Where a file of text is named, or in a document anything is linked to, and its path as it is written."""
    for found in _FILE.finditer(source.text):
        if not found[1].endswith(_PLACEHOLDER):
            yield source.at(found.start()), found[1]
    if source.name.endswith(".md"):
        for found in _LINK.finditer(source.text):
            if "://" not in found[1]:
                yield source.at(found.start()), found[1].partition("#")[0]


# -- our own documents


class Section(NamedTuple):
    """A part of a document: the headings below its own, and the numbers of its lists."""

    parts: frozenset[str]
    points: frozenset[str]


def sections(text: str) -> dict[str, Section]:
    """A document's sections by label: `6` for `## 6. Events`, `B5` for `### B5. Accounting`."""
    headings = list(re.finditer(r"^(#{2,4}) (.+)$", text, re.MULTILINE))
    found = {}
    for index, heading in enumerate(headings):
        label = re.match(r"(\d\.\d|\d|[A-H]\d{0,2})\b", heading[2])
        if label is None:
            continue
        end = next((one.start() for one in headings[index + 1 :] if len(one[1]) <= len(heading[1])), len(text))
        inside = text[heading.end() : end]
        parts = re.findall(r"^#{3,4} (.+)$", inside, re.MULTILINE)
        found[label[1]] = Section(frozenset(parts), frozenset(re.findall(r"^(\d+)\. ", inside, re.MULTILINE)))
    return found
