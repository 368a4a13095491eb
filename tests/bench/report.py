"""The results: ratios beside what is wanted of them, printed as a table and written as JSON. Nothing here fails."""

import json
import platform
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.bench.measure import Sample, Samples


@dataclass(frozen=True, slots=True)
class Bound:
    """What is wanted of a figure: at most or at least so much."""

    sense: str
    value: float

    def met(self, value: float) -> bool:
        return value <= self.value if self.sense == "at most" else value >= self.value

    def __str__(self) -> str:
        return f"{self.sense} {self.value:g}"


def at_most(value: float) -> Bound:
    return Bound("at most", value)


def at_least(value: float) -> Bound:
    return Bound("at least", value)


def percentile(values: Sequence[float], percent: int) -> float:
    """The least value that so many percent are not above."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


@dataclass(frozen=True, slots=True)
class Figure:
    """Values of several rounds of one thing; the median counts. Without a unit it is a ratio."""

    name: str
    values: Sequence[float]
    bound: Bound | None = None
    unit: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def as_row(self) -> tuple[str, ...]:
        verdict = "" if self.bound is None else "met" if self.bound.met(self.median) else "MISSED"
        spread = f"{_number(min(self.values))} - {_number(max(self.values))}" if len(self.values) > 1 else ""
        return self.name, f"{_number(self.median)} {self.unit}".strip(), spread, str(self.bound or ""), verdict

    def as_json(self) -> dict[str, object]:
        bound = None if self.bound is None else {"sense": self.bound.sense, "value": self.bound.value}
        met = None if self.bound is None else self.bound.met(self.median)
        return {
            "name": self.name,
            "unit": self.unit or "ratio",
            "median": self.median,
            "values": list(self.values),
            "bound": bound,
            "met": met,
        }


@dataclass(slots=True)
class Report:
    """All that a run found out."""

    settings: dict[str, object]
    samples: Samples = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, title: str, samples: Samples, figures: Iterable[Figure], notes: Iterable[str] = ()) -> None:
        """Keep one part's results and print them."""
        figures, notes = list(figures), list(notes)
        self.samples |= samples
        self.figures += figures
        self.notes += notes
        print(f"\n{title}")
        if samples:
            rows = [_sample_row(name, taken) for name, taken in samples.items()]
            _print_table(("CPU per request", "total", "user", "system", "min - max", "rate"), rows)
        if figures:
            _print_table(("", "median", "min - max", "wanted", ""), [figure.as_row() for figure in figures])
        for note in notes:
            print(f"  {note}")
        sys.stdout.flush()

    def write(self, path: Path) -> None:
        """Everything, samples included."""
        path.parent.mkdir(parents=True, exist_ok=True)
        document = {
            "machine": {"python": platform.python_version(), "system": platform.platform(), "cpu": _cpu_model()},
            "settings": self.settings,
            "samples": {name: [asdict(sample) for sample in taken] for name, taken in self.samples.items()},
            "figures": [figure.as_json() for figure in self.figures],
            "notes": self.notes,
        }
        path.write_text(json.dumps(document, indent=1) + "\n")


def _sample_row(name: str, taken: Sequence[Sample]) -> tuple[str, ...]:
    def middle(part: str) -> float:
        return statistics.median(getattr(sample, part) for sample in taken)

    totals = [sample.cpu_us for sample in taken]
    spread = f"{min(totals):.0f} - {max(totals):.0f}"
    rate = f"{middle('requests_per_second'):.0f}/s"
    return name, f"{middle('cpu_us'):.1f} us", f"{middle('user_us'):.1f}", f"{middle('system_us'):.1f}", spread, rate


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, *rows):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        print(("  " + "  ".join(cells)).rstrip())


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 100 else f"{value:,.0f}"


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
