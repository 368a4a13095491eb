"""How a child is started: which interpreter on which modules, with what environment, folder and session."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from gatewayd.isolation.starting import Ends, Entry, command, is_one_file, start, unpacked_of

TELLS = Entry("tells", "tests.isolation.telling")


async def said(told: list[str], **unpacked: str) -> list[str]:
    with trio.fail_after(60):
        process = await start(told, Ends(subprocess.DEVNULL), unpacked)
        assert process.stdout is not None
        assert process.stderr is not None
        async with process.stdout, process.stderr:
            lines = b"".join([part async for part in process.stdout]).decode().splitlines()
            assert b"".join([part async for part in process.stderr]) == b""
        assert await process.wait() == 0
        return lines


async def test_a_child_has_its_arguments_and_nothing_of_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAYD_PLANTED", "secret")
    arguments, environment, folder, session, places = await said(command(TELLS, ["a b", ""]), _PYI_X="1")
    assert (arguments, folder) == (repr(("a b", "")), "/")
    assert set(environment.split()) - {"LC_CTYPE"} == {"_PYI_X"}, "but for what Python gives itself"
    assert session == "leads a session"
    assert places == repr([str(Path(place).absolute()) for place in sys.path if place])


async def test_no_module_of_the_folder_where_it_happens_to_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "importlib.py").write_text("raise SystemExit('taken')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert str(tmp_path) not in command(TELLS, [])
    assert len(await said(command(TELLS, []))) == 5


def test_the_interpreter_is_alone() -> None:
    """-I: no environment, no folder of the user; -S: no `site`, which would look for `.pth` files."""
    program, *flags = command(TELLS, ["x"])[:4]
    assert (program, flags) == (sys.executable, ["-I", "-S", "-c"])


def test_a_program_of_one_file_is_each_of_its_children(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_one_file()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert is_one_file()
    assert command(TELLS, ["x", ""]) == [sys.executable, "tells", "x", ""]


def test_a_child_is_told_where_its_program_was_unpacked_and_nothing_else() -> None:
    environ = {"_PYI_ARCHIVE_FILE": "/x", "PYI_": "no", "PATH": os.defpath, "X_PYI_": "no"}
    assert unpacked_of(environ) == {"_PYI_ARCHIVE_FILE": "/x"}
