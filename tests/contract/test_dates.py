"""Dates that a row takes: the first and the last that can be written, and ranges that end before they begin."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.contract.boundaries import Json
from tests.contract.conftest import OpenCatalogue
from tests.contract.description import DESCRIPTION, ROWS
from tests.contract.rows import BY_ID, example, send

FIRST, LAST = "0001-01-01", "9999-12-31"
RANGES = (("From", "To"), ("fromDate", "toDate"))  # how the two ends of a range are called
OTHER_DAYS = ("taxYear", "periodId")  # in whose place dates stand

Path = tuple[str, ...]


def dates(schema: Json, path: Path = ()) -> Iterator[Path]:
    """Where dates stand in a request, one object or the first of a list deep."""
    for name, member in schema.get("properties", {}).items():
        for one in choices(member):
            if one.get("format") == "date":
                yield *path, name
            elif not path:
                inner = choices(one["items"])[0] if one.get("type") == "array" else one
                yield from dates(inner, (name,))


def choices(schema: Json) -> list[Json]:
    """What a value may be, without references."""
    if "$ref" in schema:
        return choices(DESCRIPTION["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    return [one for each in schema["anyOf"] for one in choices(each)] if "anyOf" in schema else [schema]


DATED = {row.id: found for row in ROWS.values() if (found := list(dict.fromkeys(dates(row.request))))}


def put(values: Mapping[str, Any], given: Mapping[Path, str]) -> dict[str, Any]:
    """`values` with these dates in them, and no other days."""
    others = (*OTHER_DAYS, *(end for pair in RANGES for end in pair))
    found = {name: value for name, value in values.items() if not name.endswith(others)}
    for (name, *inner), date in given.items():
        if not inner:
            found[name] = date
        elif isinstance(found.get(name), list):
            found[name] = [{**found[name][0], inner[0]: date}, *found[name][1:]]
        else:
            found[name] = {**(found.get(name) or {}), inner[0]: date}
    return found


def given_dates(paths: list[Path]) -> Iterator[dict[Path, str]]:
    """Each alone, all together, and the widest range."""
    for date in (FIRST, LAST):
        yield from ({path: date} for path in paths)
        yield dict.fromkeys(paths, date)
    if len(paths) > 1:
        yield {paths[0]: FIRST, **dict.fromkeys(paths[1:], LAST)}


@pytest.mark.parametrize("operation_id", DATED)
async def test_no_date_is_an_error_of_ours(open_catalogue: OpenCatalogue, operation_id: str) -> None:
    operation = BY_ID[operation_id]
    async with open_catalogue() as (api, ids):
        for given in given_dates(DATED[operation_id]):
            reply = await send(api, operation, put(example(operation, ids), given))
            assert reply.status < 500, given


def ranges(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """The first and the last day of each range that a query takes."""
    names = [path[0] for path in paths if len(path) == 1]
    for name in names:
        for first, last in RANGES:
            other = name.removesuffix(first) + last
            if name.endswith(first) and other in names:
                yield name, other


def preferred(operation_id: str, paths: list[Path]) -> list[Path]:
    """Without former names, whose faults are told under those of today."""
    former = getattr(BY_ID[operation_id].request, "former_names", {})
    return [path for path in paths if path[0] not in former]


RANGED = {
    id_: found for id_, paths in DATED.items() if ROWS[id_].body is None and (found := [*ranges(preferred(id_, paths))])
}


@pytest.mark.parametrize("operation_id", RANGED)
async def test_a_range_that_ends_before_it_begins_is_refused(open_catalogue: OpenCatalogue, operation_id: str) -> None:
    operation = BY_ID[operation_id]
    async with open_catalogue() as (api, ids):
        for first, last in RANGED[operation_id]:
            given = {(first,): "2026-02-02", (last,): "2026-02-01"}
            reply = await send(api, operation, put(example(operation, ids), given))
            assert reply.status == 422, reply.body
            assert [(error["path"], error["code"]) for error in reply.json()["errors"]] == [(last, "date_order")]


OF_TAX_YEARS = [
    row.id for row in ROWS.values() if "taxYear" in row.parameters["properties"] and not row.path.startswith("/tax/")
]


@pytest.mark.parametrize("operation_id", OF_TAX_YEARS)
async def test_a_tax_year_that_does_not_end_in_the_next_is_refused(
    open_catalogue: OpenCatalogue, operation_id: str
) -> None:
    operation = BY_ID[operation_id]
    async with open_catalogue() as (api, ids):
        reply = await send(api, operation, {**put(example(operation, ids), {}), "taxYear": "2026-28"})
        assert reply.status == 422, reply.body
        assert [(error["path"], error["code"]) for error in reply.json()["errors"]] == [("taxYear", "invalid_format")]
