"""Passwords of links, hashed as those of people are: on threads, and argon2 is imported with the first of them."""

import functools
from typing import TYPE_CHECKING, Final

import trio

from gatewayd.shares import Shares

if TYPE_CHECKING:
    from gatewayd.identity.sign_in.passwords import Hasher

THREADS: Final = 1  # Chosen: strangers who guess have one core between them, in turns by organization
WAIT_SECONDS: Final = 10.0  # Chosen: for a turn


class LinkPasswords:
    """Hashes and verifies. Each call takes tens of milliseconds."""

    def __init__(self) -> None:
        self._limiter = trio.CapacityLimiter(THREADS)
        self.shares = Shares("passwords of links", THREADS, wait_seconds=WAIT_SECONDS)

    async def hash(self, org_id: str, password: str) -> str:
        """The PHC string to store. Raises `Problem` where too many wait, `rate_limited` or `unavailable`."""
        async with self.shares.place(org_id):
            return await trio.to_thread.run_sync(lambda: self._hasher.hash(password), limiter=self._limiter)

    async def verify(self, org_id: str, password_hash: str, password: str) -> bool:
        """Whether it is the password. Raises as `hash`."""
        async with self.shares.place(org_id):
            return await trio.to_thread.run_sync(
                lambda: self._hasher.verify(password_hash, password), limiter=self._limiter
            )

    @functools.cached_property
    def _hasher(self) -> "Hasher":
        from gatewayd.identity.sign_in.passwords import Hasher

        return Hasher()
