"""What `gatewayd doctor` says of how documents are read."""

import json
import shutil
from pathlib import Path

import pytest

from gatewayd.doctor.documents import recognition, walls
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
    assert sentence.startswith(f"{program} recognises it in eng." if program else "tesseract is not installed")


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
    assert recognition(None, (), ("eng",)) == (
        "text in pictures",
        True,
        "tesseract is not installed: scans and photographs are kept, not searched (Debian: tesseract-ocr).",
    )
    lacking = recognition("/usr/bin/tesseract", ["eng", "osd"], ("deu", "eng", "chi_sim"))
    assert (lacking.well, lacking.sentence) == (
        False,
        "/usr/bin/tesseract does not have deu, chi_sim of vault.ocr_languages"
        " (Debian: tesseract-ocr-deu tesseract-ocr-chi-sim).",
    )
    whole = recognition("/usr/bin/tesseract", ["deu", "eng", "osd"], ("eng", "deu"))
    assert (whole.well, whole.sentence) == (True, "/usr/bin/tesseract recognises it in eng, deu.")
    flat = recognition("/usr/bin/tesseract", ["eng"], ("eng",))
    assert flat.well
    assert flat.sentence.endswith("is not read: it has no osd (Debian: tesseract-ocr-osd).")


def test_it_looks_for_the_languages_of_the_settings(run: Run, config_file: Path) -> None:
    config_file.write_text(f'{config_file.read_text()}\n[vault]\nocr_languages = ["eng", "xyz"]\n')
    well, sentence = findings(run)["text in pictures"]
    assert well == ("tesseract is not installed" in sentence)
    assert well or "does not have xyz" in sentence
