"""What the daemon takes, and that lists of any length add nothing that stays."""

import apsw
import pytest

from tests.daemon.conftest import NO_LIMIT
from tests.daemon.instance import Firm, Instance, serving

INVOICES = 100_000
PAGE = 100
IDLE_KB_MAX = 80 * 1024
GROWTH_KB_MAX = 16 * 1024  # the page cache of one connection, 16 MiB, is filled before the first sample


def fill(instance: Instance, firm: Firm) -> None:
    """Copy one invoice until there are `INVOICES`."""
    instance.do(
        firm.org_id,
        "accounting.createInvoice",
        clientId=firm.client_id,
        lines=[{"description": "Oak door", "unitPrice": "10.00"}],
    )
    connection = apsw.Connection(str(instance.database))
    try:
        columns = [str(row[1]) for row in connection.execute("PRAGMA table_info(invoices)")]
        copied = {name: name for name in columns}
        copied["id"] = "printf('inv_%026d', n)"
        copied["wire"] = f"CAST(replace(CAST(wire AS TEXT), id, {copied['id']}) AS BLOB)"
        connection.execute(
            f"""
            WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < :count)
            INSERT INTO invoices ({", ".join(copied)})
            SELECT {", ".join(copied.values())} FROM counted, (SELECT * FROM invoices LIMIT 1)
            """,
            {"count": INVOICES - 1},
        )
    finally:
        connection.close()


def test_an_idle_daemon_is_small(instance: Instance, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(instance, anew=True) as running:
        idle = running.memory_kb()
        assert running.end() == 0
    with capsys.disabled():
        print(f"\nidle: {idle / 1024:.0f} MB")
    assert idle < IDLE_KB_MAX


def test_a_long_list_leaves_nothing_behind(instance: Instance, capsys: pytest.CaptureFixture[str]) -> None:
    instance = Instance(instance.directory, NO_LIMIT)
    firm = instance.firm()
    fill(instance, firm)
    samples: list[int] = []
    with serving(instance, anew=True) as running:
        cursor, seen = "", 0
        while cursor is not None and seen <= INVOICES:
            path = f"/api/rpc/invoices?limit={PAGE}" + (f"&cursor={cursor}" if cursor else "")
            page = running.call(firm.key, "GET", path).json()
            seen += len(page["data"])
            cursor = page["nextCursor"]
            if seen % (INVOICES // 10) == 0:
                samples.append(running.memory_kb())
        assert running.end() == 0
    assert (seen, len(samples)) == (INVOICES, 10)
    with capsys.disabled():
        print(f"\n{INVOICES} invoices listed, MB: {' '.join(f'{each / 1024:.0f}' for each in samples)}")
    assert samples[-1] - samples[1] < GROWTH_KB_MAX
