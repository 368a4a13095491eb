"""`gatewayd lead`, `opportunity`, `event` and `webhook`."""

from pathlib import Path

import pytest

from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from tests.cli.conftest import Run

FINISH_ALL = """
UPDATE deliveries SET status = 'exhausted', due_at = NULL, completed_at = :now
WHERE org_id = :org_id AND due_at IS NOT NULL
"""
URL = "https://receiver.example/hooks"


def subscribed(run: Run, org_id: str, *kinds: str) -> str:
    events = [part for kind in kinds or ("lead.created",) for part in ("--event", kind)]
    return str(run("webhook", "create", "--org", org_id, "--url", URL, *events, "--json").document["id"])


def test_a_lead_is_made_with_its_delivery(run: Run, org_id: str) -> None:
    subscription_id = subscribed(run, org_id)
    made = run("lead", "create", "--org", org_id, "--source", "fair", "--name", "Priya", "--json").document
    assert (made["source"], made["name"], made["status"]) == ("fair", "Priya", "new")
    (delivery,) = run("webhook", "deliveries", subscription_id, "--json").document
    assert (delivery["event"], delivery["status"]) == ("lead.created", "pending")


def test_a_bad_status_fails_with_its_reason(run: Run, org_id: str) -> None:
    ran = run("lead", "create", "--org", org_id, "--source", "fair", "--status", "lost")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("gatewayd: status: Expected one of: new, ")


@pytest.mark.usefixtures("database")
def test_an_organization_that_does_not_exist_fails(run: Run) -> None:
    ran = run("lead", "create", "--org", "org_nothing", "--source", "fair")
    assert (ran.code, ran.err) == (1, "gatewayd: There is no such organization.\n")
    ran = run("event", "emit", "lead.created", "--org", "org_nothing", "--data", "{}")
    assert (ran.code, ran.err) == (1, "gatewayd: There is no such organization.\n")


def test_an_opportunity_is_moved_and_the_move_is_told(run: Run, org_id: str) -> None:
    subscription_id = subscribed(run, org_id, "opportunity.stage_changed")
    made = run(
        "opportunity", "create", "--org", org_id, "--name", "Books", "--stage", "won?", "--amount", "10", "--json"
    ).document
    assert (made["stage"], made["amount"]) == ("won?", "10.00")
    moved = run("opportunity", "move", made["id"], "--stage", "won", "--json").document
    assert (moved["stage"], moved["version"]) == ("won", 2)
    (delivery,) = run("webhook", "deliveries", subscription_id, "--json").document
    assert delivery["event"] == "opportunity.stage_changed"


def test_moving_what_does_not_exist_fails(run: Run, org_id: str) -> None:
    ran = run("opportunity", "move", "opp_nothing", "--stage", "won")
    assert (ran.code, ran.err) == (1, "gatewayd: There is no such opportunity.\n")


def test_an_event_is_emitted_by_hand(run: Run, org_id: str) -> None:
    subscription_id = subscribed(run, org_id)
    data = '{"lead_id": "lead_1", "source": "import", "status": "new"}'
    made = run("event", "emit", "lead.created", "--org", org_id, "--data", data, "--json").document
    assert made["event"] == "lead.created"
    assert len(run("webhook", "deliveries", subscription_id, "--json").document) == 1


def test_an_event_that_cannot_be_fails_with_its_reason(run: Run, org_id: str) -> None:
    ran = run("event", "emit", "form.submitted", "--org", org_id, "--data", "{}")
    assert ran.code == 1
    assert "reserved" in ran.err
    ran = run("event", "emit", "lead.created", "--org", org_id, "--data", "[1]")
    assert (ran.code, ran.err.startswith("gatewayd: data: ")) == (1, True)
    assert run("event", "emit", "lead.created", "--org", org_id, "--data", "{").code == 2


def test_subscriptions_are_made_and_listed_with_the_secret_once(run: Run, org_id: str) -> None:
    made = run("webhook", "create", "--org", org_id, "--url", URL, "--event", "lead.created", "--json").document
    assert made["secret"].startswith("whsec_")
    (listed,) = run("webhook", "list", "--org", org_id, "--json").document
    assert listed == {name: value for name, value in made.items() if name != "secret"}
    table = run("webhook", "list", "--org", org_id).out.splitlines()
    assert table == ["id\turl\tevents\tenabled", f"{made['id']}\t{URL}\tlead.created\tyes"]


def test_a_private_url_fails_with_its_reason(run: Run, org_id: str) -> None:
    ran = run("webhook", "create", "--org", org_id, "--url", "https://10.0.0.1/", "--event", "lead.created")
    refusal = (
        "gatewayd: url: The address is not public: expected a host that the internet can reach, such as"
        " hooks.example.com.\n"
    )
    assert (ran.code, ran.err) == (1, refusal)


def test_deliveries_of_what_does_not_exist_fail(run: Run, org_id: str) -> None:
    ran = run("webhook", "deliveries", "wsub_nothing")
    assert (ran.code, ran.err) == (1, "gatewayd: There is no such subscription.\n")


def emitted(run: Run, org_id: str, count: int = 1) -> None:
    for number in range(count):
        made = run("lead", "create", "--org", org_id, "--source", f"fair {number}")
        assert made.code == 0, made.err


def exhaust(config_file: Path, org_id: str) -> None:
    """End every delivery that waits."""
    Context(str(config_file), {}, SystemClock()).write(lambda tx: tx.run(FINISH_ALL), org_id)


def test_a_subscription_is_changed_and_deleted(run: Run, org_id: str) -> None:
    subscription_id = subscribed(run, org_id)
    events = ["--event", "lead.created", "--event", "form.submitted"]
    changed = run("webhook", "update", subscription_id, "--url", "https://b.example/", *events, "--json").document
    assert (changed["url"], changed["events"]) == ("https://b.example/", ["lead.created", "form.submitted"])
    assert "secret" not in changed
    removed = run("webhook", "delete", subscription_id, "--json").document
    assert removed == {"id": subscription_id, "deleted": True}
    assert run("webhook", "delete", subscription_id).err == "gatewayd: There is no such subscription.\n"


def test_a_secret_is_rotated_with_and_without_overlap(run: Run, org_id: str) -> None:
    subscription_id = subscribed(run, org_id)
    first = run("webhook", "update", subscription_id, "--rotate-secret", "--json").document
    assert first["secret"].startswith("whsec_")
    assert first["previousSecretExpiresAt"] is not None
    ended = run("webhook", "update", subscription_id, "--end-rotation", "--json").document
    assert (ended["previousSecretExpiresAt"], ended["secretPrefix"]) == (None, first["secretPrefix"])
    second = run("webhook", "update", subscription_id, "--rotate-secret", "--end-rotation", "--json").document
    assert (second["previousSecretExpiresAt"], second["secret"] != first["secret"]) == (None, True)


def test_enabling_again_tells_what_to_recover_and_how(run: Run, org_id: str) -> None:
    subscription_id = subscribed(run, org_id)
    assert run("webhook", "update", subscription_id, "--disable", "--json").document["enabled"] is False
    emitted(run, org_id, 2)
    ran = run("webhook", "update", subscription_id, "--enable", "--json")
    assert (ran.document["missed"], ran.document["enabled"]) == (2, True)
    since = ran.document["missedSince"]
    command = f"gatewayd webhook recover {subscription_id} --since {since}"
    assert ran.err == f"gatewayd: events that did not arrive before: 2; {command} sends them again\n"
    done = run("webhook", "recover", subscription_id, "--since", since, "--json").document
    assert (done["matched"], done["recovered"], done["remaining"]) == (2, 2, 0)
    assert run("webhook", "update", subscription_id, "--enable", "--disable").code == 2


def test_a_delivery_is_shown_and_sent_again(run: Run, org_id: str, config_file: Path) -> None:
    subscription_id = subscribed(run, org_id)
    emitted(run, org_id)
    (waiting,) = run("webhook", "deliveries", subscription_id, "--json").document
    ran = run("webhook", "resend", waiting["id"])
    refusal = (
        "gatewayd: The delivery is pending: it is still being sent."
        " Only one that is succeeded, exhausted or cancelled can be sent again.\n"
    )
    assert (ran.code, ran.err) == (1, refusal)
    exhaust(config_file, org_id)
    again = run("webhook", "resend", waiting["id"], "--json").document
    assert (again["replayedFrom"], again["status"]) == (waiting["id"], "pending")
    shown = run("webhook", "delivery", waiting["id"], "--json").document
    assert (shown["replays"], shown["attemptLog"]) == ([again["id"]], [])
    assert shown["payload"]["data"]["source"] == "fair 0"
    for command in ("delivery", "resend"):
        ran = run("webhook", command, "wdlv_nothing")
        assert (ran.code, ran.err) == (1, "gatewayd: There is no such delivery.\n")


def test_a_test_event_is_sent(run: Run, org_id: str) -> None:
    subscription_id = subscribed(run, org_id, "lead.created", "form.submitted")
    made = run("webhook", "test", subscription_id, "--event", "form.submitted", "--json").document
    assert (made["event"], made["test"]) == ("form.submitted", True)
    ran = run("webhook", "test", subscription_id, "--event", "lead.deleted")
    refusal = "gatewayd: event: 'lead.deleted' is none of its event kinds. Use one of: lead.created, form.submitted.\n"
    assert (ran.code, ran.err) == (1, refusal)


def test_deliveries_are_filtered(run: Run, org_id: str, config_file: Path) -> None:
    subscription_id = subscribed(run, org_id)
    emitted(run, org_id)
    exhaust(config_file, org_id)
    emitted(run, org_id)

    def listed(*filters: str) -> list[str]:
        return [one["status"] for one in run("webhook", "deliveries", subscription_id, *filters, "--json").document]

    assert listed() == ["pending", "exhausted"]
    assert listed("--status", "exhausted", "--status", "cancelled") == ["exhausted"]
    assert listed("--since", "1h", "--event", "lead.created") == ["pending", "exhausted"]
    assert listed("--until", "1h") == listed("--since", "2999-01-01T00:00:00Z") == []
    ran = run("webhook", "deliveries", subscription_id, "--status", "lost")
    assert ran.err.startswith("gatewayd: status[0]: Expected one of: pending, ")


def test_recovery_is_counted_first_and_then_done(run: Run, org_id: str, config_file: Path) -> None:
    subscription_id = subscribed(run, org_id)
    emitted(run, org_id, 2)
    exhaust(config_file, org_id)

    def recovered(*arguments: str) -> dict[str, object]:
        document = run("webhook", "recover", subscription_id, *arguments, "--json").document
        assert isinstance(document, dict)
        return document

    counted = recovered("--since", "2h", "--dry-run")
    assert (counted["matched"], counted["recovered"], counted["remaining"], counted["dryRun"]) == (2, 0, 2, True)
    assert recovered("--since", "2h", "--status", "missed")["matched"] == 0
    assert recovered("--since", "2h", "--until", "1h")["matched"] == 0
    done = recovered("--since", "2h", "--per-second", "1", "--event", "lead.created")
    assert (done["matched"], done["recovered"], done["remaining"]) == (2, 2, 0)
    assert str(done["firstDueAt"]) < str(done["lastDueAt"])
    assert recovered("--since", "2h")["recovered"] == 0


@pytest.mark.parametrize("since", ["yesterday", "2 h", "-1h", "2026-11-20", "2026-11-20T09:30:00", "5y", ""])
def test_a_since_that_is_no_moment_is_wrong_usage(run: Run, since: str) -> None:
    ran = run("webhook", "recover", "wsub_any", f"--since={since}")
    assert ran.code == 2
    assert "or how long ago: 90s, 15m, 2h, 3d, 1w" in ran.err
