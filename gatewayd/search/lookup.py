"""What is asked of the index of documents (Domain C9), by whichever database keeps it (`looking`).

Vectors are compared by their signs first (`signs`), and those that come out best by themselves.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from gatewayd.areas.vault.documents.rows import UPLOADED
from gatewayd.search import signs
from gatewayd.search.index import code_of
from gatewayd.search.looking import Filter, Index, MeaningHit
from gatewayd.search.postgres_index import PostgresIndex
from gatewayd.search.signs import Block, KeptBlocks, Source
from gatewayd.search.sqlite_index import SqliteIndex
from gatewayd.store import ReadTx

CODES_AT_ONCE: Final = 131_072  # Chosen: for each read the documents that are wanted are listed anew

_SELECT_REVISION = "SELECT revision FROM vault_vector_revisions WHERE org_id = :org_id"
_SELECT_FOUND = """
SELECT d.id, d.created_at FROM vault_documents d
WHERE d.org_id = :org_id AND d.id IN ({ids}) AND d.status = :status {conditions}
"""
ALL: Final = Filter("", {})


def index_of(*, is_shared: bool) -> Index:
    """The index of a store, by whether it is one that daemons share: a PostgreSQL."""
    return PostgresIndex() if is_shared else SqliteIndex()


class Meant(NamedTuple):
    """What a question means: a vector of a model."""

    vector: bytes
    model: str


def by_meaning(
    tx: ReadTx, index: Index, meant: Meant, wanted: Filter, nearest: int, kept: KeptBlocks
) -> list[MeaningHit]:
    """The passages that are nearest to a vector of a model, nearest first."""
    code = code_of(meant.vector)
    source = Source(tx.org_id, meant.model, len(code), tx.value(_SELECT_REVISION) or 0)
    blocks = list(_blocks(tx, index, source, wanted)) if wanted.conditions else _all_blocks(tx, index, source, kept)
    return index.by_vector(tx, meant.vector, signs.nearest(blocks, code, nearest))


def _all_blocks(tx: ReadTx, index: Index, source: Source, kept: KeptBlocks) -> list[Block]:
    blocks = kept.find(source)
    if blocks is None:
        blocks = list(_blocks(tx, index, source, ALL))
        kept.keep(source, blocks)
    return blocks


def _blocks(tx: ReadTx, index: Index, source: Source, wanted: Filter) -> Iterator[Block]:
    values = {"model": source.model, "width": source.width, "count": CODES_AT_ONCE, **wanted.values}
    after = 0
    while True:
        codes = index.codes(tx, wanted.clause, {**values, "after": after})
        if not codes.numbers:
            return
        yield from signs.blocks_of(codes.numbers, codes.signs)
        after = codes.numbers[-1]


def created(tx: ReadTx, index: Index, document_ids: Sequence[str], wanted: Filter) -> dict[str, int]:
    """When each of the documents was created; those that are not there, or in the trash, or not wanted are left out."""
    sql = _SELECT_FOUND.format(ids=index.listed("ids"), conditions=wanted.conditions)
    return dict(tx.rows(sql, ids=msgspec.json.encode(document_ids).decode(), status=UPLOADED, **wanted.values))
