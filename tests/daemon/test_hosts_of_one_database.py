"""Several hosts with one PostgreSQL: they have one instance key, and what was decided of a restore holds for all."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gatewayd.clock import to_wire
from tests.daemon.instance import Instance, serving
from tests.support.postgres import Server

pytestmark = pytest.mark.either_engine("it has PostgreSQLs of its own in either run")


@pytest.fixture
def host(postgresql: Server, tmp_path: Path) -> Iterator[Callable[[str], Instance]]:
    """Makes a host of one database, which is empty at first: a directory of its own."""
    name = postgresql.new_database()

    def make(folder: str) -> Instance:
        (tmp_path / folder).mkdir()
        files = tmp_path / "files"
        files.mkdir(exist_ok=True)
        return Instance(tmp_path / folder, url=postgresql.url(name), files=str(files))

    yield make
    postgresql.drop(name)


def test_a_host_serves_with_the_key_of_the_others_alone(host: Callable[[str], Instance]) -> None:
    one, two = host("one"), host("two")
    keys = [instance.directory / "data" / "instance.key" for instance in (one, two)]
    with serving(one) as running:
        refused = two.run("serve")
        assert (refused.returncode, len(refused.stderr.splitlines())) == (1, 1)
        assert f"the instance key {keys[1]} is missing, and the PostgreSQL database" in refused.stderr
        assert "every host has the same: copy it from one that serves this database" in refused.stderr
        assert not keys[1].exists()
        keys[1].write_bytes(bytes(32))
        assert f"{keys[1]} is not the one that sealed the secrets in" in two.run("serve").stderr
        keys[1].write_bytes(keys[0].read_bytes())
        with serving(two) as other:
            assert other.client.get("/readyz").status_code == 200
            assert other.end() == 0
        assert running.end() == 0


def test_what_was_decided_of_rows_that_other_tools_restored_is_done_at_the_next_start(
    host: Callable[[str], Instance],
) -> None:
    instance = host("one")
    firm = instance.firm()
    before = to_wire(instance.context.clock.now())
    with serving(instance) as running:
        assert running.call(firm.key, "GET", "/api/rpc/invoices").status_code == 200
        refused = instance.run("after-restore", "--end-everything", "--rows-of", before)
        assert "gatewayd after-restore works beside no daemon" in refused.stderr
        assert running.end() == 0
    decided = instance.run("after-restore", "--end-everything", "--rows-of", before)
    assert (decided.returncode, '"keys":1' in decided.stdout) == (0, True)
    with serving(instance) as running:
        assert running.call(firm.key, "GET", "/api/rpc/invoices").status_code == 401
        (line,) = [line for line in running.lines() if line["event"] == "restore_decided"]
        assert (line["access"], line["key_count"]) == ("end", 1)
        assert running.end() == 0
    assert instance.seen("SELECT count(*) FROM restores") == [(1,)]
