"""Files that people send, as operations take them: received whole, beside memory, and gone with their request."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from gatewayd.console.browser import organization
from gatewayd.console.components import words
from gatewayd.console.file_forms import FIELD_BYTES, form_with_file
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.errors import Problem
from gatewayd.http1.log import Log
from gatewayd.performing.file_places import FilePlaces
from gatewayd.store import StoreFailure

NAME_MAX: Final = 255  # as many characters as the name of a document has
_NO_NAME: Final = re.compile(r"[\x00-\x1f\x7f]+")


class SentFile(NamedTuple):
    """A file and what its sender calls it."""

    name: str
    file: ReceivedFile


class SentFiles:
    """Where the forms of pages leave their files."""

    def __init__(self, places: FilePlaces, log: Log) -> None:
        self._places = places
        self._log = log

    def most(self, area: str) -> int:
        """How many bytes a file for an operation of this area may have."""
        return self._places.most(area)

    @asynccontextmanager
    async def receive(self, area: str) -> AsyncIterator[SentFile | None]:
        """The file of the form, for the length of the block; None: none was chosen.

        Raises `Problem` as `FilePlaces.receive_from` does, with words for people, and `unavailable` where the disk has
        no room, or the store cannot do what comes of the file; `NotFound` for who belongs to no organization.
        """
        org_id, form = organization().id, form_with_file()
        name = "" if form is None else _name_of(form.file_name)
        if form is None or not name:
            yield None
            return
        declared = max(0, form.declared - 2 * FIELD_BYTES)  # without the form around it, as large as that may be
        try:
            async with self._places.receive_from(form.file(), declared, area, org_id) as file:
                yield SentFile(name, file)
        except StoreFailure as error:
            self._log.error("file_not_kept", exc_info=error)
            text = "The server cannot keep files now. Nothing was kept. Try again later."
            raise Problem("unavailable", text, headers=((b"retry-after", b"5"),)) from None
        except Problem as problem:
            if problem.code == "payload_too_large":
                raise Problem(problem.code, f"A file may have {words.size(self.most(area))} at most.") from None
            raise


def _name_of(given: str) -> str:
    """A file's name without the folders that some browsers put before it, and without what no name may have."""
    name = _NO_NAME.sub(" ", given.rpartition("/")[2]).strip()
    start, dot, ending = name.rpartition(".")
    if len(name) <= NAME_MAX or not dot or len(ending) > NAME_MAX // 2:
        return name[:NAME_MAX]
    return f"{start[: NAME_MAX - len(ending) - 1]}.{ending}"
