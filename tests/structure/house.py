"""Draw `docs/house.svg` from the imports: `python -m tests.structure.house`, as `make generate` does.

Floors stand over each other as `test_floors.py` has them, the ground at the bottom, a room in each box. A line leads
from a room to what it imports, unless it comes there by another room too: so many would hide the few that tell.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Final, NamedTuple

from tests.structure.sources import ROOT, Source, imports, sources
from tests.structure.test_floors import AREAS, AREAS_FLOOR, FLOORS, dotted_name, room_of

FILE: Final = ROOT / "docs" / "house.svg"

WIDTH: Final = 1240
LEFT: Final = 40  # of the boxes: the numbers of the floors stand before
BOX: Final = 40  # high
GAP: Final = 10
BETWEEN_FLOORS: Final = 46
LETTER: Final = 7.6  # wide, of a name
PADDING: Final = 14
_STYLE: Final = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; text-anchor: middle }
  .floor { font-size: 12px; fill: #59636e }
  .lines { font-size: 11px; fill: #59636e }
  rect { fill: #f6f8fa; stroke: #818b98; rx: 5px }
  path { fill: none; stroke: #818b98; stroke-opacity: .55 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .floor, .lines { fill: #9198a1 }
    rect { fill: #151b23; stroke: #656c76 }
    path { stroke: #9198a1 }
  }
"""

Graph = Mapping[str, frozenset[str]]


class Box(NamedTuple):
    """Where a room is drawn. `x` is its left edge."""

    x: int
    y: int
    width: int

    @property
    def middle(self) -> int:
        return self.x + self.width // 2


def floors() -> dict[str, int]:
    """Every room with its floor."""
    return {**FLOORS, **{f"areas.{area}": AREAS_FLOOR for area in AREAS}}


def imported_rooms(every: Iterable[Source]) -> Graph:
    """What each room imports of others. What stands beside all rooms, such as the version, is none."""
    found: dict[str, set[str]] = {room: set() for room in floors()}
    for source in every:
        here = room_of(dotted_name(source))
        if here in found:
            targets = (one.target for one in imports(source) if one.target.startswith("gatewayd."))
            found[here] |= {there for target in targets if (there := room_of(target)) in found and there != here}
    return {room: frozenset(targets) for room, targets in found.items()}


def reduced(graph: Graph) -> Graph:
    """Without what a room comes to by another that it imports. There is no circle in it."""
    below: dict[str, frozenset[str]] = {}

    def reach(room: str) -> frozenset[str]:
        if room not in below:
            below[room] = graph[room].union(*(reach(target) for target in graph[room]))
        return below[room]

    return {room: targets.difference(*(reach(target) for target in targets)) for room, targets in graph.items()}


def size_of(lines: int) -> str:
    """Rounded to thousands: a picture that changed with each commit would be in everybody's way."""
    thousands = (lines + 500) // 1000
    return f"{thousands},000 lines" if thousands else "a few lines"


def placed(graph: Graph) -> dict[str, Box]:
    """Where each room stands: over the middle of what it imports, as far as there is place."""
    by_floor: dict[int, list[str]] = {}
    for room, floor in floors().items():
        by_floor.setdefault(floor, []).append(room)
    boxes: dict[str, Box] = {}
    y = 0
    for floor in sorted(by_floor):
        rooms = sorted(by_floor[floor], key=lambda room: (_middle(graph[room], boxes), room))
        for row in reversed(_rows(rooms)):
            y -= BOX + GAP
            x = LEFT + (WIDTH - LEFT - sum(_width(room) + GAP for room in row)) // 2
            for room in row:
                boxes[room] = Box(x, y, _width(room))
                x += _width(room) + GAP
        y -= BETWEEN_FLOORS
    top = min(box.y for box in boxes.values()) - GAP
    return {room: box._replace(y=box.y - top) for room, box in boxes.items()}


def _middle(targets: frozenset[str], boxes: Mapping[str, Box]) -> int:
    known = [boxes[target].middle for target in sorted(targets) if target in boxes]
    return sum(known) // len(known) if known else WIDTH // 2


def _width(room: str) -> int:
    return max(int(len(_name(room)) * LETTER) + PADDING, 84)


def _name(room: str) -> str:
    return room.removeprefix("areas.")


def _rows(rooms: list[str]) -> list[list[str]]:
    """The rooms of a floor, in as many rows as they need."""
    rows: list[list[str]] = [[]]
    used = 0
    for room in rooms:
        if used + _width(room) + GAP > WIDTH - LEFT:
            rows.append([])
            used = 0
        rows[-1].append(room)
        used += _width(room) + GAP
    return rows


def _line(upper: Box, lower: Box) -> str:
    start, end = upper.y + BOX, lower.y
    bend = max((end - start) // 2, BETWEEN_FLOORS // 2)
    return (
        f'<path d="M{upper.middle} {start}C{upper.middle} {start + bend} {lower.middle} {end - bend}'
        f' {lower.middle} {end}"/>'
    )


def _drawn(room: str, box: Box, lines: int, targets: frozenset[str]) -> str:
    told = f"{room} imports {', '.join(sorted(targets)) or 'nothing of ours'}"
    return (
        f'<g><title>{escape(told)}</title><rect x="{box.x}" y="{box.y}" width="{box.width}" height="{BOX}"/>'
        f'<text x="{box.middle}" y="{box.y + 17}">{escape(_name(room))}</text>'
        f'<text class="lines" x="{box.middle}" y="{box.y + 33}">{size_of(lines)}</text></g>'
    )


def rendered() -> str:
    """The picture of the sources as they are."""
    every = sources()
    graph = imported_rooms(every)
    kept = reduced(graph)
    lines = dict.fromkeys(graph, 0)
    for source in every:
        if (room := room_of(dotted_name(source))) in lines:
            lines[room] += source.text.count("\n")
    boxes = placed(kept)
    height = max(box.y for box in boxes.values()) + BOX + GAP
    numbers: dict[int, Box] = {}
    for room, floor in floors().items():
        numbers.setdefault(floor, boxes[room])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        "<title>The rooms of gatewayd on their floors</title>",
        f"<style>{_STYLE}</style>",
        *(_line(boxes[room], boxes[to]) for room in sorted(kept) for to in sorted(kept[room]) if _is_below(room, to)),
        *(_drawn(room, boxes[room], lines[room], graph[room]) for room in sorted(boxes)),
        *(f'<text class="floor" x="18" y="{box.y + 25}">{floor}</text>' for floor, box in sorted(numbers.items())),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _is_below(room: str, target: str) -> bool:
    """Not beside it, as the few neighbours are that know each other."""
    return floors()[target] < floors()[room]


if __name__ == "__main__":
    FILE.write_text(rendered(), "utf-8")
