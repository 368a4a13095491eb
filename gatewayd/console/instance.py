"""What the pages of administration are told of the instance itself, by the daemon that runs them."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from gatewayd.clock import Instant

State = Literal["well", "wrong", "unknown"]


class Finding(NamedTuple):
    """What one check found. `advice`: what to do about it; empty where nothing is. "unknown": it took too long."""

    about: str
    state: State
    sentence: str
    advice: str = ""


class Figures(NamedTuple):
    """Of the daemon and its store. `store_bytes` None: it could not be found out. `memory_bytes`: this process holds.

    `engine` is the database with its version, `schema` its last migration; empty and 0 where that was not found out.
    """

    started_at: Instant
    engine: str
    schema: int
    store_bytes: int | None
    free_bytes: int
    memory_bytes: int | None


class Deliveries(NamedTuple):
    """Of one organization. What is counted goes up to `most` of each subscription, and says the least there is then.

    `first_due` None: nothing waits. `disabled` are subscriptions with any of it to which nothing is sent.
    """

    organization: str
    waiting: int
    first_due: Instant | None
    exhausted: int
    disabled: int
    more: bool


class Mails(NamedTuple):
    """Of one organization; `organization` empty: of people's own accounts. `first_due` None: nothing waits.

    `given_up` within the last two weeks.
    """

    organization: str
    waiting: int
    first_due: Instant | None
    given_up: int


class UnsentMail(NamedTuple):
    """A mail that was given up. `why` None: nobody said. `can_be_resent`: what it says is kept, and holds still."""

    id: str
    organization: str
    kind: str
    recipient: str
    why: str | None
    at: Instant
    can_be_resent: bool


class Documents(NamedTuple):
    """Of one organization: to be read, being read, to be indexed; counted up to a bound, which `more` tells."""

    organization: str
    to_read: int
    under_way: int
    to_index: int
    more: bool


class Import(NamedTuple):
    """A file that is worked at, since when. `stage` is a word of the API's."""

    organization: str
    kind: str
    stage: str
    since: Instant


class Lease(NamedTuple):
    """What one process works on alone. `organization` is empty where it is of none; `ours`: this daemon holds it."""

    organization: str
    kind: str
    holder: str
    ours: bool
    until: Instant


class Unknown(NamedTuple):
    """A call that broke off, of which nobody knows what it did; its key is refused until it is forgotten."""

    organization: str
    operation: str
    since: Instant


class Round(NamedTuple):
    """When a piece of housekeeping was last done. `failed`: it could not be finished then."""

    at: Instant
    failed: bool


class Jobs(NamedTuple):
    """What waits and what is under way; each list has its first rows alone. `sending`: attempts of this daemon.

    `passages` of documents have no vector yet, `more_passages` says that there are more; None: nothing gives any.
    """

    deliveries: Sequence[Deliveries]
    sending: int
    documents: Sequence[Documents]
    passages: int | None
    more_passages: bool
    imports: Sequence[Import]
    leases: Sequence[Lease]
    unknown: Sequence[Unknown]
    rounds: Mapping[str, Round]
    mails: Sequence[Mails] = ()
    unsent: Sequence[UnsentMail] = ()


class Instance(Protocol):
    """The daemon, as an administrator looks at it."""

    def readiness(self) -> Mapping[str, str]:
        """Each part of it with `ok`, or what is wrong, as `/readyz` says."""

    async def examine(self) -> Sequence[Finding]:
        """What `gatewayd doctor` says. What takes too long is "unknown": it is waited for some seconds at most."""

    async def figures(self) -> Figures:
        """As they are now. What takes too long is left out."""

    async def jobs(self) -> Jobs:
        """As they are now. Raises `StoreFailure`."""
