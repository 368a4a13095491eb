"""The ids that commands ask for are listed by commands."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.daemon.instance import Instance


@pytest.fixture
def firm(tmp_path: Path) -> tuple[str, dict[str, Any]]:
    """An organization, and what it has by the command that lists it."""
    instance = Instance(tmp_path)
    made = instance.firm()
    entity = instance.do(
        made.org_id, "legalEntity.createLegalEntity", name="Elm Ltd", type="limited_company", companyNumber="01234567"
    )
    trade = {"legalEntityId": entity["id"], "type": "company_trade", "name": "Joinery"}
    account = {"legalEntityId": entity["id"], "name": "Current", "type": "current", "currency": "GBP"}
    lead = instance.do(made.org_id, "crm.createLead", source="website", name="B. Birch")
    return made.org_id, {
        "entity": entity,
        "business": instance.do(made.org_id, "businesses.create", **trade),
        "bank-account": instance.do(made.org_id, "banking.createAccount", **account),
        "billing-client": instance.do(made.org_id, "accounting.createClient", name="Ash Ltd"),
        "lead": lead,
        "opportunity": instance.do(made.org_id, "crm.createOpportunity", name="Doors", leadId=lead["id"]),
    }


def test_each_is_listed(run: Run, firm: tuple[str, dict[str, Any]]) -> None:
    org_id, made = firm
    for command, row in made.items():
        listed = run(command, "list", "--org", org_id)
        assert listed.code == 0, listed.err
        assert row["id"] in [line.split("\t")[0] for line in listed.out.splitlines()]
        assert row["id"] in [one["id"] for one in run(command, "list", "--org", org_id, "--json").document]


def test_lines_of_an_account_are_listed(run: Run, firm: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    """For `allocation add`."""
    org_id, made = firm
    statement = tmp_path / "march.qif"
    lines = ("D14/03/2026\nT-42.00\nPOAK SUPPLIES\n^", "D15/03/2026\nT504.00\nPBIRCH LTD\n^")
    statement.write_text("\n".join(["!Type:Bank", *lines, ""]))
    account = made["bank-account"]["id"]
    imported = run("import", "bank", str(statement), "--org", org_id, "--account", account, "--json")
    assert imported.document["added"] == 2
    listed = run("bank-account", "transactions", account, "--org", org_id).out.splitlines()[1:]
    assert [line.split("\t")[1:3] for line in listed] == [["2026-03-15", "504.00"], ["2026-03-14", "-42.00"]]


def test_client_is_of_oauth_and_says_so(run: Run) -> None:
    assert "billing-client" in run("client", "--help").out
    assert "OAuth" in run("billing-client", "--help").out
