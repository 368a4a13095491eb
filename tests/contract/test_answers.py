"""The examples of answers that the description has: one for each operation, and each as its schema says."""

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from gatewayd.contract.operation import Operation
from gatewayd.http.openapi import answer_examples
from tests.contract.answers import ITEMS, settled, shortened
from tests.contract.description import JSON, ROWS
from tests.contract.rows import OPERATIONS

EXAMPLES = answer_examples()
ANSWERING = [operation for operation in OPERATIONS if not operation.gives_file]


def test_there_is_one_of_each_operation_that_answers_json() -> None:
    assert sorted(EXAMPLES) == sorted(operation.id for operation in ANSWERING), "run `make generate`"


@pytest.mark.parametrize("operation", ANSWERING, ids=lambda operation: operation.id)
def test_an_example_is_as_its_schema_says(operation: Operation) -> None:
    row = ROWS[operation.id]
    value = row.item["responses"]["200"]["content"][JSON]["examples"]["example"]["value"]
    assert value == EXAMPLES[operation.id], "run `make generate`"
    Draft202012Validator(row.answer, format_checker=FormatChecker()).validate(value)


def test_an_answer_names_what_the_example_of_the_request_names() -> None:
    made, other = f"inv_{'7' * 26}", f"cli_{'8' * 26}"
    text = settled(f'{{"id":"{made}","clientId":"{other}","again":"{other}"}}', {"inv_b": made})
    second = f"cli_01k{1:023d}"
    assert text == f'{{"id":"inv_01k{"0" * 22}b","clientId":"{second}","again":"{second}"}}'


def test_what_is_drawn_by_chance_is_replaced() -> None:
    text = settled(
        f'{{"secret":"whsec_c2VjcmV0","sha256":"{"ab" * 32}","url":"https://x/v/{"k" * 43}.{"m" * 43}"}}', {}
    )
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert text == f'{{"secret":"whsec_ZXhhbXBsZQ==","sha256":"{empty}","url":"https://x/v/example"}}'


def test_long_lists_are_cut() -> None:
    assert shortened({"data": [[1], [2, 3, 4], [5]]}) == {"data": [[1], [2, 3]]}
    assert ITEMS == 2
