"""Every operation x outcome has a test: each code in a row's `errors` is proven by a test that names both.

A test names them in its name, `test_create_invoice_number_taken` or `test_webhooks_create_limit_reached`, or by
`@pytest.mark.outcome("accounting.createInvoice", "number_taken")`. The common codes are proven for every row by
`tests/contract`.
"""

import ast
import re
from collections.abc import Iterator

import pytest

from gatewayd.contract.operation import Operation
from tests.contract.rows import BY_ID, OPERATIONS
from tests.structure.sources import TESTS, Source, sources

Function = ast.FunctionDef | ast.AsyncFunctionDef
OUTCOMES = [(operation, code) for operation in OPERATIONS for code in operation.errors]


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def names_of(operation: Operation) -> tuple[str, ...]:
    """How test names may write the operation: with its area, or alone where that is more than one word."""
    area, _, method = operation.id.partition(".")
    whole = f"{snake(area)}_{snake(method)}"
    return (whole, snake(method)) if "_" in snake(method) else (whole,)


def constants(source: Source) -> dict[str, str]:
    """The texts that a test file gives names to."""
    return {
        target.id: node.value.value
        for node in source.tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def marked(source: Source, function: Function) -> Iterator[tuple[str, str]]:
    """The operation and code of each `outcome` marker."""
    named = constants(source)
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.outcome":
            operation, code = (named[a.id] if isinstance(a, ast.Name) else ast.literal_eval(a) for a in decorator.args)
            yield operation, code


def functions(source: Source) -> Iterator[Function]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node


TESTED = [(source, function) for source in sources(TESTS) for function in functions(source)]
MARKS = {mark: source.at(function) for source, function in TESTED for mark in marked(source, function)}
NAMES = [function.name for _, function in TESTED]


def is_tested(operation: Operation, code: str, names: list[str] = NAMES) -> bool:
    if (operation.id, code) in MARKS:
        return True
    return any(
        re.search(rf"(^|_){written}(_|$)", name) and re.search(rf"(^|_){code}(_|$)", name)
        for written in names_of(operation)
        for name in names
    )


@pytest.mark.parametrize(("operation", "code"), OUTCOMES, ids=[f"{o.id} {code}" for o, code in OUTCOMES])
def test_an_outcome_has_a_test(operation: Operation, code: str) -> None:
    assert is_tested(operation, code), f"no test names {operation.id} and {code}"


def test_a_mark_names_a_row_and_one_of_its_codes() -> None:
    assert [f"{where}: {o} {c}" for (o, c), where in MARKS.items() if o not in BY_ID or c not in BY_ID[o].errors] == []


def test_names_are_read_word_by_word() -> None:
    create = BY_ID["webhooks.create"]
    assert is_tested(create, "rate_limited", ["test_webhooks_create_rate_limited"])
    assert not is_tested(create, "rate_limited", ["test_create_rate_limited", "test_webhooks_created_rate_limited"])
    invoice = BY_ID["accounting.createInvoice"]
    assert is_tested(invoice, "number_taken", ["test_create_invoice_twice_is_number_taken"])
