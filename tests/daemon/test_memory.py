"""What the daemon takes, and that lists of any length add nothing that stays."""

import pytest

from gatewayd.store import Store
from tests.daemon.conftest import NO_LIMIT
from tests.daemon.instance import Firm, Instance, serving
from tests.support.store import ON_POSTGRESQL

INVOICES = 30_000 if ON_POSTGRESQL else 100_000  # there a page costs several times as much
PAGE = 100
IDLE_KB_MAX = 84 * 1024
IDLE_ON_POSTGRESQL_KB_MAX = 96 * 1024  # psycopg with what it loads, libpq and its OpenSSL, and twelve sessions
GROWTH_KB_MAX = 16 * 1024  # SQLite's: the page cache of one connection, 16 MiB, is filled before the first sample


def fill(instance: Instance, firm: Firm) -> None:
    """Copy one invoice until there are `INVOICES`."""
    instance.do(
        firm.org_id,
        "accounting.createInvoice",
        clientId=firm.client_id,
        lines=[{"description": "Oak door", "unitPrice": "10.00"}],
    )
    id_, wire = "printf('inv_%026d', n)", "CAST(replace(CAST(wire AS TEXT), id, {}) AS BLOB)"
    if instance.url:
        id_, wire = (
            "'inv_' || lpad(n::text, 26, '0')",
            "convert_to(replace(convert_from(wire, 'UTF8'), id, {}), 'UTF8')",
        )
    columns = [each.name for each in instance.context.run(Store.catalogue).columns if each.table == "invoices"]
    copied = {name: name for name in columns} | {"id": id_, "wire": wire.format(id_)}
    instance.change(
        f"""
        WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {INVOICES - 1})
        INSERT INTO invoices ({", ".join(copied)})
        SELECT {", ".join(copied.values())} FROM counted, (SELECT * FROM invoices LIMIT 1) AS first
        """
    )


def test_an_idle_daemon_is_small(instance: Instance, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(instance, anew=True) as running:
        idle = running.memory_kb()
        assert running.end() == 0
    with capsys.disabled():
        print(f"\nidle: {idle / 1024:.0f} MB")
    assert idle < (IDLE_ON_POSTGRESQL_KB_MAX if instance.url else IDLE_KB_MAX)


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
