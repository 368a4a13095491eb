"""How much one credential or open address may ask: a token bucket each, and a bound on requests at once.

Where several daemons serve, each grants its share of the rate. Chosen: not of the requests at once, which are a load
that each bears by itself; and when one is gone, its callers come to the others at once.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from gatewayd.errors import Problem
from gatewayd.leases.daemons import share_of

WINDOW_SECONDS = 60
MAX_TRACKED = 10_000  # Chosen: past it, buckets that have refilled are forgotten


@dataclass(slots=True)
class Allowance:
    """What one credential has left. `tokens` as of `at` (seconds on the loop's clock)."""

    tokens: float
    at: float
    running: int = 0


class RateLimits:
    """All credentials' allowances, for whichever thread. `per_minute` 0 means no limit on the rate."""

    def __init__(self, per_minute: int, concurrent: int) -> None:
        self._lock = threading.Lock()
        self._allowances: dict[str, Allowance] = {}
        self._full_at = MAX_TRACKED
        self._daemons = 1
        self._set(per_minute, concurrent)

    def _set(self, per_minute: int, concurrent: int) -> None:
        self._of_all = per_minute, concurrent
        self._capacity = share_of(per_minute, self._daemons) if per_minute else 0
        self._per_second = self._capacity / WINDOW_SECONDS
        self._concurrent = concurrent
        self._policy = (b"ratelimit-policy", b'"default";q=%d;w=%d' % (self._capacity, WINDOW_SECONDS))

    def change(self, per_minute: int, concurrent: int) -> None:
        """Hold everybody to other limits from the next request on."""
        is_other = per_minute != self._of_all[0]
        with self._lock:  # threads that admit add allowances meanwhile
            self._set(per_minute, concurrent)
            if is_other:
                for allowance in self._allowances.values():
                    allowance.tokens = float(self._capacity)  # Chosen: a new limit begins with a whole minute of it

    def divide(self, daemons: int) -> None:
        """So many serve from now on. What a credential has left it keeps, as far as its share goes."""
        with self._lock:
            self._daemons = daemons
            self._set(*self._of_all)
            for allowance in self._allowances.values():
                allowance.tokens = min(allowance.tokens, float(self._capacity))

    @property
    def running(self) -> int:
        """Requests under way, of all credentials together."""
        with self._lock:
            return sum(allowance.running for allowance in self._allowances.values())

    def take(self, credential_id: str, cost: int, now: float) -> Allowance:
        """Pay for one request. Raises `Problem` `rate_limited` with `Retry-After` in whole seconds."""
        with self._lock:
            return self._take(credential_id, cost, now)

    def leave(self, allowance: Allowance) -> None:
        """Free the place among a credential's requests at once."""
        with self._lock:
            allowance.running -= 1

    def _take(self, credential_id: str, cost: int, now: float) -> Allowance:
        allowance = self._allowances.get(credential_id)
        if allowance is None:
            allowance = self._new(credential_id, now)
        elif self._capacity:
            tokens = allowance.tokens + (now - allowance.at) * self._per_second
            allowance.tokens = tokens if tokens < self._capacity else self._capacity
            allowance.at = now
        if allowance.tokens < cost and self._capacity and allowance.tokens < min(cost, self._capacity):
            raise self._too_many(allowance, min(cost, self._capacity))
        if allowance.running >= self._concurrent:
            message = f"At most {self._concurrent} requests at once are allowed."
            raise Problem("rate_limited", message, headers=((b"retry-after", b"1"), *self.headers(allowance)))
        allowance.tokens -= cost
        allowance.running += 1
        return allowance

    @contextmanager
    def charged(self, address: str, cost: int, now: float) -> Iterator[None]:
        """Charge one request, which runs as long as the block, to an address that opens something to whoever has it.

        Raises as `take` does.
        """
        allowance = self.take(address, cost, now)
        try:
            yield
        finally:
            self.leave(allowance)

    def headers(self, allowance: Allowance) -> list[tuple[bytes, bytes]]:
        """The `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers)."""
        if not self._capacity:
            return []
        tokens = allowance.tokens
        left = int(tokens) if tokens > 0 else 0
        reset = int((self._capacity - tokens) / self._per_second) + 1
        return [self._policy, (b"ratelimit", b'"default";r=%d;t=%d' % (left, reset))]

    def _too_many(self, allowance: Allowance, cost: int) -> Problem:
        wait = int((cost - allowance.tokens) / self._per_second) + 1  # never too short by a rounding
        return Problem(
            "rate_limited",
            f"The limit is {self._capacity} requests a minute. Try again in {wait} s.",
            headers=((b"retry-after", b"%d" % wait), *self.headers(allowance)),
        )

    def _new(self, credential_id: str, now: float) -> Allowance:
        if len(self._allowances) >= self._full_at:
            self._forget_refilled(now)
            self._full_at = max(MAX_TRACKED, 2 * len(self._allowances))  # so that the sweep pays off
        allowance = self._allowances[credential_id] = Allowance(float(self._capacity), now)
        return allowance

    def _forget_refilled(self, now: float) -> None:
        for credential_id, allowance in list(self._allowances.items()):
            if allowance.running == 0 and now - allowance.at > WINDOW_SECONDS:
                del self._allowances[credential_id]
