"""What search asks of a database in its own words: the index of words, and passages by their vectors.

    sqlite_index.py      FTS5, and a function of sqlite-vec
    postgres_index.py    `tsvector`, and vectors as rows

Both find the same. All other SQL of search is what both databases take.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import msgspec

from gatewayd.search.terms import Word
from gatewayd.store import ReadTx, WriteTx

Spellings: TypeAlias = Sequence[Word]
"""One word, any of whose spellings will do."""
WordGroups: TypeAlias = Sequence[Sequence[Spellings]]
"""What a part of a document has to have: of one of these groups every word."""


def all_of(words: Sequence[Spellings]) -> WordGroups:
    """What has every word."""
    return [words]


def any_of(words: Sequence[Spellings]) -> WordGroups:
    """What has one of the words."""
    return [[word] for word in words]


class Filter(NamedTuple):
    """What documents must be: conditions on `vault_documents d`, and what they name."""

    conditions: str
    values: dict[str, object]

    def among(self, index: "Index", document_ids: Sequence[str]) -> "Filter":
        """The same, of some documents."""
        conditions = f"{self.conditions} AND d.id IN ({index.listed('among')})"
        return Filter(conditions, {**self.values, "among": msgspec.json.encode(document_ids).decode()})

    @property
    def clause(self) -> str:
        """The same of what belongs to a document, `p`."""
        return _AND_FILTERED.format(conditions=self.conditions) if self.conditions else ""


_AND_FILTERED = """AND p.document_id IN (
    SELECT d.id FROM vault_documents d WHERE d.org_id = :org_id AND d.status = 'uploaded' {conditions}
)"""


class Terms(NamedTuple):
    """The terms of a part: stems of its document's name and of its text, and its numbers and codes."""

    name: Sequence[str]
    body: Sequence[str]
    exact: Sequence[str]


class RankLimits(NamedTuple):
    """How many parts are ranked, the newest, and how many documents are answered."""

    newest: int
    documents: int


class WordHit(NamedTuple):
    """A part of a document with words that are looked for: from page to page; 0: in the name alone."""

    document_id: str
    first_page: int
    last_page: int


class MeaningHit(NamedTuple):
    """A passage that is near in meaning; `distance` is 1 less the cosine."""

    document_id: str
    page: int
    start: int
    length: int
    distance: float


class Codes(NamedTuple):
    """Passages by their numbers, and their signs, one after the other."""

    numbers: Sequence[int]
    signs: bytes


class Index(Protocol):
    """The index as one database keeps it. Parts are known by the numbers of `vault_index_parts`."""

    def kept(self, org_id: str, terms: Terms) -> Mapping[str, object]:
        """What is written of a part. It takes a while: not for the writer."""

    def put(self, tx: WriteTx, number: int, kept: Mapping[str, object]) -> None:
        """Have a part found by its words."""

    def forget(self, tx: WriteTx, numbers: Sequence[int]) -> None:
        """Have parts found no more."""

    def count_hits(self, tx: ReadTx, word: Spellings, most: int) -> int:
        """How many parts of documents have a word; of more than `most` it is `most`."""

    def known(self, tx: ReadTx, stems: Collection[str]) -> set[str]:
        """Those of the stems that some text of the organization has."""

    def terms_from(self, tx: ReadTx, beginning: str) -> list[str]:
        """The terms of the organization that begin so."""

    def by_words(self, tx: ReadTx, asked: WordGroups, wanted: Filter, ranked: RankLimits) -> list[WordHit]:
        """The best documents by bm25, each with its best part, of the newest parts that have it and are wanted."""

    def codes(self, tx: ReadTx, sql_filter: str, values: Mapping[str, object]) -> Codes:
        """The first passages of a model behind a number that have signs of a width.

        `values` names them: `model`, `width`, `after` and `count`, and what the filter, of `p`, names.
        """

    def by_vector(self, tx: ReadTx, vector: bytes, numbers: Sequence[int]) -> list[MeaningHit]:
        """Some passages by their numbers, nearest to the vector first."""

    def listed(self, name: str) -> str:
        """SQL for the texts of a JSON list that `:name` is."""
