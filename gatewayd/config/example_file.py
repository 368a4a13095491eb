"""The example file `conf/gatewayd.toml`, made from the documentation on the fields."""

import dataclasses
import json
import textwrap
from collections.abc import Iterator

from gatewayd.config.keys import OCTAL, Between, Config, Form, Key, OneOf, name_of
from gatewayd.config.reloading import RELOADED

WIDTH = 100  # columns

HEADER = """\
# The configuration of gatewayd. Every key is here with its default: uncomment a line to change it.
# An unknown key is an error. `gatewayd check-config` reports every mistake at once.
# Found through --config, $GATEWAYD_CONFIG, /etc/gatewayd/gatewayd.toml, then the user's configuration folder.
# Relative paths are taken from the folder of this file. Secrets are never written here but lie in files;
# credential:NAME is the file that the service manager passes under that name; a shell finds it
# where `gatewayd man` says.
# SIGHUP (`systemctl reload gatewayd`) takes what is marked with (reload); all else is taken at a restart.
"""


def example() -> str:
    """The whole file. Lines that begin with `#` and a letter are settings; `# ` begins prose."""
    lines = [HEADER]
    for section in dataclasses.fields(Config):
        defaults = getattr(Config(), section.name)
        lines += [f"[{section.name}]", f"# {type(defaults).__doc__}", ""]
        for field in dataclasses.fields(defaults):
            marked = f"{section.name}.{name_of(field)}" in RELOADED
            lines += _key_lines(name_of(field), getattr(defaults, field.name), field.metadata["key"], marked=marked)
    return "\n".join(lines).rstrip("\n") + "\n"


def _key_lines(name: str, default: object, key: Key, *, marked: bool) -> Iterator[str]:
    prose = " ".join(filter(None, [key.meaning, *_facts(key), "(reload)" if marked else ""]))
    yield from textwrap.wrap(
        prose, WIDTH, initial_indent="# ", subsequent_indent="# ", break_long_words=False, break_on_hyphens=False
    )
    yield f"#{name} = {oct(default) if key.unit == OCTAL and isinstance(default, int) else _toml(default)}"
    yield ""


def _facts(key: Key) -> Iterator[str]:
    if key.unit and key.unit != OCTAL:
        yield f"Unit: {key.unit}."
    match key.rule:
        case Between(low, high) if key.unit == OCTAL:
            yield f"Unit: octal digits after 0o, from 0o{int(low):03o} to 0o{int(high):03o}."
        case Between(low, high):
            yield f"From {_number(low)} to {_number(high)}."
        case Form(words):
            yield f"Form: {words}."
        case OneOf(choices):
            yield f"One of {', '.join(map(json.dumps, choices))}."


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _toml(default: object) -> str:
    """JSON's text, booleans, whole numbers and lists of text are TOML's too."""
    return _number(default) if isinstance(default, float) else json.dumps(default, ensure_ascii=False)
