"""`gatewayd audit`."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from gatewayd.cli.context import Context
from gatewayd.clock import DAY, SystemClock, to_wire
from gatewayd.identity import audit
from gatewayd.identity.audit import Act
from tests.cli.conftest import ANN, Run

MADE = ["organization.created", "user.created", "user.reset_link_made", "membership.added"]


@pytest.fixture
def context(config_file: Path) -> Context:
    return Context(str(config_file), {}, SystemClock())


def lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def found(run: Run, *arguments: str) -> list[str]:
    """The actions that are printed."""
    result = run("audit", *arguments, "--json")
    assert result.code == 0, result.err
    return [entry["action"] for entry in lines(result.out)]


@pytest.mark.usefixtures("email")
def test_prints_what_was_done_with_names(run: Run, org_id: str) -> None:
    (added, link, user, made) = lines(run("audit", "--json").out)
    assert [each["action"] for each in (added, link, user, made)] == [
        "membership.added",
        "user.reset_link_made",
        "user.created",
        "organization.created",
    ]
    assert (added["actor"], added["actorName"], added["orgName"], added["orgId"]) == ("operator", None, "Acme", org_id)
    assert user["subjectName"] == ANN
    assert added["detail"]["role"] == "owner"
    head, row, *_ = run("audit").out.splitlines()
    assert head.split("\t") == ["when", "what", "by", "about", "organization", "more"]
    assert row.split("\t")[1:] == ["membership.added", "operator", ANN, "Acme", "role: owner"]


@pytest.mark.usefixtures("email")
def test_each_filter_of_the_command(run: Run, org_id: str, context: Context) -> None:
    run("user", "disable", ANN)
    assert found(run, "--org", org_id) == ["membership.added", "organization.created"]
    assert found(run, "--subject", ANN, "--action", "user.d") == ["user.disabled"]
    assert found(run, "--actor", "operator", "--limit", "1") == ["user.disabled"]
    assert found(run, "--actor", ANN) == []
    tomorrow = to_wire(type(context.clock.now())(context.clock.now() + DAY))
    assert found(run, "--since", "1h", "--action", "organization.") == ["organization.created"]
    assert found(run, "--since", tomorrow) == found(run, "--until", "1h") == []


@pytest.mark.usefixtures("email")
def test_more_than_a_page_is_walked(run: Run, context: Context) -> None:
    def fill(tx: Any) -> None:
        for number in range(1_203):
            audit.record(tx, Act(actor="operator", action="clock.accepted", subject=str(number), org_id=None))

    context.write(fill)
    listed = lines(run("audit", "--action", "clock", "--limit", "1200", "--json").out)
    assert [each["subject"] for each in listed] == [str(number) for number in range(1_202, 2, -1)]


@pytest.mark.usefixtures("email")
def test_what_is_not_there_is_refused(run: Run) -> None:
    unknown = run("audit", "--org", "org_x")
    assert (unknown.code, unknown.out) == (1, "")
    assert "organization" in unknown.err
    wrong = run("audit", "--action", "users")
    assert (wrong.code, wrong.out) == (1, "")
    assert run("audit", "--since", "yesterday").code == 2


@pytest.mark.usefixtures("email")
def test_follows_what_is_added(run: Run, context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """It prints what there is, then what comes, and ends well at Ctrl-C."""
    import gatewayd.cli.people.audit as command

    shown: list[str] = []
    printed = threading.Event()
    monkeypatch.setattr(command, "FOLLOW_SECONDS", 0.01)

    def show(document: Any) -> None:
        shown.append(document.action)
        if document.action == "clock.accepted":
            raise KeyboardInterrupt
        if document.action == "membership.added":
            printed.set()

    monkeypatch.setattr(command, "print_document", show)
    act = Act(actor="operator", action="clock.accepted", subject="x", org_id=None)

    def add() -> None:
        assert printed.wait(60)
        context.write(lambda tx: audit.record(tx, act))

    adding = threading.Thread(target=add)
    adding.start()
    result = run("audit", "--follow", "--json")
    adding.join()
    assert result.code == 0
    assert shown == [*MADE, "clock.accepted"]
