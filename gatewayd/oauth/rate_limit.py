"""How often one network may leave something behind without a credential: registrations, and requests that wait.

Generous on purpose: connectors of one vendor come from a few addresses. The token endpoint is not counted; what it
takes is 256 bits long, and nothing stays of a guess.
"""

from gatewayd.clock import MINUTE, Instant
from gatewayd.http1.networks import network_of_peer
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.leases.daemons import share_of

PER_MINUTE = 600  # Chosen
NETWORKS_MAX = 100_000  # Chosen: about 10 MB; then counting begins anew


class NetworkRateLimit:
    """Counts by network and minute. For one event loop. Where several daemons serve, each has its share."""

    def __init__(self, per_minute: int = PER_MINUTE) -> None:
        self._of_all = self._per_minute = per_minute
        self._minute = -1
        self._counts: dict[str, int] = {}

    def divide(self, daemons: int) -> None:
        """So many serve from now on."""
        self._per_minute = share_of(self._of_all, daemons)

    def take(self, peer: str | None, now: Instant) -> None:
        """Count one request. Raises `OAuthFailure` `temporarily_unavailable` (429) when there were too many."""
        if now // MINUTE != self._minute or len(self._counts) >= NETWORKS_MAX:
            self._minute = now // MINUTE
            self._counts.clear()
        network = network_of_peer(peer)
        count = self._counts.get(network, 0) + 1
        self._counts[network] = count
        if count > self._per_minute:
            raise OAuthFailure("temporarily_unavailable", "too many requests from this network: wait a minute", 429)
