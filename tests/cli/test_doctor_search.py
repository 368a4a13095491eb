"""`gatewayd doctor` says how documents can be searched here."""

import importlib.util
import json
from pathlib import Path

import apsw
import pytest

from gatewayd.store.sqlite import vectors
from tests.cli.conftest import Run


def finding(run: Run) -> tuple[bool, str]:
    (found,) = [one for one in json.loads(run("doctor", "--json").out) if one["about"] == "search"]
    return found["well"], found["sentence"]


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("wordllama", "By words, and by meaning with the model that is installed."),
        ("off", "By words alone: vault.embeddings is off."),
        ("http://127.0.0.1:11434/v1", "By words, and by meaning with http://127.0.0.1:11434/v1."),
    ],
)
def test_what_gives_meanings_is_named(run: Run, config_file: Path, setting: str, sentence: str) -> None:
    model = 'embeddings_model = "m"' if setting.startswith("http") else ""
    config_file.write_text(f'[store]\ndirectory = "data"\n[vault]\nembeddings = "{setting}"\n{model}\n')
    assert finding(run) == (True, sentence)


def test_a_model_that_there_is_not_for_this_machine_is_nothing_wrong(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "wordllama" else found(name))
    expected = "By words alone: the package wordllama is not installed, which there is not for every machine."
    assert finding(run) == (True, expected)


def test_an_extension_that_does_not_load_is_wrong(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(vectors, "_path", lambda: str(tmp_path / "vec0"))
    well, sentence = finding(run)
    assert not well
    assert sentence.startswith("By words alone: the extension sqlite-vec cannot be loaded: ")
    monkeypatch.setattr(vectors, "_path", lambda: None)
    assert finding(run) == (False, "By words alone: the package sqlite-vec is not installed.")


def test_a_sqlite_without_full_text_search_is_wrong(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "compile_options", ("ENABLE_RTREE",))
    assert finding(run) == (False, "the SQLite of apsw was made without FTS5: documents cannot be searched.")
