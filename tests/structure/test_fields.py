"""A field is written once: not again in the request that changes it, nor in the row of what is answered."""

import ast
import functools
import importlib
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import pytest
from msgspec import UNSET

from gatewayd.contract.updates import updates
from gatewayd.contract.wire import Request
from tests.structure.sources import Source, sources

Struct = type[msgspec.Struct]

SOURCES = sources()
FEW = 2
"""So many fields may stand twice: to derive them would take as many lines."""
SPELLED_OUT = {
    "UpdateTenancy": "19 of 23 fields mean something else or are read by name; 8 of a new tenancy's are not in it",
}
"""Requests to change a resource that are not derived, with their reason."""


class Derived(NamedTuple):
    """A class with `@updates(...)`, where it stands."""

    source: Source
    node: ast.ClassDef

    @property
    def struct(self) -> Struct:
        return struct_named(self.source, self.node.name)

    @property
    def spelled_out(self) -> list[str]:
        """The names of its own fields, without those that have a sentence of their own: they mean something else."""
        pairs = itertools.zip_longest(self.node.body, self.node.body[1:])
        return [
            ast.unparse(node.target)
            for node, following in pairs
            if isinstance(node, ast.AnnAssign) and not isinstance(following, ast.Expr)
        ]

    @property
    def given(self) -> dict[str, Any]:
        """The types of the fields that it would have without spelling any out."""
        decorator = next(found for found in self.node.decorator_list if _is_updates(found))
        assert isinstance(decorator, ast.Call)
        module = vars(importlib.import_module(module_of(self.source)))
        arguments = {keyword.arg: keyword.value for keyword in decorator.keywords}
        create, of = (module[ast.unparse(node)] for node in (decorator.args[0], arguments["of"]))
        without = ast.literal_eval(arguments["without"]) if "without" in arguments else ()
        return types_of(updates(create, of=of, without=without)(Request))


def module_of(source: Source) -> str:
    return source.name.removesuffix(".py").replace("/", ".")


def struct_named(source: Source, name: str) -> Struct:
    struct: Struct = getattr(importlib.import_module(module_of(source)), name)
    return struct


def types_of(struct: Struct) -> dict[str, Any]:
    return {field.name: field.type for field in msgspec.structs.fields(struct)}


def classes(under: Sequence[Source]) -> Iterator[tuple[Source, ast.ClassDef]]:
    for source in under:
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef):
                yield source, node


def _is_updates(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "updates"


@functools.cache
def derived() -> list[Derived]:
    return [Derived(*found) for found in classes(SOURCES) if any(map(_is_updates, found[1].decorator_list))]


@functools.cache
def read_by_name() -> frozenset[tuple[str, str]]:
    """Each class that annotates a parameter, with a name that is read of that parameter."""
    return frozenset(pair for source in SOURCES for pair in reads(source))


def reads(source: Source) -> Iterator[tuple[str, str]]:
    for kinds, function in annotated(source):
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in kinds:
                yield from ((kind, node.attr) for kind in re.findall(r"\w+", kinds[node.value.id]))


def annotated(source: Source) -> Iterator[tuple[dict[str, str], ast.AST]]:
    """Each function with what its parameters are annotated by, where a type variable is what it may stand for."""
    assigned = [node for node in source.tree.body if isinstance(node, ast.Assign)]
    stands_for = {ast.unparse(node.targets[0]): ast.unparse(node.value) for node in assigned}
    for function in source.nodes:
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            kinds = {a.arg: ast.unparse(a.annotation) for a in function.args.args if a.annotation is not None}
            yield {name: stands_for.get(kind, kind) for name, kind in kinds.items()}, function


def needless(update: Derived) -> Iterator[str]:
    """The fields that an update spells out though it has them without, and nobody reads them by name."""
    given, struct = update.given, update.struct
    for field in msgspec.structs.fields(struct):
        repeated = field.name in update.spelled_out and field.name in given
        alike = repeated and (field.type, field.default) == (given[field.name], UNSET)
        if alike and (update.node.name, field.name) not in read_by_name():
            yield f"{update.source.at(update.node)} {update.node.name}.{field.name}"


def test_many_requests_are_derived() -> None:
    assert len(derived()) >= 15
    assert sum(len(update.given) for update in derived()) > 200


def test_no_field_is_spelled_out_that_would_be_there_without() -> None:
    assert [where for update in derived() for where in needless(update)] == []


def underived() -> Iterator[str]:
    """The requests to change what another request of their module creates, that repeat it and are not derived."""
    done = {update.node.name for update in derived()}
    for source, node in classes(SOURCES):
        create = node.name.replace("Update", "Create")
        if (
            node.name.startswith("Update")
            and node.name not in done
            and re.search(rf"^class {create}\(", source.text, re.M)
        ):
            created = types_of(struct_named(source, create)).keys()
            fields = msgspec.structs.fields(struct_named(source, node.name))
            if len([field for field in fields if field.name in created and field.default is UNSET]) > FEW:
                yield node.name


def test_what_repeats_the_request_to_create_is_derived() -> None:
    assert sorted(underived()) == sorted(SPELLED_OUT)


# -- rows


def declaring(struct: Struct, name: str) -> type:
    """The class that has a field as it is."""
    return next(kind for kind in struct.__mro__ if name in vars(kind).get("__annotations__", {}))


def repeated(row: Struct, answer: Struct) -> list[str]:
    """The fields that both spell out alike."""
    answered = types_of(answer)
    alike = [name for name, hint in types_of(row).items() if name in answered and answered[name] == hint]
    return [name for name in alike if declaring(row, name) is not declaring(answer, name)]


def pairs() -> set[tuple[str, str]]:
    """Rows and their answers, by name: what is projected to what, and what is called a row of, or stored of, what."""
    names = {node.name for _, node in classes(SOURCES)}
    called = {(row, row.removesuffix("Row").removeprefix("Stored")) for row in names}
    return {pair for source in SOURCES for pair in projections(source)} | {p for p in called if p[1] in names - {p[0]}}


def projections(source: Source) -> Iterator[tuple[str, str]]:
    for kinds, function in annotated(source):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "project":
                row, answer = map(ast.unparse, node.args[:2])
                if row in kinds:
                    yield kinds[row], answer


@functools.cache
def structs() -> dict[str, list[Struct]]:
    """The structs of the program by name, which several may have."""
    found: dict[str, list[Struct]] = {}
    for source, node in classes(SOURCES):
        if "msgspec" in source.text or "contract.wire" in source.text:
            kind = getattr(importlib.import_module(module_of(source)), node.name)
            if issubclass(kind, msgspec.Struct):
                found.setdefault(node.name, []).append(kind)
    return found


def beside() -> Iterator[tuple[Struct, Struct]]:
    """Each row with its answer."""
    for row, answer in pairs():
        yield from itertools.product(structs().get(row, ()), structs().get(answer, ()))


def test_rows_and_answers_are_found() -> None:
    known = {("TenancyRow", "Tenancy"), ("StoredCertificate", "Certificate"), ("LinkRow", "DocumentLinkAccess")}
    assert known <= {(row.__name__, answer.__name__) for row, answer in beside()}


def test_no_row_repeats_its_answer() -> None:
    found = {f"{row.__name__}, {answer.__name__}": repeated(row, answer) for row, answer in beside()}
    assert {both: names for both, names in found.items() if len(names) > FEW} == {}


# -- the tests of these tests


class CreateBuoy(Request, frozen=True, kw_only=True):
    """A new buoy."""

    name: str
    colour: str | None = None


class Buoy(msgspec.Struct, frozen=True, kw_only=True):
    """A buoy."""

    name: str
    colour: str | None
    lit: bool


class BuoyRow(msgspec.Struct, frozen=True, kw_only=True):
    """A buoy beside its answer."""

    name: str
    colour: str | None
    lit: bool


class LitBuoyRow(Buoy, frozen=True, kw_only=True):
    """A buoy of its answer."""

    colour: str
    keeper: str


@pytest.mark.parametrize(("row", "names"), [(BuoyRow, ["name", "colour", "lit"]), (LitBuoyRow, [])])
def test_what_a_row_repeats(row: Struct, names: list[str]) -> None:
    assert repeated(row, Buoy) == names
