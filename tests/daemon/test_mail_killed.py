"""Mails on their way to a real SMTP server while the daemon is killed: each arrives, and none oftener than a kill met.

`make soak` kills ten times, over 1,000 mails of ten organizations. Some are refused for good, some are never answered,
and for some the server ends the connection: the others flow on beside them.
"""

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

from gatewayd.identity import audit
from gatewayd.identity.people import organizations
from gatewayd.mail import outbox
from gatewayd.store import WriteTx
from tests.daemon.instance import SECONDS, Instance, serving, until
from tests.mail.harness import LINK, new_mail
from tests.mail.serving import mail_server, taken_in

KILLS = int(os.environ.get("GATEWAYD_MAIL_KILLS", "4"))
EACH = 100  # mails for each kill
ORGANIZATIONS = 10
BAD = ("gone-{}@x.example", "spam-{}@x.example", "hang-{}@x.example", "close-{}@x.example")
# The test writes beside the daemon, on a machine that may be busy: that one waits too long for the other is no fault.
PATIENCE = {"store_does_not_answer", "mails_not_recorded"}
LONGEST_LIFE_SECONDS = 1.5  # of a daemon that is going to be killed


def settings(port: int) -> str:
    return f"""[mail]
host = "127.0.0.1"
port = {port}
security = "none"
from = "books@gatewayd.example"
timeout_seconds = 1
organization_per_hour = 0
"""


def add_mails(tx: WriteTx) -> None:
    """Bad ones first, so that what comes behind them shows whether they are in the way."""
    orgs = [organizations.create(tx, f"Firm {number}", audit.OPERATOR).id for number in range(ORGANIZATIONS)]
    for number, pattern in enumerate(BAD * 2):
        outbox.queue(tx, new_mail(pattern.format(number), orgs[number % 3]))
    for number in range(KILLS * EACH):
        outbox.queue(tx, new_mail(f"ann{number}@example.com", orgs[number % ORGANIZATIONS]))


def count(instance: Instance, condition: str) -> int:
    return int(str(instance.seen(f"SELECT count(*) FROM mails WHERE {condition}")[0][0]))


def met_by_kills(instance: Instance) -> Counter[str]:
    """How many attempts of each mail nobody lived to record."""
    rows = instance.seen("SELECT id, interruptions FROM mails")
    return Counter({str(id_): int(str(interruptions)) for id_, interruptions in rows})


def test_each_arrives_and_none_oftener_than_kills_met_it(tmp_path: Path) -> None:
    good = "recipient LIKE 'ann%'"
    with mail_server(tmp_path / "smtp") as server:
        instance = Instance(tmp_path, settings(server.port))
        instance.firm()
        instance.write(add_mails)
        chance = random.Random(7)
        for _ in range(KILLS):
            with serving(instance) as running:
                running.claimed |= PATIENCE
                goal = len(taken_in(server.directory)) + chance.randrange(1, EACH)
                end = time.monotonic() + chance.uniform(0.2, LONGEST_LIFE_SECONDS)
                until(lambda: len(taken_in(server.directory)) >= goal or time.monotonic() > end)  # noqa: B023
                os.kill(running.pid, signal.SIGKILL)
                assert running.process.wait(SECONDS) == -signal.SIGKILL
        with serving(instance) as running:
            running.claimed |= PATIENCE
            until(lambda: count(instance, f"{good} AND status = 'sent'") == KILLS * EACH)
            assert running.end() == 0
            lines = running.lines()
        taken = server.taken()
    times = Counter(each.message_id.strip("<>").partition("@")[0] for each in taken)
    interrupted = met_by_kills(instance)
    sent = {str(row[0]) for row in instance.seen("SELECT id FROM mails WHERE status = 'sent'")}
    assert len(sent) == KILLS * EACH
    assert sent <= times.keys()  # each at least once
    assert {id_: number for id_, number in times.items() if number > 1 + interrupted[id_]} == {}
    attempts = instance.seen("SELECT mail_id, outcome FROM mail_attempts")
    noted = Counter(str(mail_id) for mail_id, outcome in attempts if outcome == "interrupted")
    assert noted == Counter({id_: number for id_, number in interrupted.items() if number})
    assert count(instance, "status = 'bounced'") == 2
    assert count(instance, "status = 'failed'") == 2
    assert count(instance, "status = 'queued' AND attempts > 0") == 4  # hanging, or cut off: tried again later
    assert b"Set a new password" not in b"".join(
        bytes(row[0]) for row in instance.seen("SELECT letter_sealed FROM mails")
    )
    log = repr(lines)
    assert LINK.rpartition("/")[2] not in log
    assert "@example.com" not in log.replace("owner-", "")
