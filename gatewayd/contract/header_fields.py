"""Header fields read as a whole (RFC 9110 §5.3): one value for each name. Pure."""

from collections.abc import Collection, Iterable


class RepeatedField(Exception):
    """A field that holds one value was sent more than once. `name` is in lower case."""

    def __init__(self, name: bytes) -> None:
        super().__init__(name)
        self.name = name.decode("ascii")


def joined(fields: Iterable[tuple[bytes, bytes]], single: Collection[bytes] = ()) -> dict[bytes, bytes]:
    """Header fields by name, as they are named; the values of one name are joined.

    Raises `RepeatedField` for a second value of a field in `single`.
    """
    found: dict[bytes, bytes] = {}
    for name, value in fields:
        if name not in found:
            found[name] = value
        elif name in single:
            raise RepeatedField(name)
        else:
            found[name] += (b"; " if name == b"cookie" else b", ") + value  # RFC 9113 §8.2.3
    return found
