"""What `gatewayd doctor` says of how documents are read."""

import json
import shutil
from pathlib import Path

import pytest

from gatewayd.cli.doctor_documents import recognition, walls
from tests.cli.conftest import Run

ALL = ("bubblewrap", "no capabilities", "landlock 7", "resource limits", "seccomp")


def findings(run: Run) -> dict[str, tuple[bool, str]]:
    return {each["about"]: (each["well"], each["sentence"]) for each in json.loads(run("doctor", "--json").out)}


def test_it_tries_what_shuts_readers_in(run: Run) -> None:
    well, sentence = findings(run)["documents"]
    assert well
    assert sentence.startswith("Read in a process behind ")
    assert "resource limits" in sentence


def test_it_says_which_program_reads_pictures(run: Run) -> None:
    program = shutil.which("tesseract", path="/usr/local/bin:/usr/bin:/bin")
    well, sentence = findings(run)["text in pictures"]
    assert well
    assert sentence.startswith(f"{program} recognises it; it has eng" if program else "tesseract is not installed")


def test_it_says_that_pictures_are_not_to_be_read(run: Run, config_file: Path) -> None:
    config_file.write_text(f'{config_file.read_text()}\n[vault]\nocr = "off"\n')
    assert findings(run)["text in pictures"] == (True, "It is not recognised: vault.ocr is off.")


@pytest.mark.parametrize(
    ("missing", "word"),
    [("landlock 7", "5.13"), ("seccomp", "filter of system calls for"), ("bubblewrap", "Debian: bubblewrap")],
)
def test_a_missing_layer_is_named_and_the_others_hold(missing: str, word: str) -> None:
    found = walls([layer for layer in ALL if layer != missing])
    assert (found.well, word in found.sentence) == (True, True)
    assert word not in walls(ALL).sentence


def test_without_landlock_and_seccomp_something_is_wrong() -> None:
    assert not walls(["bubblewrap", "resource limits"]).well


def test_what_recognition_lacks_is_named_with_its_package() -> None:
    assert recognition(None, ()) == (
        "text in pictures",
        True,
        "tesseract is not installed: scans and photographs are kept, not searched (Debian: tesseract-ocr).",
    )
    lacking = recognition("/usr/bin/tesseract", ["osd"])
    assert (lacking.well, lacking.sentence) == (False, "/usr/bin/tesseract has no English (Debian: tesseract-ocr-eng).")
    assert recognition("/usr/bin/tesseract", ["deu", "eng"]).sentence.endswith("it has deu, eng.")
