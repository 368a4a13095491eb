"""`/admin/health`: whether the daemon is ready, what its checks find, and what to do about each."""

from collections.abc import Mapping, Sequence
from typing import Final

from quart import Quart, render_template

import gatewayd
from gatewayd.console.addresses import ADMIN_HEALTH
from gatewayd.console.administration.administrators import administrator
from gatewayd.console.components.shapes import Cell, Column, Row, Table, Tone
from gatewayd.console.components.words import size
from gatewayd.console.instance import Figures, Finding, State
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts

_OK: Final = "ok"
_BADGES: Final[Mapping[State, tuple[str, Tone]]] = {
    "well": ("fine", "success"),
    "wrong": ("wrong", "danger"),
    "unknown": ("not known", "warning"),
}
_PARTS: Final = {
    "store": (
        "Database",
        "It answers and takes writes.",
        "Make room on the disk, and see the log. Where it stays so, gatewayd verify looks for damage.",
    ),
    "clock": (
        "Clock",
        "It goes on, and nothing is dated ahead of it.",
        "Set the machine's clock. Where it is right, run gatewayd accept-clock.",
    ),
    "dispatcher": ("Webhook deliveries", "They are sent.", "Start the daemon anew; the log says what ended them."),
    "stopping": ("Service", "Nobody has asked it to stop.", "Nothing: it answers what is under way, and ends."),
    "files": (
        "Shared documents",
        "The place is there.",
        "Mount the folder, or let the bucket be reached: see the check below.",
    ),
}
"""What readiness tells of, as people call it; what is said where all is well; what to do where it is not."""
_READY_COLUMNS: Final = (Column("Part"), Column("State", "badge"), Column("What it says"), Column("What to do"))
_CHECK_COLUMNS: Final = (Column("Check"), Column("State", "badge"), Column("What was found"), Column("What to do"))


class Health:
    """The page of the instance's health."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._instance, self._clock = parts.instance, parts.clock

    def add_to(self, app: Quart) -> None:
        """Put the page where it belongs."""
        add_page(app, "GET", ADMIN_HEALTH, self.show)

    async def show(self) -> str:
        administrator()
        figures, findings = await self._instance.figures(), await self._instance.examine()
        parts = _parts_table(self._instance.readiness())
        checks = _checks_table(findings)
        return await render_template(
            "administration/health.html",
            verdict=_verdict(self._instance.readiness(), findings),
            parts=parts,
            checks=checks,
            facts=_facts(figures),
            now=self._clock.now(),
        )


def _verdict(ready: Mapping[str, str], findings: Sequence[Finding]) -> tuple[Tone, str]:
    """What all of it comes to, and how that is drawn."""
    wrong = sum(state != _OK for state in ready.values()) + sum(each.state == "wrong" for each in findings)
    unknown = sum(each.state == "unknown" for each in findings)
    late = f" {unknown} could not be found out." if unknown else ""
    if wrong:
        return "danger", f"{wrong} thing{' is' if wrong == 1 else 's are'} wrong.{late}"
    return ("warning", f"Nothing is known to be wrong.{late}") if unknown else ("success", "Nothing is wrong.")


def _parts_table(ready: Mapping[str, str]) -> Table:
    rows = []
    for part, state in ready.items():
        name, well, advice = _PARTS.get(part, (part, "", ""))
        is_ok = state == _OK
        badge = Cell(text="ready" if is_ok else "not ready", tone="success" if is_ok else "danger")
        said = well if is_ok else f"{name}: {state}."
        rows.append(Row(cells=(Cell(text=name), badge, Cell(text=said), Cell(text="" if is_ok else advice))))
    return Table(caption="Readiness of each part", columns=_READY_COLUMNS, rows=rows)


def _checks_table(findings: Sequence[Finding]) -> Table:
    """What is wrong stands first, and what is not known behind it."""
    order: list[State] = ["wrong", "unknown", "well"]
    rows = [_check_row(each) for each in sorted(findings, key=lambda each: order.index(each.state))]
    return Table(caption="What the checks found", columns=_CHECK_COLUMNS, rows=rows)


def _check_row(found: Finding) -> Row:
    text, tone = _BADGES[found.state]
    name = found.about[:1].upper() + found.about[1:]
    return Row(cells=(Cell(text=name), Cell(text=text, tone=tone), Cell(text=found.sentence), Cell(text=found.advice)))


def _facts(figures: Figures) -> list[tuple[str, Cell]]:
    unknown = Cell(text="not known now")

    def sized(count: int | None) -> Cell:
        return unknown if count is None else Cell(text=size(count))

    return [
        ("gatewayd", Cell(text=gatewayd.__version__)),
        ("Database", Cell(text=figures.engine) if figures.engine else unknown),
        ("Its last migration", Cell(text=f"{figures.schema:04}") if figures.schema else unknown),
        ("Its size", sized(figures.store_bytes)),
        ("Free on its disk", sized(figures.free_bytes)),
        ("Memory of the daemon", sized(figures.memory_bytes)),
        ("Running since", Cell(at=figures.started_at, kind="moment")),
    ]
