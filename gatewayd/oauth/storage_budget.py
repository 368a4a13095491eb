"""How much may be stored in a day for who shows no credential: registrations, metadata documents, requests that wait.

Generous on purpose, as connectors of one vendor come from a few addresses: a registration or a request takes about a
kilobyte. Chosen: kept in memory, for a restart is nothing that others can bring about, and rows that count rows would
grow themselves. Where several daemons serve, each has its share.
"""

from typing import Final

from gatewayd.clock import DAY, SECOND, Instant
from gatewayd.http1.networks import network_of_peer
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.leases.daemons import share_of
from gatewayd.oauth.rate_limit import NETWORKS_MAX

PER_NETWORK_BYTES: Final = 32 << 20  # Chosen: some 30,000 sign-ins of one network
IN_ALL_BYTES: Final = 512 << 20  # Chosen: what a small disk can bear until the next day has swept it
ROW_BYTES: Final = 256  # Chosen: what a row takes beside its largest column, indexes included


class StorageBudget:
    """Counts bytes by network and day, UTC. For one event loop. `stored` and `refused` count since the start."""

    def __init__(self, per_network: int = PER_NETWORK_BYTES, in_all: int = IN_ALL_BYTES) -> None:
        self.stored = 0
        self.refused = 0
        self._of_all = per_network, in_all
        self._per_network, self._in_all_max = self._of_all
        self._day = -1
        self._in_all = 0
        self._by_network: dict[str, int] = {}

    def divide(self, daemons: int) -> None:
        """So many serve from now on; what was stored today counts as it did."""
        self._per_network, self._in_all_max = (share_of(limit, daemons) for limit in self._of_all)

    def charge(self, peer: str | None, size: int, now: Instant) -> None:
        """Count a row of so many bytes, before it is written.

        Raises `OAuthFailure` `temporarily_unavailable` (429) where the day's bytes are used up.
        """
        if now // DAY != self._day:
            self._day, self._in_all = now // DAY, 0
            self._by_network.clear()
        if len(self._by_network) >= NETWORKS_MAX:  # those of all together are still counted
            self._by_network.clear()
        network, size = network_of_peer(peer), size + ROW_BYTES
        used = self._by_network.get(network, 0) + size
        if used > self._per_network or self._in_all + size > self._in_all_max:
            self.refused += 1
            whose = "from this network" if used > self._per_network else "from all together"
            raise OAuthFailure(
                "temporarily_unavailable",
                f"too much was registered and begun today {whose}: try again tomorrow",
                429,
                retry_seconds=(DAY - now % DAY) // SECOND + 1,
            )
        self._by_network[network] = used
        self._in_all += size
        self.stored += size
