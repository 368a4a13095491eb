"""What tasks wait for: something that was committed, by name."""

from collections.abc import Iterable

import trio


class Topics:
    """An event for each name that somebody waits for."""

    def __init__(self) -> None:
        self._events: dict[str, trio.Event] = {}

    def event(self, name: str) -> trio.Event:
        """What is set when `name` is next announced."""
        return self._events.setdefault(name, trio.Event())

    def announce(self, names: Iterable[str]) -> None:
        for name in names:
            event = self._events.pop(name, None)
            if event is not None:
                event.set()

    def announce_all(self) -> None:
        self.announce(list(self._events))
