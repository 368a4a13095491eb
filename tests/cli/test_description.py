"""`gatewayd openapi` and `gatewayd operations`."""

from tests.cli.conftest import Run
from tests.daemon.conftest import Shared, shared

__all__ = ["shared"]


def test_openapi_is_what_the_daemon_serves(shared: Shared) -> None:
    ran = shared.instance.run("openapi")
    assert (ran.returncode, ran.stderr) == (0, "")
    served = shared.running.client.get("/openapi.json")
    assert served.headers["content-type"] == "application/json"
    assert ran.stdout.encode() == served.content + b"\n"


def test_operations_are_the_rows_of_the_description(run: Run) -> None:
    rows = run("operations", "--json").document
    paths = run("openapi").document["paths"]
    listed = {(method.upper(), each["operationId"]) for path in paths.values() for method, each in path.items()}
    assert {(row["method"], row["id"]) for row in rows} == listed
    assert len(rows) >= 18
    assert all(row["scopes"] for row in rows)


def test_operations_as_a_table(run: Run) -> None:
    ran = run("operations")
    head, *lines = ran.out.splitlines()
    assert head.split("\t") == ["operation", "method", "path", "scopes"]
    assert "accounting.createInvoice\tPOST\t/invoices\taccounting:write" in lines


def test_openapi_needs_no_store(run: Run, config_file: object) -> None:
    from pathlib import Path

    assert run("openapi").code == 0
    assert isinstance(config_file, Path)
    assert not (config_file.parent / "data").exists()
