"""From a method and a path to a row."""

import pytest

from gatewayd.http.routes import Routes
from tests.http.probes import OPERATIONS, Target, get_thing, row

ROUTES = Routes(OPERATIONS)


def found(path: str) -> dict[str, str]:
    """Method to operation id."""
    routes, _ = ROUTES.find(path)
    return {method: route.operation.id for method, route in routes.items()}


@pytest.mark.parametrize("mount", ["", "/api/rpc"])
def test_literal_paths_and_aliases(mount: str) -> None:
    assert found(f"{mount}/words") == found(f"{mount}/probe/list") == {"GET": "probe.list"}
    assert found(f"{mount}/probe/search") == {"POST": "probe.search"}


@pytest.mark.parametrize("mount", ["", "/api/rpc"])
def test_a_literal_goes_before_a_parameter(mount: str) -> None:
    assert found(f"{mount}/things/recent") == {"GET": "probe.recent"}
    assert found(f"{mount}/things/recently") == {"GET": "probe.getThing", "PATCH": "probe.changeThing"}


def test_the_value_of_a_parameter_comes_with_its_route() -> None:
    routes, values = ROUTES.find("/things/a b")
    assert dict(zip(routes["GET"].parameters, values, strict=True)) == {"thingId": "a b"}


def test_the_alias_of_a_patch_is_a_post_with_a_body_and_takes_the_patch_too() -> None:
    routes, values = ROUTES.find("/probe/changeThing")
    assert list(routes) == ["POST", "PATCH"]
    assert all(route.in_body for route in routes.values())
    assert list(values) == []


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/api/rpc",
        "/api/rpc/",
        "/things",
        "/things/",
        "/things//",
        "/things/a/b",
        "/words/",
        "//words",
        "/WORDS",
        "words",
        "/api/rpc/api/rpc/words",
        "/api/rpcwords",
        "/api/rpcthings/a",
        "/api/rpcx/things/a",
        "x/things/a",
    ],
)
def test_paths_that_are_no_row(path: str) -> None:
    assert found(path) == {}


def test_parameters_may_have_other_names_for_other_methods() -> None:
    routes = Routes(
        [
            row("a.get", "read", get_thing, "/x/:thingId", request=Target),
            row("a.del", "write", get_thing, "/x/:word/y", request=Target, method="DELETE"),
        ]
    )
    by_method, values = routes.find("/x/1/y")
    assert (by_method["DELETE"].parameters, list(values)) == (("word",), ["1"])
    assert not by_method["DELETE"].in_body


def test_a_branch_that_leads_nowhere_is_left_again() -> None:
    routes = Routes(
        [
            row("a.deep", "read", get_thing, "/x/lit/:thingId/end", request=Target),
            row("a.wide", "read", get_thing, "/x/:thingId/other", request=Target),
        ]
    )
    by_method, values = routes.find("/x/lit/other")
    assert (by_method["GET"].operation.id, list(values)) == ("a.wide", ["lit"])
