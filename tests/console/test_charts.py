"""Where bars, lines and parts lie, and that the figures beside them are the same."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.console.components.charts import (
    HEIGHT,
    WIDTH,
    BarChart,
    LineChart,
    Part,
    Series,
    ShareChart,
    StackedBarChart,
)
from gatewayd.console.components.words import money


def bars(*series: list[int]) -> BarChart:
    labels = [str(at) for at in range(len(series[0]))]
    named = [Series(f"S{number}", values) for number, values in enumerate(series)]
    return BarChart(title="T", heading="Day", labels=labels, series=named)


def test_the_scale_is_round_and_nothing_has_no_height() -> None:
    chart = bars([0, 1, 70, 140])
    assert [tick.text for tick in chart.ticks] == ["160", "80", "0"]
    assert [bar.height for bar in chart.bars] == [0.0, 2.0, 63.0, 126.0]  # of 144; little has two
    assert all(round(bar.y + bar.height, 2) == HEIGHT for bar in chart.bars)


def test_bars_stand_side_by_side_within_the_width() -> None:
    drawn = bars([1] * 30, [2] * 30).bars
    assert all(a.x + a.width <= b.x + 0.02 for a, b in itertools.pairwise(drawn))
    assert drawn[0].x > 0
    assert drawn[-1].x + drawn[-1].width < WIDTH
    assert [bar.series for bar in drawn[:3]] == [1, 2, 1]
    assert bars([]).bars == []


def test_what_is_below_nothing_hangs_from_the_line() -> None:
    chart = bars([-50, 100])
    assert [(tick.text, tick.is_zero) for tick in chart.ticks] == [
        ("100", False),
        ("50", False),
        ("0", True),
        ("-50", False),
    ]
    below, above = chart.bars
    assert (below.y, below.y + below.height) == (96.0, HEIGHT)
    assert (above.y, above.y + above.height) == (0.0, 96.0)


def test_all_nothing_has_a_scale() -> None:
    assert [tick.text for tick in bars([0, 0]).ticks] == ["1", "0"]
    assert [bar.height for bar in bars([0, 0]).bars] == [0.0, 0.0]


def test_stacks_add_up() -> None:
    chart = StackedBarChart(
        title="T", heading="Month", labels=["Jan"], series=[Series("A", [30]), Series("B", [70]), Series("C", [-50])]
    )
    first, second, third = chart.bars
    assert [tick.text for tick in chart.ticks] == ["100", "50", "0", "-50"]
    assert (first.height, second.height, third.height) == (28.8, 67.2, 48.0)
    assert round(second.y + second.height, 2) == first.y
    assert third.y == round(first.y + first.height, 2)


def test_lines_go_through_the_middle_of_each_place() -> None:
    chart = LineChart(title="T", heading="Month", labels=["a", "b"], series=[Series("A", [0, 100])])
    assert [line.points for line in chart.lines] == ["150.0,144.0 450.0,0.0"]


def test_shares_add_up_to_the_whole() -> None:
    chart = ShareChart(title="T", heading="Kind", measure="Count", parts=[Part("A", 1), Part("B", 1), Part("C", 1)])
    assert chart.names == ["A 33.4%", "B 33.3%", "C 33.3%"]
    assert [bar.x for bar in chart.bars] == [0.0, 200.0, 400.0]
    empty = ShareChart(title="T", heading="Kind", measure="Count", parts=[Part("A", 0)])
    assert (empty.names, empty.bars[0].width) == (["A 0.0%"], 0.0)


def test_the_figures_say_what_is_drawn() -> None:
    chart = BarChart(
        title="T",
        heading="Month",
        labels=["Jan", "Feb"],
        series=[Series("Income", [123_450, -300])],
        text=lambda amount: money(amount, "GBP"),
    )
    assert [bar.label for bar in chart.bars] == ["Jan: £1,234.50", "Feb: -£3.00"]
    assert [[cell.text for cell in row.cells] for row in chart.table.rows] == [["Jan", "£1,234.50"], ["Feb", "-£3.00"]]
    assert [tick.text for tick in chart.ticks] == ["£1,600", "£800", "£0", "-£800"]


@pytest.mark.parametrize("kind", [BarChart, StackedBarChart])
@given(values=st.lists(st.integers(-(10**13), 10**13), min_size=1, max_size=40))
def test_whatever_is_drawn_lies_within(kind: type[BarChart | StackedBarChart], values: list[int]) -> None:
    labels = [str(at) for at in range(len(values))]
    chart = kind(title="T", heading="Day", labels=labels, series=[Series("A", values), Series("B", values[::-1])])
    for bar in chart.bars:
        assert -2 <= bar.y <= HEIGHT + 2
        assert bar.y + bar.height <= HEIGHT + 2.02
        assert 0 <= bar.x <= bar.x + bar.width <= WIDTH
    assert 2 <= len(chart.ticks) <= 5


@given(st.lists(st.integers(0, 10**13), min_size=1, max_size=12))
def test_shares_are_a_thousand_or_nothing(values: list[int]) -> None:
    chart = ShareChart(title="T", heading="Kind", measure="n", parts=[Part("A", value) for value in values])
    assert sum(chart.shares) == (1000 if any(values) else 0)
