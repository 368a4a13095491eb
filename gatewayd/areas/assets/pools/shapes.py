"""What is stored of a holding and of its days (decision 0022). Texts are exact: a quantity may be a fraction, `100/3`.

A scope is an account, or a person: the pool of all their accounts without a wrapper.
"""

from typing import Literal

from msgspec import Struct

Rule = Literal["same_day", "thirty_days", "pool", "later"]
"""What a disposal is identified with (Domain C5): acquisitions of the day, of the 30 days after it, the pool; and of a
short position, which nothing covers yet, the next acquisitions whenever they come."""


class Inputs(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the transactions of one day bring to a scope, merged: costs and proceeds in the base currency."""

    acquired: str = "0"  # bought, or got from somebody else: takes part in matching
    acquired_cost: str = "0"
    disposed: str = "0"  # sold, or given to somebody else
    proceeds: str = "0"
    passed: str = "0"  # to the spouse: leaves as a disposal does, without gain or loss
    added: str = (
        "0"  # of bonus and rights issues, spin-offs and mergers: joins what is held, and is matched with nothing
    )
    added_cost: str = "0"
    adjustment: str = "0"  # of the pool's cost: notional distributions +, equalisation and returns of capital -
    moved_in: str = "0"  # between own accounts: of account scopes alone
    moved_in_cost: str = "0"
    moved_out: str = "0"
    removed: str = "0"  # what a merger takes away, with its cost
    removed_cost_shares: list[str] = []  # what spin-offs take of the cost, each a part of what is left
    transactions: int = 0  # how many there are; a day without any is deleted


class Match(Struct, frozen=True, kw_only=True):
    """A part of a day's disposals and what it is identified with. `date` is the acquisition's; None: the pool."""

    rule: Rule
    date: str | None
    quantity: str  # in units of the disposal's day
    cost: str


class Outcome(Struct, frozen=True, kw_only=True):
    """What follows from a day. `quantity` is what is held after it.

    `pool_quantity` and `pool_cost` are those of the section 104 holding, which nothing enters or leaves that is matched
    by days; of an account they are what it holds and what that cost on average. `cost` is what the day's disposals
    cost, by `matches`.
    """

    quantity: str
    pool_quantity: str
    pool_cost: str
    disposed: str
    proceeds: str
    cost: str
    matches: list[Match]
    capital_gain: str = "0"  # what a return of capital was beyond the cost that was left
