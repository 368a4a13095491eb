"""Names of folders and documents, and when two are the same one. Pure."""

import unicodedata


def name_key(name: str) -> str:
    """A name in which letter case no longer matters, nor whether an accent is a sign of its own, as macOS writes them.

    Unicode 3.13, canonical caseless matching; composed, as most names are written.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
