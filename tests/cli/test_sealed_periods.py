"""`gatewayd period seal` and `diff`: on a store in a file."""

from pathlib import Path
from typing import Any

import pytest

from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from tests.cli.conftest import Run
from tests.support.store import make_caller

Json = dict[str, Any]


@pytest.fixture
def closed(run: Run, config_file: Path, org_id: str) -> str:
    """The id of the first financial year of a company, which is closed."""
    caller, request = (
        make_caller(org_id),
        CreateLegalEntity(name="Ash", type="limited_company", company_number="12345678"),
    )
    context = Context(str(config_file), {}, SystemClock())
    entity = context.write(lambda tx: create_legal_entity(tx, caller, request).id, org_id)
    first, *_ = run("period", "list", "--org", org_id, "--entity", entity, "--json").document
    assert run("period", "close", first["id"]).code == 0
    return str(first["id"])


def test_a_period_is_sealed_and_its_copy_is_good(run: Run, closed: str, tmp_path: Path) -> None:
    copy = tmp_path / "year.zip"
    sealed = run("period", "seal", closed, "--to", str(copy), "--json").document
    assert sealed["number"] == 1
    checked = run("period", "verify-bundle", str(copy), f"--key={sealed['keyFingerprint']}", "--json").document
    assert (checked["period"]["id"], checked["contentsSha256"]) == (closed, sealed["contentsSha256"])
    assert run("period", "seal", closed, "--json").document == sealed
    refused = run("period", "seal", closed, "--to", str(copy))
    assert (refused.code, refused.err) == (1, f"gatewayd: {copy} is there already\n")


def test_what_differs_is_listed(run: Run, closed: str) -> None:
    assert run("period", "diff", closed).err == "gatewayd: the period has no seal yet\n"
    run("period", "seal", closed)
    assert run("period", "diff", closed).err == "gatewayd: against the books as they are now: nothing differs\n"
    assert run("period", "reopen", closed, "--reason", "Forgotten").code == 0
    of_now = run("period", "diff", closed)
    assert of_now.err == "gatewayd: against the books as they are now: period.csv: 1 changed\n"
    assert "status: closed -> open" in of_now.out
    assert run("period", "seal", closed).err.startswith("gatewayd: Only a closed period can be sealed")
    assert run("period", "close", closed).code == 0
    second = run("period", "seal", closed, "--json").document
    found = run("period", "diff", closed)
    heading, row = found.out.splitlines()
    assert heading.split("\t") == ["file", "id", "change", "what"]
    assert row.startswith(f"period.csv\t{closed}\tchanged\t")
    assert "reopenedReason:  -> Forgotten" in row
    assert found.err.endswith("period.csv: 1 changed\n")
    assert run("period", "diff", closed, "--seal", second["id"], "--json").document["id"] == second["id"]
    assert run("period", "diff", closed, "--books").err.endswith("as they are now: nothing differs\n")
