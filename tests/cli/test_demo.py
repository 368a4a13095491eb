"""`gatewayd demo`: it does the main job for real, and fails when a step does not work."""

import io
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import trio

from gatewayd.cli import main
from gatewayd.cli.demo.http import DemoFailed
from gatewayd.cli.demo.receiver import Receiver
from gatewayd.cli.demo.walkthrough import DemoOptions, run_demo
from gatewayd.clock import SystemClock
from tests.daemon.instance import ROOT, SECONDS, environment
from tests.support import loaded


def demo(*arguments: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """The demo as a program; `directory` is where temporary directories are made."""
    command = ["-m", "gatewayd", "demo", *arguments]
    return loaded.run(command, env=environment(TMPDIR=str(directory)), timeout=2 * SECONDS)


def test_once_plays_the_main_job_and_leaves_nothing(tmp_path: Path) -> None:
    ran = demo("--once", "--port", "0", directory=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    steps = [line.split(".")[0] for line in ran.stdout.splitlines() if line[:1].isdigit()]
    assert steps == [str(number) for number in range(1, 18)]
    assert "is uploaded to a URL of its own and confirmed" in ran.stdout
    assert 'Found by a word of it: "quarter-sawn"' in ran.stdout
    assert 'Found by its meaning: "what did we pay for wood".' in ran.stdout
    assert "An app, Cash Calendar, registers itself as an OAuth client: app_" in ran.stdout
    assert "the app reads 3 invoices" in ran.stdout
    assert "INV-000004: 1516.25 + VAT 303.25 = 1819.50 GBP" in ran.stdout
    assert "succeeded, HTTP 204, attempt 1 of 8" in ran.stdout
    assert "VAT obligations: 403 insufficient_scope." in ran.stdout
    assert (
        "the answer is 200:\n     the return for 2017-04-01 to 2017-06-30 is due on 2017-08-07, and open." in ran.stdout
    )
    assert "statement, OFX, is imported: 4 lines" in ran.stdout
    assert "Invoice INV-000001: the amount is what is due, its number is in the text" in ran.stdout
    # 5,530.00 + 1,600.00 + 1,025.00 + 1,516.25; 96.40, 38.15 and 512.40 less a sixth of each
    assert "income 9671.25, expenses 539.12, profit 9132.13." in ran.stdout
    assert "The next deadline: " in ran.stdout
    # 600 at 5.00, of which 100 had cost 4.90, 200 cost 4.50, and 300 of 1,500 for 6,300.00 are 1,260.00
    for cost in ("they cost 490.00", "they cost 900.00", "they cost 1260.00"):
        assert cost in ran.stdout
    assert "Her gain is 350.00." in ran.stdout
    assert "the first would call it 600.00." in ran.stdout
    # 180.00 and 150.00 a week are 780.00 and 650.00 a month, 17,160.00 a year of 345,000.00
    assert "2 of 2 let, 1430.00 a month, 5.0 % of the 345000.00 they are worth." in ran.stdout
    assert "Rent is late: 150.00 for 9 Mill Lane, 1 day." in ran.stdout
    assert "Missing: the gas safety certificate of 9 Mill Lane." in ran.stdout
    assert "proposed for 9 Mill Lane: It has the postcode and the number." in ran.stdout
    assert "and none is missing any more." in ran.stdout
    assert "June Juniper accepts QUO-000001 there." in ran.stdout
    # 2,400.00 with VAT are 2,880.00, a quarter of which is 720.00; of the rest 1,000.00 is paid
    assert "A deposit of 25 %, INV-000005, is 720.00" in ran.stdout
    assert "The rest, INV-000006, is 2160.00. The client opened its link at 20" in ran.stdout
    assert "Its statement of account: 720.00, 2160.00, -720.00, -1000.00; it owes 1160.00." in ran.stdout
    # 1,600.00 less 20 % of it for CIS, 462.00 + 672.00, 1,819.50 and 1,160.00
    assert "all clients owe 5393.50 GBP, of which 0.00 overdue." in ran.stdout
    assert "One step enters it: NH-20417, 512.40, of it VAT 85.40." in ran.stdout
    assert "is freed and pays it: the timber counts once." in ran.stdout
    assert "Ann Oak's quarter to " in ran.stdout
    assert "A calendar that subscribes to this knows all deadlines:\n     http://localhost:" in ran.stdout
    assert ", in -" not in ran.stdout, "the next deadline is not one that has gone by"
    assert "3 bank lines that wait to be" in ran.stdout
    # 5 credits are enough for two calls at 2 each; with 10 more the third leaves 9
    assert "402 insufficient_credits: This costs 2 credits; 1 are available." in ran.stdout
    assert "3 calls for 6 credits; 9 are left." in ran.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_gone_round(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 8080))
            taken.listen()
        except OSError:
            pass  # somebody else has it, which is as good
        ran = demo("--once", directory=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "http://localhost:8080\n" not in ran.stdout


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = demo("--once", "--port", str(port), directory=tmp_path)
    assert ran.returncode == 1
    (line,) = ran.stderr.splitlines()
    assert f"cannot listen on 127.0.0.1:{port}" in line
    assert list(tmp_path.iterdir()) == []


def test_a_named_directory_is_kept_and_not_used_twice(tmp_path: Path) -> None:
    named = tmp_path / "new" / "firm"
    assert demo("--once", "--port", "0", "--directory", str(named), directory=tmp_path).returncode == 0
    assert (named / "gatewayd.db").exists()
    assert named.stat().st_mode & 0o077 == 0
    again = demo("--once", "--port", "0", "--directory", str(named), directory=tmp_path)
    assert (again.returncode, again.stdout) == (1, "")
    assert "is not empty" in again.stderr


def test_a_directory_that_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "file"
    path.touch()
    assert main(["demo", "--once", "--directory", str(path)]) == 1
    assert "cannot be used" in capsys.readouterr().err


def assert_that_the_people_can_sign_in(told: str) -> None:
    """With the address and the password that the demo printed."""
    found = re.search(r"Sign in at (http://\S+)/sign-in with the password (\S+) ", told)
    assert found is not None
    people = re.findall(r"^  (\S+@\S+) +(\w+ \w+), ", told, re.MULTILINE)
    assert [email.partition("@")[0] for email, _ in people] == ["ann", "ben", "fay", "gil"]
    for email, name in people:
        with httpx.Client(base_url=found[1], timeout=SECONDS, trust_env=False, follow_redirects=True) as browser:
            hidden = re.search(r'name="csrf" value="([^"]+)"', browser.get("/sign-in").text)
            assert hidden is not None
            form = {"csrf": hidden[1], "next": "/", "email": email, "password": found[2]}
            assert f"Hello, {name}" in browser.post("/sign-in", data=form).text
            pages = re.findall(rf"{found[1]}(/[a-z/]+)(?:,|\.$)", told, re.MULTILINE)
            assert [browser.get(page).status_code for page in pages] == [200, 200], pages


def assert_that_taxes_can_be_asked_for(told: str) -> None:
    """With the curl line that the demo printed, and the file of headers that it names."""
    (line,) = re.findall(r"^  (curl .*getObligations.*\\\n.*)$", told, re.MULTILINE)
    _, _, url, *options = shlex.split(line.replace("\\\n", " "))
    assert options[::2] == ["-H", "-H"]
    authorization, file = options[1::2]
    fields = [authorization, *Path(file.removeprefix("@")).read_text().splitlines()]
    headers = dict(field.split(": ", 1) for field in fields)
    answer = httpx.get(url, headers=headers, timeout=SECONDS, trust_env=False)
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-tax-upstream"] == "sandbox"
    assert [one["status"] for one in answer.json()["obligations"]] == ["O"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_on_until_a_signal_and_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "gatewayd", "demo", "--port", "0"],
        env=environment(TMPDIR=str(tmp_path)),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            told = ""
            for line in process.stdout:
                told += line
                if "/openapi.json" in line:
                    break
            assert process.poll() is None
            assert_that_the_people_can_sign_in(told)
            assert_that_taxes_can_be_asked_for(told)
            process.send_signal(number)
            _, errors = process.communicate(timeout=SECONDS)
        finally:
            if process.poll() is None:
                process.kill()
    assert (process.returncode, errors) == (0, "")
    assert list(tmp_path.iterdir()) == []


class RejectingReceiver(Receiver):
    """Believes no signature."""

    @property
    def secret(self) -> str:
        return "whsec_of_somebody_else"

    @secret.setter
    def secret(self, value: str) -> None:
        return


def demo_options(directory: Path, receiver: Receiver, output: io.StringIO) -> DemoOptions:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    return DemoOptions(
        directory=directory,
        port=port,
        once=True,
        clock=SystemClock(),
        output=output,
        receiver=receiver,
        step_seconds=3,
    )


def test_a_receiver_that_rejects_fails_the_demo(tmp_path: Path) -> None:
    output = io.StringIO()
    options = demo_options(tmp_path, RejectingReceiver(tmp_path, SystemClock()), output)
    with pytest.RaisesGroup(pytest.RaisesExc(DemoFailed, match="no webhook arrived"), flatten_subgroups=True):
        trio.run(run_demo, options)
    assert "4. The shop subscribes" in output.getvalue()
    assert "5. " not in output.getvalue()


def test_an_interrupted_demo_is_no_success(tmp_path: Path) -> None:
    options = demo_options(tmp_path, RejectingReceiver(tmp_path, SystemClock()), io.StringIO())

    async def interrupted() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_demo, options)
            with trio.fail_after(SECONDS):
                while not (tmp_path / "gatewayd.db").exists():
                    await trio.sleep(0.01)
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.RaisesGroup(pytest.RaisesExc(DemoFailed, match="interrupted"), flatten_subgroups=True):
        trio.run(interrupted)
