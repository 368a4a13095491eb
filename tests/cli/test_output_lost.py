"""What becomes of a command whose output nobody takes, and of one whose disk is full."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run

FULL = Path("/dev/full")
COMMANDS = ["--help", "--version", "key --help", "operations", "openapi", "man", "completion bash", "check-config"]
SENTENCE = "gatewayd: the output cannot be written (No space left on device); what the command did is done\n"

LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
from gatewayd.cli import main
sys.exit(main(sys.argv[1:]))
"""


def ran(command: str, config: Path, out: int) -> tuple[int, str]:
    line = [sys.executable, "-m", "gatewayd", "--config", str(config), *command.split()]
    done = subprocess.run(line, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_output_that_cannot_be_written_is_told(config_file: Path, command: str) -> None:
    """In a sentence, and by the exit code: a script must not take half a file for a whole one."""
    with FULL.open("wb") as full:
        assert ran(command, config_file, full.fileno()) == (1, SENTENCE)


@pytest.mark.parametrize("command", ["--help", "openapi"])
def test_a_reader_that_has_gone_is_told_nothing(config_file: Path, command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert ran(command, config_file, writing) == (1, "")
    finally:
        os.close(writing)


def test_a_copy_that_finds_no_room_says_so(run: Run, config_file: Path, tmp_path: Path) -> None:
    assert run("org", "create", "--name", "Oak").code == 0
    line = [sys.executable, "-c", LIMITED, "--config", str(config_file), "backup", str(tmp_path / "copy")]
    ran = subprocess.run(line, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stderr.startswith("gatewayd: the database cannot be copied: d"), ran.stderr
    assert "not an error" not in ran.stderr
