"""`gatewayd document import`: a folder comes into the vault from the command line."""

import io
from pathlib import Path

import pytest

from gatewayd.cli.progress import Progress, in_units
from tests.cli.conftest import Run


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    folder = tmp_path / "scans"
    (folder / "2026").mkdir(parents=True)
    (folder / "2026" / "invoice.pdf").write_bytes(b"%PDF-1")
    (folder / "rent.txt").write_bytes(b"rent")
    (folder / "link").symlink_to("rent.txt")
    return folder


def test_a_folder_comes_in_once(run: Run, org_id: str, scans: Path) -> None:
    refused = [{"path": "link", "reason": "it is a symbolic link"}]
    first = run("document", "import", str(scans), "--org", org_id, "--json").document
    assert first == {"added": 2, "known": 0, "refused": refused, "bytes": 10}
    again = run("document", "import", str(scans), "--org", org_id, "--json").document
    assert again == {"added": 0, "known": 2, "refused": refused, "bytes": 0}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--folder", "fld_unknown"), "There is no such folder."),
        ((), "lie in each other"),
    ],
)
def test_what_cannot_be_imported(run: Run, org_id: str, scans: Path, more: tuple[str, ...], said: str) -> None:
    """The data directory itself, where no folder is named."""
    directory = scans if more else scans.parent
    ended = run("document", "import", str(directory), "--org", org_id, *more)
    assert (ended.code, said in ended.err) == (1, True), ended.err


def test_a_file_comes_in_alone(run: Run, org_id: str, scans: Path) -> None:
    (scans / "one.pdf").write_bytes(b"%PDF-1 alone")
    link = scans.parent / "link.pdf"
    link.symlink_to(scans / "one.pdf")
    done = run("document", "import", str(scans / "one.pdf"), "--org", org_id).document
    assert (done["added"], done["known"], done["refused"]) == (1, 0, [])
    again = run("document", "import", str(link), "--org", org_id).document
    assert (again["added"], again["known"], again["refused"]) == (0, 1, [])


def test_a_folder_that_is_not_there(run: Run, org_id: str, tmp_path: Path) -> None:
    ended = run("document", "import", str(tmp_path / "nowhere"), "--org", org_id)
    assert (ended.code, "cannot be read: No such file" in ended.err) == (1, True), ended.err


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_grows_with_the_bytes() -> None:
    terminal = _Terminal()
    with Progress(terminal, 2, 4_000) as progress:
        progress.advance(3_000, "one\x1b[31m.pdf")
        progress.advance(1_000, "two.pdf")
    drawn = terminal.getvalue().split("\r\x1b[K")
    assert [line.count("#") for line in drawn] == [0, 0, 18, 24, 0]
    assert "1 of 2 files, 3.0 kB  one?[31m.pdf" in drawn[2], "what a name says is not obeyed"


def test_what_is_counted_is_called_by_its_name() -> None:
    terminal = _Terminal()
    with Progress(terminal, called="tables") as progress:
        progress.expect(114, 4_000)
        progress.advance(1_000, "invoices", 0)
    assert "0 of 114 tables, 1.0 kB  invoices" in terminal.getvalue()


def test_nothing_is_drawn_in_a_pipe() -> None:
    pipe = io.StringIO()
    with Progress(pipe, 0, 0) as progress:
        progress.advance(0, "x")
    assert pipe.getvalue() == ""


@pytest.mark.parametrize(
    ("size", "said"), [(0, "0 B"), (999, "999 B"), (12_345_678, "12.3 MB"), (10**16, "10000.0 TB")]
)
def test_sizes_are_told_shortly(size: int, said: str) -> None:
    assert in_units(size) == said
