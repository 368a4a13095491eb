"""The examples of answers that the description has: one for each operation, and each as its schema says."""

import hashlib
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator, FormatChecker

from gatewayd.contract.operation import Operation
from gatewayd.http.openapi import answer_examples
from tests.contract.answers import ANSWERING, ITEMS, SOME_TOKEN, answers, numbered, settled, shortened, written
from tests.contract.description import JSON, ROWS

EXAMPLES = answer_examples()


def test_there_is_one_of_each_operation_that_answers_json() -> None:
    assert sorted(EXAMPLES) == sorted(operation.id for operation in ANSWERING), "run `make generate`"


@pytest.mark.parametrize("operation", ANSWERING, ids=lambda operation: operation.id)
def test_an_example_is_as_its_schema_says(operation: Operation) -> None:
    row = ROWS[operation.id]
    value = row.item["responses"]["200"]["content"][JSON]["examples"]["example"]["value"]
    assert value == EXAMPLES[operation.id], "run `make generate`"
    Draft202012Validator(row.answer, format_checker=FormatChecker()).validate(value)


async def test_each_is_what_the_firm_of_the_demo_answers(tmp_path: Path) -> None:
    assert msgspec.json.decode(written(await answers(tmp_path))) == EXAMPLES, "run `make generate`"


def test_an_answer_names_what_the_example_of_the_request_names() -> None:
    made, other, new = f"inv_{'7' * 26}", f"cli_{'8' * 26}", f"cli_{'9' * 26}"
    shown = numbered([other, made], {made: f"inv_01k{'0' * 22}b"})
    assert shown == {made: f"inv_01k{'0' * 22}b", other: f"cli_01k{1:023d}"}
    text = settled(f'{{"id":"{made}","clientId":"{other}","made":"{new}","again":"{new}"}}', shown)
    assert msgspec.json.decode(text) == {
        "id": shown[made],
        "clientId": shown[other],
        "made": f"cli_01k{2:023d}",
        "again": f"cli_01k{2:023d}",
    }


def test_what_is_drawn_by_chance_is_replaced() -> None:
    by_chance = f'"secret":"whsec_{"c2Vj" * 11}","sha256":"{"ab" * 32}","url":"https://x/v/{"k" * 43}.{"m" * 43}"'
    text = settled(f'{{{by_chance},"sent":"{"cd" * 32}"}}', {}, {"cd" * 32})
    assert "c2Vj" not in text
    values = msgspec.json.decode(text)
    assert (values["sha256"], values["sent"]) == (hashlib.sha256(b"digest 0").hexdigest(), "cd" * 32)
    assert values["url"] == f"https://x/v/{SOME_TOKEN}"


def test_long_lists_are_cut() -> None:
    assert shortened({"data": [[1], [2, 3, 4], [5]]}) == {"data": [[1], [2, 3]]}
    assert ITEMS == 2
