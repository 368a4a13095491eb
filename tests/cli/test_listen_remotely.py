"""`gatewayd listen --url`: events of a daemon over its API, with a key and no store."""

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.daemon.instance import SECONDS, Instance, environment, serving
from tests.support import loaded

LISTEN = ("-m", "gatewayd", "listen", "--json", "--config", os.devnull)


class Printed:
    """The lines that a command prints, as they come."""

    def __init__(self, process: loaded.Program) -> None:
        self.process = process
        self._lines: queue.Queue[str] = queue.Queue()
        self._errors: queue.Queue[str] = queue.Queue()
        self._threads = [
            threading.Thread(target=_pump, args=(stream, lines), daemon=True)
            for stream, lines in ((process.stdout, self._lines), (process.stderr, self._errors))
        ]
        for thread in self._threads:
            thread.start()

    def event(self) -> dict[str, object]:
        document: dict[str, object] = json.loads(self._lines.get(timeout=SECONDS))
        return document

    def sentence(self) -> str:
        return self._errors.get(timeout=SECONDS)

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(SECONDS)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(SECONDS)


def _pump(stream: Iterator[str], lines: "queue.Queue[str]") -> None:
    for line in stream:
        lines.put(line.rstrip("\n"))


@contextmanager
def listening(url: str, key: str, *arguments: str, extra: Mapping[str, str] | None = None) -> Iterator[Printed]:
    process = loaded.start(
        [*LISTEN, "--url", url, *arguments],
        env={**environment(), "GATEWAYD_API_KEY": key, **(extra or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        printed = Printed(process)
        try:
            yield printed
        finally:
            if process.poll() is None:
                process.kill()
                process.wait(SECONDS)
            printed.join()


def test_events_of_a_daemon_are_shown_as_they_happen(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    firm = instance.firm()
    with serving(instance) as running, listening(running.url, firm.key, "--event", "client.*") as printed:
        assert printed.sentence() == f"Listening to the events of {running.url}; Ctrl-C ends."
        made = running.call(firm.key, "POST", "/api/rpc/clients", {"name": "Rowan Ltd"}).json()
        running.call(firm.key, "PATCH", f"/api/rpc/clients/{made['id']}", {"name": "Rowan & Co"})
        created, updated = printed.event(), printed.event()
        assert printed.end() == 0
        assert running.end() == 0
    assert (created["event"], updated["event"]) == ("client.created", "client.updated")
    assert updated["data"] == {"client_id": made["id"], "status": "active", "version": 2, "changed": ["name"]}


def test_a_daemon_that_is_away_is_waited_for_and_nothing_is_missed(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    firm = instance.firm()
    with serving(instance) as running:
        url = running.url
        with listening(url, firm.key, "--event", "lead.*", "--since", "1h") as printed:
            printed.sentence()
            running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "first"})
            assert printed.event()["event"] == "lead.created"
            assert running.end() == 0
            instance.do(firm.org_id, "crm.createLead", source="second")  # while nobody serves
            assert "cannot be reached" in printed.sentence()
            with serving(Instance(tmp_path, bind=f'["{url.removeprefix("http://")}"]')) as again:
                event = printed.event()
                assert printed.end() == 0
                assert again.end() == 0
    assert isinstance(event["data"], dict)
    assert event["data"]["source"] == "second"


def test_a_key_that_does_not_open_it_is_refused(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    instance.firm()
    with serving(instance) as running:
        with listening(running.url, "gk_wrong") as printed:
            assert printed.process.wait(SECONDS) == 1
            assert printed.sentence().startswith(f"gatewayd: {running.url}: ")
        assert running.end() == 0


@pytest.mark.parametrize(
    ("arguments", "environment_", "said"),
    [
        ([], {}, "give --org for the daemon on this machine, or --url and a key for another"),
        (["--org", "org_a", "--url", "http://127.0.0.1:9"], {}, "give --org for the daemon on this machine"),
        (["--url", "http://127.0.0.1:9"], {}, "--url needs a key: --api-key, or GATEWAYD_API_KEY in the environment"),
        (
            ["--url", "http://127.0.0.1:9", "--api-key", "k", "--event", "invoices.*"],
            {},
            "--event: 'invoices.*' is not known; did you mean invoice.*",
        ),
    ],
)
def test_what_does_not_fit_is_told(arguments: list[str], environment_: dict[str, str], said: str) -> None:
    process = loaded.start([*LISTEN, *arguments], env={**environment(), **environment_}, stderr=subprocess.PIPE)
    assert process.stderr is not None
    with process.stderr:
        assert process.wait(SECONDS) == 2
        assert said in process.stderr.read()
