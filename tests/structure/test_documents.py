"""The documents say what the program does, where both have the same table."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from gatewayd.config import Config
from gatewayd.contract.scopes import SCOPES
from gatewayd.errors import ERRORS
from gatewayd.events import EVENT_KINDS
from tests.contract import promises
from tests.contract.rows import OPERATIONS
from tests.structure import house
from tests.structure.sources import PACKAGE, ROOT, Source
from tests.structure.test_floors import AREAS, AREAS_FLOOR, FLOORS, FOLDERS

SPEC = (ROOT / "docs" / "spec.md").read_text("utf-8")
DOMAIN = (ROOT / "docs" / "domain.md").read_text("utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
TOUR = (ROOT / "docs" / "tour.md").read_text("utf-8")


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next one of its level."""
    level, _, _ = heading.partition(" ")
    below = text[text.index(f"\n{heading}") + len(heading) + 1 :]
    after = re.search(rf"^#{{2,{len(level)}}} ", below, re.MULTILINE)
    return below[: after.start()] if after else below


def cells(text: str, heading: str) -> Iterator[list[str]]:
    """The rows of every table below a heading, without their heads."""
    lines = section(text, heading).splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("|") and not line.startswith("|---") and not following.startswith("|---"):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def code(cell: str) -> list[str]:
    """What a cell has in code marks."""
    return re.findall(r"`([^`]+)`", cell)


def test_the_specification_lists_the_promised_operations() -> None:
    listed = [(*code(row[0]), row[1], *code(row[2])) for row in cells(SPEC, "## 4. Operations")]
    assert sorted(listed) == sorted((one.operation_id, one.method, one.path) for one in promises.read().values())


def test_the_domain_tells_of_every_promised_operation() -> None:
    rows = [*cells(DOMAIN, "## A. Operations"), *cells(DOMAIN, "### D1. ")]
    assert sorted(promises.read().keys() - {id_ for row in rows for id_ in code(row[0])}) == []


def test_the_specification_lists_the_scopes() -> None:
    assert [name for row in cells(SPEC, "### OAuth scopes") for name in code(row[0])] == list(SCOPES)


def test_the_specification_lists_the_event_kinds() -> None:
    promised = [name for name, kind in EVENT_KINDS.items() if not kind.extension]
    assert [name for row in cells(SPEC, "## 6. Events") for name in code(row[0])] == promised


def test_the_specification_has_the_limits_that_are_the_settings_defaults() -> None:
    webhooks, limits = Config().webhooks, dict(cells(SPEC, "## 8. Limits"))
    assert limits["time for a receiver to answer"] == f"{webhooks.timeout_seconds:g} seconds"
    assert limits["attempts in all"] == str(webhooks.max_attempts)
    assert limits["waits between them"].startswith(f"{webhooks.first_retry_seconds} s, ")
    assert limits["waits between them"].endswith(f"at most {webhooks.retry_cap_seconds // 3600} hours")


def test_the_common_errors_of_the_domain_are_those_of_the_program() -> None:
    rows = [row for row in cells(DOMAIN, "### 0.2 On the wire") if row[0].isdigit()]
    listed = {name: int(status) for status, codes, _ in rows for name in code(codes)}
    assert len(listed) > 15
    assert {name: ERRORS[name].status for name in listed} == listed


def test_the_sources_of_figures_are_listed() -> None:
    """`[?]` is a figure that nobody has confirmed, `[computed]` one that follows from those beside it."""
    names = [name.strip() for row in cells(DOMAIN, "## H. Sources") for name in row[0].split(";")]
    figures = " ".join(DOMAIN[: DOMAIN.index("\n## H. Sources\n")].split())
    groups = re.findall(r"\[([^\]]+)\](?!\()", re.sub(r"`[^`]*`", "", figures))
    sources = {source.strip() for group in groups for source in group.split(",")}
    assert sorted(one for one in sources if not one.startswith(("?", "computed", *names))) == []
    assert [name for name in names if name not in figures] == []


def test_the_architecture_has_every_room_on_its_floor() -> None:
    described = [(room, int(floor)) for floor, rooms, text in cells(ARCHITECTURE, "## Floors") for room in code(rooms)]
    assert {room: FLOORS[room] for room in FLOORS} == {room: dict(described).get(room) for room in FLOORS}
    areas = next(text for floor, rooms, text in cells(ARCHITECTURE, "## Floors") if rooms == "`areas`")
    assert (dict(described)["areas"], sorted(code(areas))) == (AREAS_FLOOR, sorted(AREAS))


def test_the_architecture_has_every_folder_of_an_area_on_its_floor() -> None:
    told = re.findall(r"^### Inside `(\w+)`$", ARCHITECTURE, re.MULTILINE)
    assert "assets" in told
    for area in told:
        rows = cells(ARCHITECTURE, f"### Inside `{area}`")
        described = [(folder, int(floor)) for floor, folders, text in rows for folder in code(folders)]
        assert sorted(described) == sorted(FOLDERS[area].items()), area


def test_the_picture_of_the_house_is_drawn_from_the_imports_as_they_are() -> None:
    assert house.FILE.read_text("utf-8") == house.rendered(), "run: make generate"


def test_a_line_of_the_picture_leads_to_what_no_other_room_leads_to() -> None:
    graph = {"a": frozenset({"b", "c"}), "b": frozenset({"c"}), "c": frozenset[str]()}
    assert house.reduced(graph) == {"a": {"b"}, "b": {"c"}, "c": frozenset()}
    boxes = house.placed(house.imported_rooms([])).values()
    assert all(one == other or apart(one, other) for one in boxes for other in boxes)


def apart(one: house.Box, other: house.Box) -> bool:
    return one.y != other.y or one.x + one.width <= other.x or other.x + other.width <= one.x


def paths(text: str) -> list[str]:
    """The files and folders that are named in code marks, without what stands behind a colon."""
    named = (one.partition(":")[0] for one in code(text))
    return [one for one in named if re.fullmatch(r"[\w.-]+(/[\w.-]+)+/?|[\w-]+\.py", one)]


def definitions(source: Source) -> set[str]:
    """The functions, classes and constants of a file, and the methods of its classes: `Table.new`."""
    found = set()
    for node in source.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {ast.unparse(target) for target in targets}
        if isinstance(node, ast.ClassDef):
            members = (one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
            found |= {f"{node.name}.{one.name}" for one in members}
    return found


def lost(text: str, roots: tuple[Path, ...]) -> list[str]:
    """What a document names that is not there: a path below none of the roots, a name that its file does not define."""
    faults = [path for path in paths(text) if not any((root / path).exists() for root in roots)]
    for path, _, name in (one.partition(":") for one in code(text) if ".py:" in one):
        file = ROOT / path
        if file.is_file() and name not in definitions(Source(file, path)):
            faults.append(f"{path}:{name}")
    return faults


def test_the_architecture_names_files_that_are_there() -> None:
    assert len(paths(ARCHITECTURE)) > 80
    assert lost(ARCHITECTURE, (ROOT, PACKAGE)) == []


def test_the_tour_names_what_is_there() -> None:
    assert len([one for one in code(TOUR) if ".py:" in one]) > 40
    assert lost(TOUR, (ROOT,)) == []


def test_the_tour_walks_one_operation_of_each_kind() -> None:
    shown = re.findall(r"^## A (\w+): `([\w.]+)`$", TOUR, re.MULTILINE)
    kinds = {operation.id: operation.kind for operation in OPERATIONS}
    assert [kind for kind, _ in shown] == ["read", "write", "call"]
    assert [kinds[operation_id] for _, operation_id in shown] == ["read", "write", "call"]


def test_each_of_the_five_ways_has_ten_lines_at_most() -> None:
    ways = section(ARCHITECTURE, "## Five ways, file by file")
    told = re.split(r"^\*\*[^\n]*\n", ways, flags=re.MULTILINE)[1:]
    assert len(told) == 5
    assert max(len(way.split("\n")) - way.split("\n").count("") for way in told) <= 10


def test_what_is_lost_is_seen() -> None:
    text = "`tests/none.py`, `gatewayd/clock.py:none`, `/api`, `gatewayd/clock.py:Clock`, `gatewayd/clock.py:Clock.now`"
    assert lost(text, (ROOT,)) == ["tests/none.py", "gatewayd/clock.py:none"]
