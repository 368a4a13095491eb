"""Legal entities for tests, through the handlers."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from gatewayd.areas.legal_entities import operations as legal_entities
from gatewayd.areas.legal_entities.operations import OPERATIONS
from gatewayd.areas.legal_entities.shapes import (
    ArchiveLegalEntity,
    CreateLegalEntity,
    GetLegalEntities,
    GetLegalEntity,
    UpdateLegalEntity,
)
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.errors import Problem
from gatewayd.http.render import success
from tests.support.store import MemoryStore, make_caller

_ROWS = {operation.handler: operation for operation in OPERATIONS}

Entity = dict[str, Any]
VRN, OTHER_VRN = "980780684", "802311782"
UTR = "1955839661"
NINO = "AB123456C"
COMPANY: Mapping[str, object] = {"name": "Oak Ltd", "type": "limited_company", "companyNumber": "01234567"}
PERSON: Mapping[str, object] = {"name": "Ash Brown", "type": "sole_trader"}


class Firm:
    """One organization's view of its legal entities; requests are decoded as those from the wire are."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.org_id = store.org()
        self.caller = make_caller(self.org_id)

    def create(self, **values: object) -> Entity:
        request = _decoded(legal_entities.create_legal_entity, values, CreateLegalEntity)
        run = legal_entities.create_legal_entity
        return _answer(self.store.write(lambda tx: run(tx, self.caller, request), self.org_id))

    def update(self, entity_id: str, **values: object) -> Entity:
        request = _decoded(legal_entities.update_legal_entity, {"id": entity_id, **values}, UpdateLegalEntity)
        run = legal_entities.update_legal_entity
        return _answer(self.store.write(lambda tx: run(tx, self.caller, request), self.org_id))

    def archive(self, entity_id: str, **values: object) -> Entity:
        request = _decoded(legal_entities.archive_legal_entity, {"id": entity_id, **values}, ArchiveLegalEntity)
        run = legal_entities.archive_legal_entity
        return _answer(self.store.write(lambda tx: run(tx, self.caller, request), self.org_id))

    def get(self, entity_id: str) -> Entity:
        request = GetLegalEntity(id=entity_id)
        run = legal_entities.get_legal_entity
        return _answer(self.store.read(lambda tx: run(tx, self.caller, request), self.org_id))

    def page(self, **values: object) -> Entity:
        request = msgspec.convert(values, GetLegalEntities, strict=False)
        run = legal_entities.get_legal_entities
        return _answer(self.store.read(lambda tx: run(tx, self.caller, request), self.org_id))

    def names(self, **values: object) -> list[str]:
        return [entity["name"] for entity in self.page(**values)["data"]]


def refusal(error: Problem) -> tuple[str, list[tuple[str, str]]]:
    """The code of a problem, and path and code of each field."""
    return error.code, [(field.path, field.code) for field in error.errors]


def refuses(action: Any, *arguments: object, **values: object) -> Problem:
    """The problem that `action` raises."""
    with pytest.raises(Problem) as caught:
        action(*arguments, **values)
    return caught.value


def _decoded(handler: Any, values: Mapping[str, object], expected: type[Any]) -> Any:
    request = RequestDecoder(_ROWS[handler]).body(msgspec.json.encode(values))
    assert isinstance(request, expected)
    return request


def _answer(result: object) -> Entity:
    answer: Entity = msgspec.json.decode(success(result).body)
    return answer
