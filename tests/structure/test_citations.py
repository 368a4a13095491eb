"""What is cited can be looked up: sections of our documents and of others', decisions, files.

A section of somebody else's is cited after it was looked up: `cited_sections.tsv` has its title, so that a reader can
tell a slip (`RFC 9110 §5.3`, Field Order) without leaving the tree. Cite a new one, and add its line.
"""

import functools
import re
from collections.abc import Iterator

import pytest

from tests.structure.citations import Citation, Row, Text, citations, decisions, files, sections, table, texts
from tests.structure.sources import ROOT

DOCS = ROOT / "docs"
OURS = {name: sections((DOCS / f"{name.lower()}.md").read_text("utf-8")) for name in ("Spec", "Domain")}
LOOKED_UP = frozenset((row.document, row.section) for row in table())
_BARE_LABEL = re.compile(r"(?<![\w.-])[A-D]\d{1,2}(?![\w-])")


@functools.cache
def every_text() -> tuple[Text, ...]:
    return tuple(texts())


@functools.cache
def found_in(text: Text) -> tuple[Citation, ...]:
    return tuple(citations(text))


def resolves(citation: Citation) -> bool:
    """Whether the section is there, with the part and the point of it that are named."""
    if citation.document not in OURS:
        return (citation.document, citation.section) in LOOKED_UP
    known = OURS[citation.document]
    label, point = citation.section, citation.point
    if label not in known and label[:1].isalpha():
        label, _, point = label.partition(".")
    if label not in known:
        return False
    found = known[label]
    return (citation.part is None or citation.part in found.parts) and (point is None or point in found.points)


def faults(text: Text) -> Iterator[str]:
    """Every citation of a file that leads nowhere."""
    for citation in found_in(text):
        if not resolves(citation):
            within = [word for word in (citation.part, citation.point) if word is not None]
            what = " ".join([citation.document or "no document", citation.section or "without a section", *within])
            yield f"{citation.where}: {what}"
    for where, number in decisions(text):
        if not list((DOCS / "decisions").glob(f"{number}-*.md")):
            yield f"{where}: decision {number}"
    for where, path in files(text):
        folders = ((ROOT / text.name).parent, ROOT, DOCS, DOCS / "decisions")
        if not any((folder / path).exists() for folder in folders):
            yield f"{where}: {path}"


def test_every_citation_resolves() -> None:
    assert [fault for text in every_text() for fault in faults(text)] == []


def test_there_are_citations_of_every_kind() -> None:
    cited = [citation for text in every_text() for citation in found_in(text)]
    assert {"Spec", "Domain", "RFC 9110", "OpenID Connect Core"} <= {citation.document for citation in cited}
    assert any(citation.part for citation in cited)
    assert any(citation.point for citation in cited)
    assert [where for text in every_text() for where, _ in decisions(text)] != []


def test_the_table_of_sections_holds_what_is_cited_and_no_more() -> None:
    cited = {(citation.document, citation.section) for text in every_text() for citation in found_in(text)}
    documents = {document for document, _ in cited}
    stale = [row for row in table() if (row.document, row.section) not in cited and row.section]
    assert stale + [row for row in table() if row.document not in documents] == []


def order(row: Row) -> tuple[bool, int, str, list[tuple[bool, int, str]]]:
    """RFCs by number, then others by name; sections as their document counts them, appendices last."""
    name, _, number = row.document.rpartition(" ")
    is_rfc = name == "RFC"
    parts = [part for part in row.section.split(".") if part]
    section = [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]
    return not is_rfc, int(number) if is_rfc else 0, row.document, section


def test_the_table_of_sections_is_in_order_and_gives_every_title() -> None:
    rows = table()
    assert rows == sorted(rows, key=order)
    assert len({(row.document, row.section) for row in rows}) == len(rows)
    assert [row for row in rows if not row.title or (row.document, "") not in LOOKED_UP] == []


def test_the_domain_refers_to_sections_of_its_own() -> None:
    text = (DOCS / "domain.md").read_text("utf-8")
    assert sorted(set(_BARE_LABEL.findall(text)) - OURS["Domain"].keys()) == []


# -- the test's own eyes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Spec §6", [("Spec", "6")]),
        ("Spec §2, §6 and\n    §8", [("Spec", "2"), ("Spec", "6"), ("Spec", "8")]),
        ("# domain\n# model B5", [("Domain", "B5")]),
        ("domain model A5, B5 and C4, Spec §4", [("Domain", "A5"), ("Domain", "B5"), ("Domain", "C4"), ("Spec", "4")]),
        ("Domain model §D3, §D4: it", [("Domain", "D3"), ("Domain", "D4")]),
        ("Domain C4.6. A Domain of ours", [("Domain", "C4.6")]),
        ("as it is (§0.1), there", [("Domain", "0.1")]),
        ("the domain model says so", [("Domain", "")]),
        ("RFC 9449 §5 and §10.", [("RFC 9449", ""), ("RFC 9449", "5"), ("RFC 9449", "10")]),
        ("RFC 8414, 7591", [("RFC 8414", ""), ("RFC 7591", "")]),
        ("RFC 7636 appendix B", [("RFC 7636", ""), ("RFC 7636", "B")]),
        ("OpenID Connect Discovery 1.0 §3", [("OpenID Connect Discovery", ""), ("OpenID Connect Discovery", "3")]),
        ("RFC 9700 says. RFC 9110 too. See §4.5", [("RFC 9700", ""), ("RFC 9110", ""), ("RFC 9700", "4.5")]),
        ("ITA 2007 §4", [("", "4")]),
    ],
)
def test_citations_are_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(one.document, one.section) for one in citations(Text("x.py", text))] == expected


@pytest.mark.parametrize(
    "text",
    [
        "Spec §10",
        "Spec §5, rule 9",
        "Spec §5, Keys of ours, rule 3",
        "Domain B11",
        "Domain C4.8",
        "the domain model, somewhere",
        "(§D9)",
        "§0.1, finding 8",
        "RFC 9110 §5.33",
        "RFC 9999",
        "NIST SP 800-63B §9",
        "§4.5",
        "decision 0999",
        "nothing.md",
        "docs/nothing.md",
    ],
)
def test_a_citation_that_leads_nowhere_is_named_with_its_line(text: str) -> None:
    (fault,) = faults(Text("gatewayd/x.py", f'"""A file.\n\n{text}.\n"""'))
    assert fault.startswith("gatewayd/x.py:3: ")


@pytest.mark.parametrize(
    "text",
    [
        "Spec §5, API keys, rule 8, is one",
        "Spec §5, rule 4",
        "§0.1, finding 7",
        "Domain C4.6",
        "product.md, docs/spec.md, README.md",
        "https://example.com/nothing.md",
        "Decision 0009",
    ],
)
def test_a_citation_that_leads_somewhere_is_not(text: str) -> None:
    assert list(faults(Text("gatewayd/x.py", text))) == []


def test_a_link_of_a_document_is_followed() -> None:
    assert list(faults(Text("docs/x.md", "[here](../tests/contract/promises.py) [there](https://example.com/a)"))) == []
    assert list(faults(Text("docs/x.md", "see\n[here](../tests/contract/nothing.py)"))) == [
        "docs/x.md:2: ../tests/contract/nothing.py"
    ]
