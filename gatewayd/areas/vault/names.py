"""Names of folders and documents: what they may be, and when two are the same one. Pure."""

import unicodedata
from typing import Annotated, Final

from msgspec import Meta

NAME_PATTERN = r"^[^/\x00-\x1f\x7f]*[^/\x00-\x1f\x7f\s][^/\x00-\x1f\x7f]*$"
VaultName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=255,
        pattern=NAME_PATTERN,
        extra={"form": "a name without slashes and control characters"},
        description="No slash and no control characters.",
    ),
]
"""The name of a folder or a document, as people see it."""
TOP: Final = "root"
"""What stands for a folder where those at the top are asked for."""


def name_key(name: str) -> str:
    """A name in which letter case no longer matters, nor whether an accent is a sign of its own, as macOS writes them.

    Unicode 3.13, canonical caseless matching; composed, as most names are written.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
