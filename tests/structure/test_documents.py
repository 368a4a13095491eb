"""The documents say what the program does, where both have the same table."""

import re
from collections.abc import Iterator

from gatewayd.config import Config
from gatewayd.contract.scopes import SCOPES
from gatewayd.errors import ERRORS
from gatewayd.events import EVENT_KINDS
from tests.contract import promises
from tests.structure.sources import ROOT
from tests.structure.test_floors import AREAS, AREAS_FLOOR, FLOORS, FOLDERS

SPEC = (ROOT / "docs" / "spec.md").read_text("utf-8")
DOMAIN = (ROOT / "docs" / "domain.md").read_text("utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


def cells(text: str, heading: str) -> Iterator[list[str]]:
    """The rows of every table below a heading, up to the next one of its level, without their heads."""
    level, _, _ = heading.partition(" ")
    below = text[text.index(f"\n{heading}") + len(heading) + 1 :]
    after = re.search(rf"^#{{2,{len(level)}}} ", below, re.MULTILINE)
    lines = (below[: after.start()] if after else below).splitlines()
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
