"""The example file: fresh, harmless as it is, and right when every line is uncommented."""

import dataclasses
import itertools
import re
from pathlib import Path

from gatewayd.config import Config, example, load

ENVIRON = {"STATE_DIRECTORY": "/var/lib/gatewayd"}
FILE = Path(__file__).parents[2] / "conf" / "gatewayd.toml"


def test_the_file_is_what_the_fields_say() -> None:
    assert FILE.read_text() == example(), "run `make generate`"


def test_the_example_changes_nothing() -> None:
    assert load(example(), ENVIRON) == load(None, ENVIRON)


def test_every_line_can_be_uncommented() -> None:
    text = re.sub(r"^#(?=[a-z])", "", example(), flags=re.MULTILINE)
    assert load(text, ENVIRON) == load(None, ENVIRON)
    assert len(re.findall(r"^[a-z_]+ = ", text, re.MULTILINE)) == sum(
        len(dataclasses.fields(getattr(Config(), section.name))) for section in dataclasses.fields(Config)
    )


def test_every_key_has_a_meaning_and_lines_fit_a_screen() -> None:
    lines = example().splitlines()
    assert max(map(len, lines)) <= 110
    for before, line in itertools.pairwise(lines):
        assert not re.match(r"#[a-z]", line) or before.startswith("# ")
