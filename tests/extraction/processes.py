"""What processes there are, as /proc tells."""

import os
from pathlib import Path


def below(pid: int) -> set[int]:
    """All that a process started and what those started, without those that have ended."""
    children: dict[int, list[int]] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and (found := _state(place)) is not None and found[0] != "Z":
            children.setdefault(found[1], []).append(int(place.name))
    reached, left = set[int](), [pid]
    while left:
        mine = children.get(left.pop(), [])
        reached.update(mine)
        left += mine
    return reached


def _state(place: Path) -> tuple[str, int] | None:
    try:
        state, parent = (place / "stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return state, int(parent)


def resident_bytes() -> int:
    """Of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
