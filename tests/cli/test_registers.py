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


def test_a_balance_of_a_day_is_stated_and_compared_with_the_lines(
    run: Run, firm: tuple[str, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    org_id, made = firm
    account = made["bank-account"]["id"]
    statement = tmp_path / "march.qif"
    statement.write_text("!Type:Bank\nD14/03/2026\nT-42.00\nPOAK SUPPLIES\n^\nD15/03/2026\nT504.00\nPBIRCH LTD\n^\n")
    run("import", "bank", str(statement), "--org", org_id, "--account", account)
    first = run("bank-account", "balance", account, "-20.00", "--date", "2026-03-13", "--note", "Paper").document
    assert (first["balance"], first["note"], first["check"]) == ("-20.00", "Paper", None)
    second = run("bank-account", "balance", account, "442.00", "--date", "2026-03-15").document
    assert second["check"] == {"countedBalance": "442.00", "difference": "0.00"}
    # the same day again takes the place of what was stated
    again = run("bank-account", "balance", account, "500.00", "--date", "2026-03-15", "--json").document
    assert (again["id"], again["check"]["difference"]) == (second["id"], "58.00")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    shown = [
        run("bank-account", "balance", account, amount, "--date", day).out
        for amount, day in (("500.00", "2026-03-15"), ("442.00", "2026-03-15"))
    ]
    assert "500.00 GBP on 2026-03-15; its lines come to 442.00, which is 58.00 off" in shown[0]
    assert "its lines come to the same" in shown[1]


def test_mistakes_of_a_balance_are_told(run: Run, firm: tuple[str, dict[str, Any]]) -> None:
    account = firm[1]["bank-account"]["id"]
    assert run("bank-account", "balance", account, "1.00").code == 2
    assert run("bank-account", "balance", account, "1.00", "--date", "March").code == 2
    late = run("bank-account", "balance", account, "1.00", "--date", "9999-01-01")
    assert (late.code, "still to come" in late.err) == (1, True)
    assert run("bank-account", "balance", "bac_none", "1.00", "--date", "2026-03-15").code == 1


@pytest.fixture
def person(tmp_path: Path) -> str:
    instance = Instance(tmp_path)
    made = instance.do(
        instance.firm().org_id, "legalEntity.createLegalEntity", name="Ash", type="sole_trader", nino="AA123456A"
    )
    return str(made["id"])


def test_tax_years_are_said_and_listed(run: Run, person: str) -> None:
    words = ("--qualifying-income", "52000.00", "--tax-assessed", "9000.00", "--tax-deducted", "1000.00")
    said = run("entity", "tax-year", person, "2024-25", *words, "--exempt", "yes", "--residence", "split").document
    assert (said["qualifyingIncome"], said["isExempt"], said["residence"]) == ("52000.00", True, "split")
    # what is not given stays
    assert run("entity", "tax-year", person, "2024-25", "--exempt", "no").document["taxAssessed"] == "9000.00"
    run("entity", "tax-year", person, "2025-26", "--residence", "not_resident", "--exempt", "yes")
    listed = [line.split("\t") for line in run("entity", "tax-years", person).out.splitlines()]
    assert listed == [
        ["tax year", "income", "tax", "deducted", "exempt", "residence"],
        ["2024-25", "52000.00", "9000.00", "1000.00", "", "split"],
        ["2025-26", "", "", "", "yes", "not_resident"],
    ]
    assert [one["taxYear"] for one in run("entity", "tax-years", person, "--limit", "1", "--json").document] == [
        "2024-25"
    ]


def test_a_tax_year_is_told_in_a_line(run: Run, person: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    said = run("entity", "tax-year", person, "2024-25", "--qualifying-income", "52000.00")
    assert said.out == "tax year 2024-25; income 52000.00\n"


def test_mistakes_of_a_tax_year_are_told(run: Run, person: str, firm: tuple[str, dict[str, Any]]) -> None:
    assert run("entity", "tax-year", person).code == 2
    assert run("entity", "tax-year", person, "2024-25", "--residence", "abroad").code == 2
    assert run("entity", "tax-year", person, "2024-26").code == 1
    assert run("entity", "tax-years", "ent_none").code == 1
    company = run("entity", "tax-year", firm[1]["entity"]["id"], "2024-25", "--qualifying-income", "1.00")
    assert (company.code, "Only a person" in company.err) == (1, True)
