"""The first and the last date that can be written, in each date that a row takes: no error of ours comes of them."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.contract.boundaries import Json
from tests.contract.conftest import OpenCatalogue
from tests.contract.description import DESCRIPTION, ROWS
from tests.contract.rows import BY_ID, example, send

FIRST, LAST = "0001-01-01", "9999-12-31"
OTHER_DAYS = {"taxYear", "periodId"}  # in whose place dates stand

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
    found = {name: value for name, value in values.items() if name not in OTHER_DAYS}
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
