"""`gatewayd listen`: a process of its own beside a daemon, or alone, and receivers that verify what it sends."""

import fcntl
import json
import os
import pty
import queue
import signal
import sqlite3
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import apsw
import pytest
import standardwebhooks
import stripe
import svix.webhooks

from gatewayd import events
from gatewayd.clock import to_wire
from gatewayd.store import WriteTx
from gatewayd.webhooks.signature import new_secret
from tests.cli.conftest import Run
from tests.daemon.hooks import Arrival, make_authority, receiving, webhook_settings
from tests.daemon.instance import ROOT, SECONDS, Firm, Instance, environment, serving, until
from tests.support import loaded

NOBODY = "http://127.0.0.1:9/"  # discard: nothing listens there
QUIET_SECONDS = 0.6  # longer than the store takes to notice another process's commit
MANY = 2_000

_INSERT_EVENT = """
INSERT INTO events (id, org_id, kind, data, test, created_at) VALUES (:id, :org_id, :kind, :data, :test, :at)
"""


@dataclass
class LocalReceiver:
    """A developer's receiver on plain HTTP: answers `statuses` in turn, the last again and again."""

    url: str = ""
    secret: str = ""
    statuses: list[int] = field(default_factory=lambda: [204])
    arrivals: "queue.Queue[Arrival]" = field(default_factory=queue.Queue)
    open: threading.Event = field(default_factory=threading.Event)

    def next(self) -> Arrival:
        """The next request."""
        return self.arrivals.get(timeout=SECONDS)

    def verified(self) -> dict[str, Any]:
        """The body of the next request, after each of the packages that receivers use has verified it."""
        arrival = self.next()
        stripe.Webhook.construct_event(arrival.body, arrival.headers["x-service-signature"], self.secret)
        svix.webhooks.Webhook(self.secret).verify(arrival.body, arrival.headers)
        document: dict[str, Any] = standardwebhooks.Webhook(self.secret).verify(arrival.body, arrival.headers)
        return document


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    receiver: LocalReceiver


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SECONDS
    server: _Server

    def do_POST(self) -> None:
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.arrivals.put(Arrival({name.lower(): value for name, value in self.headers.items()}, body))
        receiver.open.wait(SECONDS)
        status = receiver.statuses[0] if len(receiver.statuses) == 1 else receiver.statuses.pop(0)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def receiver() -> Iterator[LocalReceiver]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.receiver = LocalReceiver(f"http://localhost:{server.server_address[1]}/hooks")
    server.receiver.open.set()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server.receiver
    server.receiver.open.set()
    server.shutdown()
    server.server_close()
    thread.join(SECONDS)


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """The commands heed a hang-up, also where the tests themselves run under `nohup`."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    return Instance(tmp_path)


@pytest.fixture
def firm(instance: Instance) -> Firm:
    return instance.firm()


class ListenProcess:
    """A `gatewayd listen` that runs, and what it prints, line by line."""

    def __init__(self, process: loaded.Program) -> None:
        self.process = process
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def line(self) -> str:
        """The next line of standard output."""
        line = self._lines.get(timeout=SECONDS)
        assert line is not None, self.process.stderr and self.process.stderr.read()
        return line

    def row(self) -> list[str]:
        """The columns of the next line."""
        return self.line().split("\t")

    def quiet(self) -> bool:
        """Whether nothing more is printed for as long as a commit needs to be noticed."""
        try:
            self._lines.get(timeout=QUIET_SECONDS)
        except queue.Empty:
            return True
        return False

    def end(self, number: int = signal.SIGINT) -> int:
        """Send a signal; returns the exit code."""
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


@contextmanager
def listening(instance: Instance, firm: Firm, *arguments: str, json: bool = False) -> Iterator[ListenProcess]:
    """Listen for the length of the block, which begins when it does: its first line is read."""
    command = ["-m", "gatewayd", "listen", "--org", firm.org_id, "--config", str(instance.config)]
    process = loaded.start(
        [*command, *arguments, *(["--json"] if json else [])],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        listener = ListenProcess(process)
        try:
            first = process.stderr.readline() if json else listener.line()
            assert "the events of Oak & Son" in first
            yield listener
        finally:
            if process.poll() is None:
                process.kill()
                process.wait(SECONDS)
            listener._reading.join(SECONDS)


@contextmanager
def forwarding(instance: Instance, firm: Firm, receiver: LocalReceiver, *arguments: str) -> Iterator[ListenProcess]:
    """The same, with a receiver that knows the secret."""
    with listening(instance, firm, "--forward-to", receiver.url, *arguments) as listener:
        receiver.secret = listener.line().removeprefix("Signing secret: ")
        yield listener


def lead(instance: Instance, firm: Firm, source: str = "web") -> str:
    """A lead that another process makes; returns its id."""
    return str(instance.do(firm.org_id, "crm.createLead", source=source)["id"])


def emit(instance: Instance, firm: Firm, *sources: str) -> None:
    """Events of one commit."""

    def work(tx: WriteTx) -> None:
        for source in sources:
            events.append(tx, "lead.created", {"lead_id": "lead_1", "source": source, "status": "new"})

    instance.write(work, firm.org_id)


def contents(database: Path) -> dict[str, list[object]]:
    """Everything that the database holds, by table."""
    with closing(apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        found = connection.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'virtual'").get
        return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in found}


# -- what is delivered


def test_a_delivery_is_as_the_daemon_makes_it(tmp_path: Path, receiver: LocalReceiver) -> None:
    authority, ca_file = make_authority(tmp_path)
    instance = Instance(tmp_path, webhook_settings(ca_file))
    firm = instance.firm()
    with receiving(authority) as hooks, serving(instance) as running, forwarding(instance, firm, receiver) as listener:
        request = {"url": hooks.url, "events": ["lead.created"]}
        assert running.call(firm.key, "POST", "/api/rpc/webhooks/subscriptions", request).status_code == 200
        made = running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "Über uns"}).json()
        relayed = receiver.next()
        receiver.arrivals.put(relayed)
        document = receiver.verified()
        (delivered,) = hooks.wait_for(1)
        time, kind, delivery_id, status, milliseconds = listener.row()
        assert listener.end() == 0
        assert running.end() == 0
    assert document["data"] == {"lead_id": made["id"], "source": "Über uns", "status": "new"}
    assert relayed.body.replace(document["id"].encode(), delivered.delivery_id.encode()) == delivered.body
    assert list(relayed.headers) == list(delivered.headers)
    same = ("user-agent", "content-type", "content-length", "x-service-event")
    assert [relayed.headers[name] for name in same] == [delivered.headers[name] for name in same]
    assert delivery_id == document["id"] == relayed.delivery_id == relayed.headers["webhook-id"]
    assert (time, kind, status) == (document["sentAt"], "lead.created", "204")
    assert milliseconds.endswith(" ms")


def test_events_are_forwarded_without_a_daemon(instance: Instance, firm: Firm, receiver: LocalReceiver) -> None:
    with forwarding(instance, firm, receiver) as listener:
        assert receiver.secret.startswith("whsec_")
        made = lead(instance, firm)
        assert receiver.verified()["data"]["lead_id"] == made
        assert listener.row()[3] == "204"
        assert listener.end() == 0


def test_a_secret_is_new_unless_it_is_given(instance: Instance, firm: Firm, receiver: LocalReceiver) -> None:
    secret = new_secret(os.urandom)
    with forwarding(instance, firm, receiver):
        assert receiver.secret != secret
    with forwarding(instance, firm, receiver, "--secret", secret):
        assert receiver.secret == secret
        lead(instance, firm)
        receiver.verified()


def test_only_the_kinds_that_are_wanted_are_forwarded(instance: Instance, firm: Firm, receiver: LocalReceiver) -> None:
    with forwarding(instance, firm, receiver, "--event", "opportunity.stage_changed", "--print-json") as listener:
        lead(instance, firm)
        made = instance.do(firm.org_id, "crm.createOpportunity", name="Oak doors", stage="new")
        instance.do(firm.org_id, "crm.moveOpportunity", id=made["id"], stage="won")
        assert receiver.verified()["data"]["to_stage"] == "won"
        assert listener.row()[1] == "opportunity.stage_changed"
        assert json.loads(listener.line())["data"]["opportunity_id"] == made["id"]
        assert receiver.arrivals.empty()


def test_events_of_others_and_test_events_are_not_shown(instance: Instance, firm: Firm) -> None:
    other = instance.firm("Elm & Daughter")
    sample = {"id": "evt_test", "kind": "lead.created", "data": b"{}", "test": 1, "at": 1}
    with listening(instance, firm) as listener:
        lead(instance, other)
        instance.write(lambda tx: tx.run(_INSERT_EVENT, **sample), firm.org_id)
        lead(instance, firm)
        assert listener.row()[1] == "lead.created"
        assert listener.quiet()


# -- order, and how much


def test_what_is_recorded_during_a_forward_follows_in_order(
    instance: Instance, firm: Firm, receiver: LocalReceiver
) -> None:
    with forwarding(instance, firm, receiver) as listener:
        receiver.open.clear()
        emit(instance, firm, "0")
        assert receiver.verified()["data"]["source"] == "0"
        for number in range(1, 5):
            emit(instance, firm, str(number))
        assert receiver.arrivals.empty()  # one at a time
        receiver.open.set()
        assert [receiver.verified()["data"]["source"] for _ in range(4)] == ["1", "2", "3", "4"]
        assert [listener.row()[3] for _ in range(5)] == ["204"] * 5


def test_thousands_at_once_come_in_order(instance: Instance, firm: Firm) -> None:
    with listening(instance, firm, json=True) as listener:
        emit(instance, firm, *map(str, range(MANY)))
        assert [json.loads(listener.line())["data"]["source"] for _ in range(MANY)] == [str(n) for n in range(MANY)]
        assert listener.end() == 0


def test_since_begins_with_what_was_recorded_then(instance: Instance, firm: Firm) -> None:
    emit(instance, firm, "before")
    until(lambda: to_wire(instance.context.clock.now()) > newest(instance, firm))
    since = to_wire(instance.context.clock.now())
    emit(instance, firm, "first", "second")
    with listening(instance, firm, "--since", since, json=True) as listener:
        emit(instance, firm, "third")
        sources = [json.loads(listener.line())["data"]["source"] for _ in range(3)]
        assert sources == ["first", "second", "third"]


def newest(instance: Instance, firm: Firm) -> str:
    """When the last event was recorded."""
    sql = "SELECT MAX(created_at) FROM events WHERE org_id = :org_id"
    return to_wire(instance.read(lambda tx: tx.value(sql), firm.org_id))


# -- receivers that fail


def test_a_failure_is_shown_and_not_tried_again(instance: Instance, firm: Firm, receiver: LocalReceiver) -> None:
    receiver.statuses = [500, 404, 302, 204]
    sources = ["first", "second", "third", "fourth"]
    with forwarding(instance, firm, receiver) as listener:
        emit(instance, firm, "first")
        time, _, _, status, _ = listener.row()
        assert status == "500"
        assert f"--since {time} " in listener.line()
        emit(instance, firm, *sources[1:])
        assert [listener.row()[3] for _ in range(3)] == ["404", "redirect_refused", "204"]  # said once, how to resend
        sent = [receiver.verified() for _ in sources]
        assert [document["data"]["source"] for document in sent] == sources
        assert listener.quiet()
    assert len({document["id"] for document in sent}) == len(sources)
    with forwarding(instance, firm, receiver, "--since", time, "--secret", receiver.secret):
        assert [receiver.verified() for _ in sources] == sent  # the same ids: a receiver knows what it has had


def test_a_receiver_that_is_not_there_yet(instance: Instance, firm: Firm) -> None:
    with listening(instance, firm, "--forward-to", NOBODY) as listener:
        listener.line()
        lead(instance, firm)
        row = listener.row()
        assert row[3] == "connection"
        assert "refused" in row[5]


def test_a_receiver_that_hangs_costs_its_deadline(tmp_path: Path, receiver: LocalReceiver) -> None:
    instance = Instance(tmp_path, "[webhooks]\ntimeout_seconds = 1\n")
    firm = instance.firm()
    with forwarding(instance, firm, receiver) as listener:
        receiver.open.clear()
        emit(instance, firm, "first")
        row = listener.row()
        assert row[3] == "timeout"
        assert 1000 <= int(row[4].removesuffix(" ms")) < 5000
        assert "--since" in listener.line()
        receiver.open.set()
        emit(instance, firm, "second")
        assert listener.row()[3] == "204"


# -- what is printed


def test_json_is_one_document_for_each_event(instance: Instance, firm: Firm, receiver: LocalReceiver) -> None:
    with listening(instance, firm, "--forward-to", receiver.url, json=True) as listener:
        assert listener.process.stderr is not None
        receiver.secret = listener.process.stderr.readline().strip().removeprefix("Signing secret: ")
        lead(instance, firm)
        body = receiver.verified()
        document = json.loads(listener.line())
    assert {"deliveryId": body["id"], "data": body["data"], "createdAt": body["sentAt"]}.items() <= document.items()
    assert (document["event"], document["responseCode"], document["error"]) == ("lead.created", 204, None)
    assert document["id"].startswith("evt_")
    assert document["durationMs"] >= 0


def test_without_a_receiver_events_are_printed_alone(instance: Instance, firm: Firm) -> None:
    with listening(instance, firm, "--print-json") as listener:
        made = lead(instance, firm, "line\nbreak and \x9b31m")
        time, kind, event_id = listener.row()
        assert (time, kind) == (newest(instance, firm), "lead.created")
        assert event_id.startswith("evt_")
        line = listener.line()
        assert json.loads(line) == {"lead_id": made, "source": "line\nbreak and \x9b31m", "status": "new"}
        assert line.isprintable()  # nothing that a terminal would obey


def test_nothing_is_written_but_that_somebody_listens(instance: Instance, firm: Firm, receiver: LocalReceiver) -> None:
    emit(instance, firm, "one", "two")
    before = contents(instance.database)
    with forwarding(instance, firm, receiver, "--since", "1h") as listener:
        assert [listener.row()[3] for _ in range(2)] == ["204", "204"]
        assert listener.end() == 0
    after = contents(instance.database)
    changed = {table for table, rows in after.items() if rows != before[table]}
    assert changed == {"event_followers", "update_clock"}


def test_no_snapshot_is_held_while_it_waits(instance: Instance, firm: Firm) -> None:
    """Or the daemon's write-ahead log would grow for as long as somebody listens."""
    with listening(instance, firm) as listener:
        lead(instance, firm)
        listener.row()
        assert listener.quiet()
        with closing(sqlite3.connect(instance.database, timeout=0)) as connection:
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert busy == 0


# -- the end


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_well(instance: Instance, firm: Firm, receiver: LocalReceiver, number: int) -> None:
    """Also in the middle of a forward."""
    with forwarding(instance, firm, receiver) as listener:
        receiver.open.clear()
        lead(instance, firm)
        receiver.next()
        assert listener.end(number) == 0
        assert listener.process.stderr is not None
        assert listener.process.stderr.read() == ""


def test_ctrl_c_ends_it_while_nobody_reads_what_it_prints(instance: Instance, firm: Firm) -> None:
    """The pipe is full, and nothing reads on."""
    command = [sys.executable, "-m", "gatewayd", "listen", "--org", firm.org_id, "--config", str(instance.config)]
    with started([*command, "--since", "2020-01-01T00:00:00Z"], stdout=subprocess.PIPE) as process:
        emit(instance, firm, *map(str, range(MANY)))  # more than a pipe holds
        assert process.stdout is not None
        wait_until_full(process.stdout.fileno())
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 0


def test_a_reader_that_goes_away_ends_it_well(instance: Instance, firm: Firm) -> None:
    command = [sys.executable, "-m", "gatewayd", "listen", "--org", firm.org_id, "--config", str(instance.config)]
    with started(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        lead(instance, firm)
        assert process.wait(SECONDS) == 0


def test_a_terminal_that_goes_away_ends_it_well(instance: Instance, firm: Firm) -> None:
    with on_a_terminal(instance, firm) as (process, keyboard):
        os.close(keyboard)
        assert process.wait(SECONDS) == 0


def test_ctrl_c_on_a_terminal_ends_it_well(instance: Instance, firm: Firm) -> None:
    with on_a_terminal(instance, firm) as (process, keyboard):
        os.write(keyboard, b"\x03")
        assert process.wait(SECONDS) == 0
        os.close(keyboard)


@contextmanager
def started(command: Sequence[str], **streams: Any) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that is gone after the block."""
    process = subprocess.Popen(command, env=environment(), cwd=ROOT, **({"stdin": subprocess.DEVNULL} | streams))
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(SECONDS)
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def on_a_terminal(instance: Instance, firm: Firm) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """A listener whose terminal this test is, after its first line; the block closes the terminal."""
    keyboard, screen = pty.openpty()
    command = [sys.executable, "-c", _LED_BY_THE_TERMINAL, "listen", "--org", firm.org_id]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), screen)
    with started([*command, "--config", str(instance.config)], start_new_session=True, **streams) as process:
        os.close(screen)
        shown = b""
        while b"Ctrl-C ends." not in shown:
            shown += os.read(keyboard, 4096)
        yield process, keyboard


_LED_BY_THE_TERMINAL = """
import fcntl, runpy, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
runpy.run_module("gatewayd", run_name="__main__")
"""
"""What a terminal's shell does: the session's terminal is standard input, so its keys and its end become signals."""


def wait_until_full(descriptor: int) -> None:
    """Wait until nothing more comes into a pipe that is not read."""
    seen: list[int] = []

    def unchanged() -> bool:
        seen.append(int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder))
        return seen[-1] > 0 and seen[-20:].count(seen[-1]) == 20

    until(unchanged)


# -- wrong usage


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--event", "lead.lost"], "--event: 'lead.lost' is not known; did you mean lead.*?"),
        (["--since", "2999-01-01T00:00:00Z"], "--since: 2999-01-01T00:00:00.000Z is yet to come"),
        (["--secret", "whsec_c2VjcmV0"], "--secret: nothing is signed without --forward-to"),
        (["--secret", "c2VjcmV0", "--forward-to", NOBODY], "--secret: a signing secret is whsec_ and base64"),
        (["--secret", "whsec_", "--forward-to", NOBODY], "--secret: there is no key behind whsec_"),
        (["--forward-to", "localhost:3000"], "--forward-to: The URL must start with http:// or https://."),
        (["--forward-to", "http://u:p@localhost/"], "--forward-to: The URL must not carry a user name"),
        (["--forward-to", "https://8.8.8.8/hooks"], "--forward-to: 8.8.8.8 is 8.8.8.8: neither this machine nor a"),
        (["--forward-to", "http://169.254.169.254/"], "--forward-to: 169.254.169.254 is 169.254.169.254: cloud"),
    ],
)
def test_wrong_usage_is_named(run: Run, org_id: str, arguments: list[str], reason: str) -> None:
    ran = run("listen", "--org", org_id, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"gatewayd: {reason}")


def test_a_time_that_is_none_is_wrong_usage(run: Run, org_id: str) -> None:
    ran = run("listen", "--org", org_id, "--since", "yesterday")
    assert (ran.code, ran.out) == (2, "")
    assert "--since: 'yesterday' is not a time such as 2026-" in ran.err


def test_a_name_that_is_not_found_fails(run: Run, org_id: str) -> None:
    ran = run("listen", "--org", org_id, "--forward-to", "http://nobody.invalid/")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("gatewayd: --forward-to: nobody.invalid: ")


def test_a_certificate_file_that_is_not_there_fails(run: Run, org_id: str, config_file: Path) -> None:
    config_file.write_text(config_file.read_text() + '[webhooks]\nca_file = "gone.pem"\n')
    ran = run("listen", "--org", org_id, "--forward-to", NOBODY)
    assert (ran.code, ran.out) == (1, "")
    assert "No such file" in ran.err


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("command", [["listen"], ["webhook", "listen"]])
def test_an_organization_that_does_not_exist_fails(run: Run, command: list[str]) -> None:
    ran = run(*command, "--org", "org_nothing")
    assert (ran.code, ran.err) == (1, "gatewayd: There is no such organization.\n")
