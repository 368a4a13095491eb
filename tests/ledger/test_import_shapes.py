"""What a run of an import asks: fields by the names that a request has for them."""

import msgspec
import pytest

from gatewayd.ledger.imports.import_shapes import ColumnMapping, MappingDoubt, MappingProposal, SupposedReading
from gatewayd.statements.shapes import Doubt, Mapping, Proposal, Supposed

NAMES = [
    ("date_format", "dateFormat"),
    ("negate_balance", "negateBalance"),
    ("instrument", "instrument"),
    ("columns", "columns"),
]


@pytest.mark.parametrize(("of_reader", "of_request"), NAMES)
def test_what_is_in_doubt_has_the_name_of_the_request(of_reader: str, of_request: str) -> None:
    asked = Proposal(headings=(), rows=(), mapping=Mapping(), doubts=(Doubt(field=of_reader, question="Which?"),))
    assert [doubt.field for doubt in MappingProposal.of(asked).doubts] == [of_request]
    assert of_request in ColumnMapping.__struct_encode_fields__ or of_request == "columns"


@pytest.mark.parametrize(("of_reader", "of_request"), NAMES)
def test_a_run_of_an_older_program_is_shown_so_too(of_reader: str, of_request: str) -> None:
    stored = msgspec.json.encode({"field": of_reader, "question": "Which?", "choices": []})
    assert msgspec.json.decode(stored, type=MappingDoubt).field == of_request


def test_what_was_supposed_has_the_name_of_the_request() -> None:
    names = ["date_format", "paid_in", "fxRate", "transactionId"]
    shown = [SupposedReading.of(Supposed(field=name, value="", reason="")).field for name in names]
    assert shown == ["dateFormat", "paidIn", "fxRate", "transactionId"]
