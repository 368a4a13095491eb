"""Header fields: what they are, and how they are read as a whole (RFC 9110 §5.3). Pure."""

from collections.abc import Collection, Iterable, Sequence

Header = tuple[bytes, bytes]
Headers = Sequence[Header]
"""Names and values in the order they came or will be sent. Names of requests that were received are in lower case."""


class RepeatedField(Exception):
    """A field that holds one value was sent more than once. `name` is in lower case."""

    def __init__(self, name: bytes) -> None:
        super().__init__(name)
        self.name = name.decode("ascii")


def joined(headers: Iterable[Header], single: Collection[bytes] = ()) -> dict[bytes, bytes]:
    """Header fields by name, as they are named; the values of one name are joined.

    Raises `RepeatedField` for a second value of a field in `single`.
    """
    fields: dict[bytes, bytes] = {}
    for name, value in headers:
        if name not in fields:
            fields[name] = value
        elif name in single:
            raise RepeatedField(name)
        else:
            fields[name] += (b"; " if name == b"cookie" else b", ") + value  # RFC 9113 §8.2.3
    return fields
