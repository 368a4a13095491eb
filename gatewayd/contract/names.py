"""What a name must not hold: characters that nobody sees, or that turn the direction of writing round.

With them two names look the same that are not, and `exe.fdp` reads `pdf.exe`. Joiners (U+200C, U+200D) stay, for
Persian and the scripts of India need them, as emoji do.
"""

import re
from typing import Final

_CLASS: Final = "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
_HIDDEN: Final = re.compile(_CLASS)
_ESCAPED: Final = r"\\u(?:00ad|061c|180e|200[bef]|202[a-e]|206[0-9a-f]|feff|fff[9ab])"
_WRITTEN: Final = re.compile(f"{_CLASS}|{_ESCAPED}", re.IGNORECASE)


def is_name(path: str) -> bool:
    """Whether what people write into a field, by its path in a request, names something."""
    field = path.rpartition(".")[2]
    return field in ("name", "nickname", "title", "label") or field.endswith("Name")


def hidden_in(text: str) -> str | None:
    """What is wrong with a name; None: nothing of this."""
    found = _HIDDEN.search(text)
    return None if found is None else f"The character U+{ord(found[0]):04X} cannot be seen: write it without."


def may_be_hidden_in(body: bytes) -> bool:
    """Whether a JSON body holds such a character anywhere, as it is or escaped."""
    if body.isascii() and b"\\u" not in body:
        return False
    return _WRITTEN.search(body.decode("utf-8", "replace")) is not None
