"""A daemon that sends mail: what it is told by commands beside it, and what follows from the audit log."""

from pathlib import Path

from gatewayd.identity import audit
from gatewayd.identity.people import users
from tests.daemon.instance import Instance, serving, until
from tests.mail.serving import Taken, mail_server

SETTINGS = """[mail]
host = "127.0.0.1"
port = {port}
security = "none"
from = "books@gatewayd.example"
from_name = "Oak books"
"""


def test_what_happens_beside_it_is_mailed(tmp_path: Path) -> None:
    with mail_server(tmp_path / "smtp") as server:
        instance = Instance(tmp_path, SETTINGS.format(port=server.port))
        firm = instance.firm()

        def came(kind: str) -> Taken | None:
            return next((each for each in server.taken() if each.message["Subject"] == kind), None)

        with serving(instance) as running:
            made = instance.run(
                "member", "invite", "--org", firm.org_id, "--email", "bob@example.com", "--role", "admin"
            )
            assert made.returncode == 0
            invitation = until(lambda: came("You are invited to Oak & Son"))
            assert (invitation.to, str(invitation.message["From"])) == (
                "bob@example.com",
                "Oak books <books@gatewayd.example>",
            )
            assert "Whoever runs the server invites you to Oak & Son" in invitation.text()
            assert "/sign-in/invitation/gwd_inv_" in invitation.text()
            instance.write(lambda tx: users.remove_password(tx, firm.user_id, audit.OPERATOR))
            assert until(lambda: came("Your password was removed")).to == firm.email
            until(lambda: not instance.seen("SELECT id FROM mails WHERE due_at IS NOT NULL"))
            assert running.end() == 0
            log = repr(running.lines())
        assert "gwd_inv_" not in log
        assert firm.email not in log
        assert b"gwd_inv_" not in instance.stored()
