"""`docs/operations.md`: fresh, whole, and no operation without a place."""

import pytest

from gatewayd.contract.operation import Area, Operation
from gatewayd.http.routes import Routes
from tests.contract.files_of_operations import FILE, Unfindable, file_of_tests, files, named_in, rows_in, written
from tests.http import probes
from tests.http.probes import row
from tests.structure.sources import ROOT, Source


def test_the_document_is_fresh() -> None:
    assert FILE.read_text("utf-8") == written(), "run `make generate`"


def test_every_row_stands_in_the_folder_of_its_area() -> None:
    folders = {title: {one.row.rpartition("/")[0] for one in found} for title, found in files().items()}
    for title, rows in folders.items():
        deep = 3 if all(folder.startswith("gatewayd/areas/") for folder in rows) else 2
        assert len({tuple(folder.split("/")[:deep]) for folder in rows}) == 1, title
    assert sum(folder.startswith("gatewayd/areas/") for rows in folders.values() for folder in rows) > 30


def test_every_other_handler_is_an_engines_or_in_the_same_area() -> None:
    apart = {one.operation.id: one for found in files().values() for one in found if one.handler}
    assert len(apart) >= 18
    for one in apart.values():
        area = one.row.split("/")[:3]
        assert one.handler.split("/")[:3] == area or not one.handler.startswith("gatewayd/areas/"), one


# -- the document's own eyes


def written_file(name: str, text: str) -> Source:
    return Source(ROOT / name, name, text)


def found_test(operation: Operation, *given: tuple[str, str]) -> str:
    routes = Routes([operation])
    tests = [named_in(written_file(name, text), routes) for name, text in given]
    return file_of_tests(operation, ("gatewayd/areas/a/things/operations.py", "gatewayd/engine/operations.py"), tests)


THING = row("a.getThing", "read", probes.get_thing, "/things/:thingId", request=probes.Target)


def test_an_operation_that_stands_nowhere_is_named() -> None:
    with pytest.raises(Unfindable, match=r"^a\.getThing has 0 rows; a\.x has 0 rows$"):
        files([Area("a", "A", (THING, row("a.x", "read", probes.read, "/x")))])


def test_a_row_is_found_by_the_id_that_it_is_given() -> None:
    text = "OPERATIONS = (Operation(id='a.x', kind='read'), _row('a.y', z), Other(id='a.z'))"
    assert rows_in([written_file("gatewayd/a.py", text)]) == {"a.x": ["gatewayd/a.py"], "a.y": ["gatewayd/a.py"]}


@pytest.mark.parametrize(
    "text",
    [
        "call('a.getThing')",
        "api('GET', '/things/thg_1')",
        "api('GET', f'/api/rpc/things/{made}?full=true')",
        "path = f'/things'\napi('GET', f'{path}/{made}')",
        "from tests.http import probes\nfrom gatewayd.x import y\nbooks.ask('getThing')",
    ],
)
def test_a_test_is_found_by_what_it_names(text: str) -> None:
    assert found_test(THING, ("tests/areas/a/test_x.py", text)) == "tests/areas/a/test_x.py"


@pytest.mark.parametrize("text", ["call('a.getOther')", "api('GET', '/things')", "'a getThing b'", "x.getThing"])
def test_what_names_something_else_is_no_test(text: str) -> None:
    assert found_test(THING, ("tests/areas/a/test_x.py", text)) == ""


def test_what_holds_no_test_lends_its_functions() -> None:
    books = ("tests/areas/a/books.py", "def thing(self):\n    return self.ask('a.getThing')")
    assert found_test(THING, books) == ""
    assert found_test(THING, books, ("tests/areas/a/test_x.py", "books.thing()")) == "tests/areas/a/test_x.py"
    assert found_test(THING, books, ("tests/areas/b/test_x.py", "books.thing()")) == ""


def test_of_several_tests_the_one_of_the_resource_is_taken() -> None:
    names = "'a.getThing'\n"
    resource, beside, of_engine = ("tests/areas/a/test_things.py", "tests/areas/a/test_x.py", "tests/engine/test_x.py")
    others = [("tests/daemon/test_things.py", 3 * names), ("tests/oauth/test_x.py", names)]
    assert found_test(THING, *others, (beside, 2 * names), (resource, names)) == resource
    assert found_test(THING, *others, (of_engine, names), (beside, 2 * names)) == beside
    assert found_test(THING, *others, (of_engine, names)) == of_engine
    assert found_test(THING, *others) == others[0][0]
