"""What becomes of a command whose output nobody takes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")
COMMANDS = ["--help", "--version", "key --help", "operations", "openapi", "man", "completion bash", "check-config"]
SENTENCE = "gatewayd: the output cannot be written (No space left on device); what the command did is done\n"


def ran(command: str, config: Path, out: int) -> tuple[int, str]:
    line = [sys.executable, "-m", "gatewayd", "--config", str(config), *command.split()]
    done = subprocess.run(line, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
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
