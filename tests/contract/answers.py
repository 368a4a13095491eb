"""Write an example of each answer: `python -m tests.contract.answers`, as `make generate` does.

Each is what an operation answers to its own example in the firm of `gatewayd demo`. Ids that the request names are
those of the request's example, so that the two belong together; what is drawn by chance is replaced.
"""

import hashlib
import itertools
import os
import re
import tempfile
from collections.abc import AsyncIterator, Container, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import trio

from gatewayd import http
from gatewayd.contract.operation import Operation
from gatewayd.store import ReadTx
from tests.contract.conftest import Seeded
from tests.contract.demo_firm import FILES, make_demo, opened_demo, token_of
from tests.contract.rows import OPERATIONS, example, send
from tests.support.api import TestedApi
from tests.support.store import migrated_image

FILE = Path(http.__file__).with_name("answer_examples.json")
ITEMS = 2
"""How many of a list are shown."""
ANSWERING = tuple(operation for operation in OPERATIONS if not operation.gives_file)

_ID = re.compile(r"\b([a-z]+)_[0-9a-z]{26}\b")
_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
_TABLES = "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c ON c.name = 'id' WHERE m.type = 'table'"
SOME_TOKEN = "Zx4b0XUuY2mM9hQ7dLr3kTn5vWc8sEaG1iJoP6fRyKw"
_WITH_DIGESTS = ("vault_documents", "import_runs")
"""Whose `sha256` is of what the demo sends, which is the same each time."""
_BY_CHANCE = (
    (re.compile(r"(?<=\bgwd_[a-z]{3}_)[A-Za-z0-9_-]{43}"), SOME_TOKEN),
    (re.compile(r"(?<=\bgwd_i_)[A-Za-z0-9_-]{43}"), SOME_TOKEN),
    (re.compile(r"(?<=/)(?!gwd_)[A-Za-z0-9_.-]{40,}"), SOME_TOKEN),
    (re.compile(r'(?<="secretPrefix":"whsec_)[^"]+'), "b3Zl"),
    (re.compile(r"(?<=\bwhsec_)[A-Za-z0-9+/=]{20,}"), "b3ZlciB0aGUgb2FrcyBhbmQgdGhlIGFzaGVzLCBzbyE="),
    (re.compile(r'(?<=Cursor":")[^"]+'), "lM5UwzRtzwAGYLHjWPYA"),
    (re.compile(r'(?<="keyFingerprint":")[^"]+'), SOME_TOKEN),
    (re.compile(r'(?<="sizeBytes":)[0-9]+(?=,"sha256":"[0-9a-f]+","contentsSha256")'), "7850"),
)


class Shown(NamedTuple):
    """What is shown of the demo's ids, and the digests that are the same each time."""

    ids: Mapping[str, str]
    digests: frozenset[str]


async def answers(directory: Path) -> dict[str, Any]:
    """The answers by the ids of their operations; of files there are none.

    Raises `AssertionError` for an operation whose example the demo does not answer: then the demo lacks what the
    operation is about.
    """
    (directory / "demo").mkdir()
    demo = await make_demo(directory / "demo", migrated_image())
    found: dict[str, Any] = {}
    async with _copied(demo, directory) as (api, ids):
        shown = await api.store.read(lambda tx: shown_of(tx, ids))
        for operation in ANSWERING:
            if operation.method == "GET":
                found[operation.id] = await answer(api, operation, ids, shown)
    for operation in ANSWERING:
        if operation.method != "GET":
            async with _copied(demo, directory) as (api, ids):  # where nothing else was done before
                found[operation.id] = await answer(api, operation, ids, shown)
    return dict(sorted(found.items()))


@asynccontextmanager
async def _copied(demo: Seeded, directory: Path) -> AsyncIterator[tuple[TestedApi, dict[str, str]]]:
    with tempfile.TemporaryDirectory(dir=directory) as copy:
        async with opened_demo(demo, Path(copy)) as (api, ids):
            yield api, ids


async def answer(api: TestedApi, operation: Operation, ids: Mapping[str, str], shown: Shown) -> Any:
    """The answer to an operation's example."""
    file = FILES[operation.id] if operation.takes_file else None
    reply = await send(api, operation, example(operation, ids), token=token_of(operation.id), file=file)
    assert reply.status == 200, (operation.id, reply.body)
    return shortened(msgspec.json.decode(settled(reply.body.decode(), shown.ids, shown.digests)))


def shown_of(tx: ReadTx, ids: Mapping[str, str]) -> Shown:
    """Ids are shown as examples of requests have them, and the others are counted."""
    tables = [row[0] for row in tx.rows(_TABLES)]
    made = [str(row[0]) for table in tables for row in tx.rows(f'SELECT id FROM "{table}"')]
    placed = {made: _placeholder(key) for key, made in ids.items()}
    digests = [str(row[0]) for table in _WITH_DIGESTS for row in tx.rows(f"SELECT sha256 FROM {table}")]
    return Shown(numbered(filter(_ID.fullmatch, made), placed), frozenset(digests))


def numbered(found: Iterable[str], placed: Mapping[str, str]) -> dict[str, str]:
    """What is shown of ids: where they have a place it, else their number among those of their kind."""
    shown = dict(placed)
    counts: dict[str, int] = {}
    for made in sorted(found, key=lambda made: made.partition("_")[2]):
        prefix = made.partition("_")[0]
        counts[prefix] = counts.get(prefix, 0) + 1
        shown.setdefault(made, f"{prefix}_01k{counts[prefix]:023d}")
    return shown


def settled(text: str, shown: Mapping[str, str], digests: Container[str] = ()) -> str:
    """An answer with the ids that are shown in the place of those that were made, and of the new ones their number."""
    ids = dict(shown)
    taken = set(ids.values())

    def id_of(match: re.Match[str]) -> str:
        if match[0] not in ids:
            numbers = (f"{match[1]}_01k{number:023d}" for number in itertools.count(1))
            ids[match[0]] = next(one for one in numbers if one not in taken)
            taken.add(ids[match[0]])
        return ids[match[0]]

    text = _ID.sub(id_of, text)
    made: dict[str, str] = {}
    text = _DIGEST.sub(lambda match: match[0] if match[0] in digests else _digest_of(match[0], made), text)
    for pattern, instead in _BY_CHANCE:
        text = pattern.sub(instead, text)
    return text


def _digest_of(found: str, made: dict[str, str]) -> str:
    """Another digest, which is the same each time: by how many others came before it."""
    return made.setdefault(found, hashlib.sha256(f"digest {len(made)}".encode()).hexdigest())


def _placeholder(key: str) -> str:
    prefix, _, letter = key.partition("_")
    return f"{prefix}_01k{'0' * 22}{letter or 'a'}"


def shortened(value: Any) -> Any:
    """The same with the first of each list."""
    if isinstance(value, list):
        return [shortened(each) for each in value[:ITEMS]]
    return {name: shortened(each) for name, each in value.items()} if isinstance(value, dict) else value


def written(found: Mapping[str, Any]) -> bytes:
    """What the file says of these answers."""
    return msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"


def main() -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT") or None) as directory:
        found = trio.run(answers, Path(directory))
    FILE.write_bytes(written(found))


if __name__ == "__main__":
    main()
