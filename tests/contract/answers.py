"""Write an example of each answer: `python -m tests.contract.answers`, as `make generate` does.

Each is what an operation answers to its own example, over one of everything. Ids that the request names are those of
the request's example, so that the two belong together; what is drawn by chance is replaced.
"""

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import trio

from gatewayd import http
from gatewayd.contract.operation import Operation
from tests.contract.conftest import Seeded, make_seeded, opened_copy
from tests.contract.rows import OPERATIONS, example, send
from tests.support.api import TestedApi
from tests.support.store import migrated_image

FILE = Path(http.__file__).with_name("answer_examples.json")
ITEMS = 2
"""How many of a list are shown."""

_ID = re.compile(r"\b([a-z]+)_[0-9a-z]{26}\b")
_BY_CHANCE = (
    (re.compile(r"\b[0-9a-f]{64}\b"), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (re.compile(r"(?<=/)[A-Za-z0-9_.-]{40,}|(?<=\bgwd_lnk_)[A-Za-z0-9_-]{43}"), "example"),
    (re.compile(r"(?<=\bwhsec_)[A-Za-z0-9+/=]+"), "ZXhhbXBsZQ=="),
    (re.compile(r'(?<=Cursor":")[^"]+'), "lM5UwzRtzwAGYLHjWPYA"),
    (re.compile(r'(?<="keyFingerprint":")[^"]+'), "example"),
    (re.compile(r'(?<="sizeBytes":)[0-9]+(?=,"sha256":"[0-9a-f]+","contentsSha256")'), "7850"),
)


async def answers(directory: Path) -> dict[str, Any]:
    """The answers by the ids of their operations; of files there are none."""
    (directory / "seeded").mkdir()
    seeded = await make_seeded(directory / "seeded", migrated_image())
    answering = [operation for operation in OPERATIONS if not operation.gives_file]
    found: dict[str, Any] = {}
    async with opened_copy(seeded, directory / "read") as (api, ids):
        for operation in answering:
            if operation.method == "GET":
                found[operation.id] = await answer(api, operation, ids)
    for operation in answering:
        if operation.method != "GET":
            found[operation.id] = await changed(seeded, operation)
    return dict(sorted(found.items()))


async def changed(seeded: Seeded, operation: Operation) -> Any:
    """What is answered where nothing else was done before."""
    with tempfile.TemporaryDirectory() as directory:
        async with opened_copy(seeded, Path(directory)) as (api, ids):
            return await answer(api, operation, ids)


async def answer(api: TestedApi, operation: Operation, ids: Mapping[str, str]) -> Any:
    """The answer to an operation's example."""
    reply = await send(api, operation, example(operation, ids))
    assert reply.status == 200, (operation.id, reply.body)
    return shortened(msgspec.json.decode(settled(reply.body.decode(), ids)))


def settled(text: str, ids: Mapping[str, str]) -> str:
    """An answer with the ids of examples in the place of those that were made, and each other id counted."""
    settled_ids = {made: _placeholder(key) for key, made in ids.items()}

    def id_of(match: re.Match[str]) -> str:
        return settled_ids.setdefault(match[0], f"{match[1]}_01k{len(settled_ids):023d}")

    text = _ID.sub(id_of, text)
    for pattern, instead in _BY_CHANCE:
        text = pattern.sub(instead, text)
    return text


def _placeholder(key: str) -> str:
    prefix, _, letter = key.partition("_")
    return f"{prefix}_01k{'0' * 22}{letter or 'a'}"


def shortened(value: Any) -> Any:
    """The same with the first of each list."""
    if isinstance(value, list):
        return [shortened(each) for each in value[:ITEMS]]
    return {name: shortened(each) for name, each in value.items()} if isinstance(value, dict) else value


def main() -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory() as directory:
        found = trio.run(answers, Path(directory))
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")


if __name__ == "__main__":
    main()
