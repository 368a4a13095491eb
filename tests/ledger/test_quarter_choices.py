"""Choices of the type of quarters, each with its year (Domain 0.1, C6)."""

import pytest

from gatewayd.clock import Instant, from_wire
from gatewayd.ledger.taxpayers import quarter_choices
from gatewayd.ledger.taxpayers.quarter_choices import Choice, QuarterChoices
from gatewayd.store.sqlite import connections, schema
from tests.areas.businesses.trades import Firm
from tests.support.store import START, MemoryStore


def test_a_year_has_the_last_choice_up_to_it() -> None:
    choices = QuarterChoices((Choice(2024, "calendar"), Choice(2026, "standard"), Choice(2027, "calendar")))
    assert [choices.type_in(year) for year in range(2023, 2029)] == [
        "standard",
        "calendar",
        "calendar",
        "standard",
        "calendar",
        "calendar",
    ]
    assert QuarterChoices().type_in(2026) == "standard"


def test_a_choice_of_the_same_type_puts_the_year_right(store: MemoryStore) -> None:
    firm = Firm(store)
    trade = firm.create()["id"]

    def noted(*choices: Choice) -> list[Choice]:
        for choice in choices:
            store.write(lambda tx, choice=choice: quarter_choices.note(tx, trade, choice), firm.org_id)
        return [*store.read(lambda tx: quarter_choices.of_business(tx, trade), firm.org_id).choices]

    assert noted(Choice(2024, "calendar"), Choice(2026, "standard")) == [(2024, "calendar"), (2026, "standard")]
    assert noted(Choice(2025, "standard")) == [(2024, "calendar"), (2025, "standard")]
    assert noted(Choice(2027, "standard")) == [(2024, "calendar"), (2027, "standard")]
    assert noted(Choice(2027, "calendar")) == [(2024, "calendar"), (2027, "calendar")]
    assert store.read(lambda tx: quarter_choices.of_entity(tx, firm.person), firm.org_id).keys() == {trade}


@pytest.mark.parametrize(
    ("made_on", "stored", "expected"),
    [
        ("2026-05-01", ("standard", None, None), []),
        ("2026-05-01", ("calendar", "2026-27", "standard"), [(2026, "calendar")]),
        ("2024-04-05", ("standard", "2026-27", "calendar"), [(2023, "calendar"), (2026, "standard")]),
        ("2024-04-06", ("standard", "2026-27", "calendar"), [(2024, "calendar"), (2026, "standard")]),
        ("2026-05-01", ("standard", "2026-27", "calendar"), [(2025, "calendar"), (2026, "standard")]),
        ("2026-05-01", ("calendar", None, None), [(0, "calendar")]),
    ],
)
def test_what_was_chosen_before_is_kept_by_the_migration(
    store: MemoryStore, made_on: str, stored: tuple[str, ...], expected: list[tuple[int, str]]
) -> None:
    firm = Firm(store)
    trade = firm.create()["id"]
    migrations = schema.packaged()
    before = next(index for index, one in enumerate(migrations) if "keep_choices_of_quarters" in one.name)
    old = connections.open_writer(connections.MEMORY, 0)
    schema.migrate(old, migrations[:before], START)
    old.execute("INSERT INTO organizations (id, name, created_at) VALUES (?, 'Oak', 0)", (firm.org_id,))
    for table in ("legal_entities", "businesses"):
        known = {row[1] for row in store.connection.execute(f"PRAGMA table_info({table})")}
        columns = [row[1] for row in old.execute(f"PRAGMA table_info({table})") if row[1] in known]
        (row,) = store.connection.execute(f"SELECT {', '.join(columns)} FROM {table}")
        old.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", row)
    old.execute(
        "UPDATE businesses SET quarterly_period_type = ?, quarterly_period_tax_year = ?,"
        " former_quarterly_period_type = ?, created_at = ?",
        (*stored, from_wire(f"{made_on}T12:00:00.000Z")),
    )
    schema.migrate(old, migrations, Instant(START))
    after = MemoryStore(old.serialize("main"))
    old.close()
    assert [*after.read(lambda tx: quarter_choices.of_business(tx, trade), firm.org_id).choices] == expected
    after.close()
