"""`gatewayd lead`, `opportunity`, `event` and `webhook`."""

from tests.cli.conftest import Run

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
    assert ran.err.startswith("gatewayd: status: Use one of: new, ")


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
    assert (ran.code, ran.err) == (1, "gatewayd: url: The address is not public.\n")


def test_deliveries_of_what_does_not_exist_fail(run: Run, org_id: str) -> None:
    ran = run("webhook", "deliveries", "wsub_nothing")
    assert (ran.code, ran.err) == (1, "gatewayd: There is no such subscription.\n")
