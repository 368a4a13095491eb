"""`gatewayd mail`, and what `doctor` says of it."""

import json
from pathlib import Path

from gatewayd.clock import SystemClock
from gatewayd.mail import claims, outbox
from gatewayd.mail.claims import Ended, Room
from gatewayd.store import WriteTx
from gatewayd.webhooks.queue.receivers import Address
from gatewayd.webhooks.subscribers import subscriptions
from tests.daemon.instance import Instance
from tests.mail.harness import mail_settings, new_mail
from tests.mail.serving import mail_server

SETTINGS = """[mail]
host = "127.0.0.1"
port = {port}
security = "none"
from = "books@gatewayd.example"
"""


def bounced(tx: WriteTx) -> str:
    """A mail that the server refused."""
    id_ = outbox.queue(tx, new_mail("gone@example.com"))
    at = SystemClock().now()
    [claim] = claims.claim_due(tx, Room("test:1", 1), mail_settings(25), at).claims
    claims.record(tx, [Ended(claim, "bounced", None, 550, "Nobody here", 3)], "test:1", at)
    return id_


def test_mails_are_listed_shown_and_sent_again(tmp_path: Path) -> None:
    instance = Instance(tmp_path, SETTINGS.format(port=25))
    firm = instance.firm()
    id_ = instance.write(bounced)
    own = instance.write(lambda tx: outbox.queue(tx, new_mail("ann@example.com", firm.org_id)))
    listed = json.loads(instance.run("mail", "list", "--json").stdout)
    assert {each["id"] for each in listed} >= {id_, own}
    [one] = json.loads(instance.run("mail", "list", "--status", "bounced", "--limit", "5", "--json").stdout)
    assert (one["id"], one["lastCode"], one["lastError"], one["to"]) == (id_, 550, "Nobody here", "gone@example.com")
    of_firm = json.loads(instance.run("mail", "list", "--org", firm.org_id, "--json").stdout)
    assert [each["id"] for each in of_firm] == [own]
    shown = json.loads(instance.run("mail", "show", id_).stdout)
    [attempt] = shown["attempts"]
    assert (attempt["outcome"], attempt["code"], attempt["answer"]) == ("bounced", 550, "Nobody here")
    assert attempt["begunAt"].endswith("Z")
    assert json.loads(instance.run("mail", "resend", id_).stdout)["status"] == "queued"
    again = instance.run("mail", "resend", id_)
    assert (again.returncode, "it was not given up" in again.stderr) == (1, True)
    assert instance.run("mail", "show", "mail_x").returncode == 1


def test_a_test_says_what_the_server_says(tmp_path: Path) -> None:
    with mail_server(tmp_path / "smtp") as server:
        instance = Instance(tmp_path, SETTINGS.format(port=server.port))
        instance.firm()
        done = instance.run("mail", "test", "--to", "ann@example.com")
        assert json.loads(done.stdout) == {"to": "ann@example.com", "server": "127.0.0.1", "code": 250}
        [taken] = server.taken()
        assert taken.message["Subject"] == "A test of mail"
        refused = instance.run("mail", "test", "--to", "gone-x@example.com")
        assert refused.returncode == 1
        assert "has not taken it: 550 5.1.1 Nobody here by that name" in refused.stderr
        assert instance.run("mail", "test", "--to", "nobody").returncode == 2
        doctor = instance.run("doctor").stdout
        assert f"ok     mail server: 127.0.0.1:{server.port} lets us in." in doctor
        instance.write(bounced)
    doctor = instance.run("doctor").stdout
    assert f"WRONG  mail server: 127.0.0.1:{server.port} does not let us in. The server cannot be reached" in doctor
    assert "WRONG  mail: 1 were not taken in 7 days" in doctor


def test_an_invitation_is_mailed(tmp_path: Path) -> None:
    instance = Instance(tmp_path, SETTINGS.format(port=25))
    firm = instance.firm()
    made = instance.run("member", "invite", "--org", firm.org_id, "--email", "bob@example.com", "--role", "admin")
    assert "the daemon mails it to bob@example.com" in made.stderr
    [mail] = json.loads(instance.run("mail", "list", "--org", firm.org_id, "--json").stdout)
    assert (mail["kind"], mail["to"], mail["status"]) == ("invitation", "bob@example.com", "queued")
    key = instance.run("key", "create", "--org", firm.org_id, "--user", firm.email, "--name", "Shop")
    assert key.returncode == 0  # by the operator: it is nobody's act in particular


def test_doctor_tells_of_webhooks_that_were_switched_off(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    firm = instance.firm()
    settings = ("--url", "https://shop.example/hooks", "--event", "lead.created")
    made = json.loads(instance.run("webhook", "create", "--org", firm.org_id, *settings).stdout)
    assert "webhooks:" not in instance.run("doctor").stdout
    address = Address(firm.org_id, made["id"], "https://shop.example/hooks")
    assert instance.write(lambda tx: subscriptions.disable(tx, address, "receiver_gone"), firm.org_id)
    said = "WRONG  webhooks: 1 was switched off, for its receiver took nothing: see gatewayd webhook list --org ID."
    assert said in instance.run("doctor").stdout


def test_nothing_is_sent_where_no_server_is_set(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    firm = instance.firm()
    made = instance.run("member", "invite", "--org", firm.org_id, "--email", "bob@example.com", "--role", "admin")
    assert "mails it" not in made.stderr
    assert json.loads(instance.run("mail", "list", "--json").stdout) == []
    refused = instance.run("mail", "test", "--to", "ann@example.com")
    assert (refused.returncode, "mail.host is empty" in refused.stderr) == (1, True)
    assert "mail server" not in instance.run("doctor").stdout
