"""What documents must be to be found, as conditions of the index's statements. Pure but for the tree of folders."""

import datetime
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from gatewayd.areas.vault.documents.shapes import DocumentLink
from gatewayd.areas.vault.folders.rows import Tree
from gatewayd.areas.vault.search import SearchFilters
from gatewayd.clock import from_moment
from gatewayd.search.lookup import Filter
from gatewayd.store import ReadTx

_UNREAD = " AND NOT EXISTS (SELECT 1 FROM vault_parses r WHERE r.org_id = :org_id AND r.document_id = d.id)"
_READ = (
    " AND EXISTS (SELECT 1 FROM vault_parses r"
    " WHERE r.org_id = :org_id AND r.document_id = d.id AND r.status = :parse_status)"
)


class _Condition(NamedTuple):
    sql: str
    name: str
    value: object


def filter_of(tx: ReadTx, asked: SearchFilters) -> Filter:
    """The filter of a request. A folder that there is not holds nothing."""
    found = [one for one in _conditions(tx, asked) if one.value is not None]
    values = {one.name: one.value for one in found}
    conditions = "".join(one.sql for one in found)
    if asked.parse_status == "none":
        return Filter(conditions + _UNREAD, values)
    return Filter(conditions, values)


def _conditions(tx: ReadTx, asked: SearchFilters) -> Iterator[_Condition]:
    def in_list(column: str, name: str, values: list[str] | None) -> _Condition:
        sql = f" AND {column} IN (SELECT j.value FROM json_each(:{name}) j)"
        return _Condition(sql, name, None if values is None else msgspec.json.encode(values).decode())

    yield in_list("d.folder_id", "folder_ids", _with_those_below(tx, asked.folder_ids))
    yield in_list("d.mime_type", "mime_types", asked.mime_types)
    yield _Condition(" AND d.starred = :starred", "starred", asked.starred)
    yield _Condition(" AND d.created_at >= :created_from", "created_from", _instant(asked.created_from))
    yield _Condition(" AND d.created_at <= :created_to", "created_to", _instant(asked.created_to))
    yield _Condition(" AND d.document_date >= :date_from", "date_from", _text(asked.document_date_from))
    yield _Condition(" AND d.document_date <= :date_to", "date_to", _text(asked.document_date_to))
    yield _Condition(" AND d.contract_id = :contract_id", "contract_id", asked.contract_id)
    if asked.parse_status != "none":
        yield _Condition(_READ, "parse_status", asked.parse_status)
    yield _Condition(" AND instr(d.links, :link) > 0", "link", _link(asked.property_id))


def _with_those_below(tx: ReadTx, folder_ids: list[str] | None) -> list[str] | None:
    if folder_ids is None:
        return None
    tree = Tree(tx)
    return sorted({id_ for folder_id in folder_ids for id_ in tree.below(folder_id)})


def _instant(moment: datetime.datetime | None) -> int | None:
    return None if moment is None else int(from_moment(moment))


def _text(date: datetime.date | None) -> str | None:
    return None if date is None else date.isoformat()


def _link(property_id: str | None) -> str | None:
    """The link to a property as it stands in the row's JSON."""
    if property_id is None:
        return None
    return msgspec.json.encode(DocumentLink(type="property", id=property_id)).decode()
