"""One question at thousands of addresses: the daemon, which keeps its answers, has none of these from before.

An address is spelled anew by escaping some of the letters and digits of its query (RFC 3986 §2.1).
"""

import itertools
from collections.abc import Iterator

from tests.bench.servers import get

SPELLINGS_MAX = 10_000  # entities: more than the daemon keeps answers to; of a page there need be a hundred


def not_asked_before(path: str, key: str) -> Iterator[bytes]:
    """Authenticated GETs of one path with a query, each spelled otherwise, over and over."""
    return itertools.cycle([get(spelling, key) for spelling in spellings(path)])


def spellings(path: str) -> list[str]:
    """At most `SPELLINGS_MAX` ways to write a path with a query, those with few escapes first."""
    place = path.index("?") + 1
    plain = [number for number in range(place, len(path)) if path[number].isalnum()]
    chosen = itertools.chain.from_iterable(itertools.combinations(plain, count) for count in range(1, len(plain) + 1))
    return [_escaped(path, frozenset(places)) for places in itertools.islice(chosen, SPELLINGS_MAX)]


def _escaped(path: str, places: frozenset[int]) -> str:
    return "".join(f"%{ord(c):02X}" if place in places else c for place, c in enumerate(path))
