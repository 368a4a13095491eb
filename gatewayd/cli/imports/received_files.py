"""A file of this machine as an operation takes it: where it lies, its size and its content's hash."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError

if TYPE_CHECKING:
    from gatewayd.contract.received_file import ReceivedFile

PART_BYTES = 1 << 20


def received(path: Path) -> "ReceivedFile":
    """The file where it lies. Raises `CommandError`."""
    from gatewayd.contract.received_file import ReceivedFile

    digest, size = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            while part := file.read(PART_BYTES):
                digest.update(part)
                size += len(part)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
    return ReceivedFile(path.absolute(), size, digest.hexdigest())
