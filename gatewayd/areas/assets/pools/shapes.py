"""What is stored of a holding and of its days (decision 0022). Texts are exact: a quantity may be a fraction, `100/3`.

A scope is an account, or a person: the pool of all their accounts without a wrapper.
"""

from typing import Literal

from msgspec import Struct

Rule = Literal["same_day", "thirty_days", "pool", "later"]
"""What a disposal is identified with (Domain C5): acquisitions of the day, of the 30 days after it, the pool; and of a
short position, which nothing covers yet, the next acquisitions whenever they come."""

Departure = Literal["passed", "moved", "removed", "spun_off"]
"""How cost leaves other than by a sale: to the spouse, to another account of one's own, by a merger, by a spin-off."""


class Leaving(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of what is held that leaves at cost, and where the cost goes. `to_scope` None: out of our sight.

    `passed` takes part in matching as a disposal does. Of `spun_off` no quantity leaves: `quantity` is what the report
    was about, and its part of the cost leaves by `share`, or as the `amount` that was told.
    """

    transaction_id: str
    kind: Departure
    quantity: str
    share: str | None = None
    amount: str | None = None
    to_scope: str | None = None
    to_instrument: str | None = None


class Distribution(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Money for shares of which none is sold (TCGA 1992 s122): how many, and what was paid in the base currency.

    `remaining` is what those shares are worth after it, None: nobody said. `small`: whether it comes off the cost,
    None: by its amount. Of a merger the shares leave by the `Leaving` of its transaction, and `remaining` is of the new
    ones.
    """

    transaction_id: str
    quantity: str
    amount: str
    remaining: str | None = None
    small: bool | None = None


class Inputs(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the transactions of one day bring to a scope, merged: costs and proceeds in the base currency."""

    acquired: str = "0"  # bought, or got from somebody else: takes part in matching
    acquired_cost: str = "0"
    disposed: str = "0"  # sold, or given to somebody else
    proceeds: str = "0"
    bonus: str = "0"  # restates what is held at the start of the day (TCGA 1992 s127)
    added: str = "0"  # rights, spin-offs, mergers, own transfers: joins what is held, and is matched with nothing
    added_cost: str = "0"
    lot_difference: str = "0"  # what came at cost: how much more it cost first in, first out, than on average
    adjustment: str = "0"  # of the cost: notional distributions +, equalisation -
    leaving: list[Leaving] = []  # by transaction
    distributions: list[Distribution] = []  # by transaction
    transactions: int = 0  # how many there are; a day without any is deleted


class Match(Struct, frozen=True, kw_only=True):
    """A part of a day's disposals and what it is identified with. `date` is the acquisition's; None: the pool."""

    rule: Rule
    date: str | None
    quantity: str  # in units of the disposal's day
    cost: str


class Carried(Struct, frozen=True, kw_only=True):
    """The cost that one `Leaving` took along: of the pool or on average, and by lots."""

    cost: str
    lot_cost: str


class Lots(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What first in, first out makes of an account's day. A day's acquisitions are one lot.

    Quantities are in units of the very first day. `base` is the cost of the day's lot before any adjustment, as the
    index `scale` has it: what is left of a lot costs base x scale. Adjustments of the cost change the index alone.
    """

    lot: str = "0"
    base: str = "0"
    first: str | None = None  # the day of the first lot that is not used up
    taken: str = "0"  # how much of it is
    cost: str = "0"  # of all that is left
    loose: str = "0"  # the part of it that is of no lot: an adjustment of what had no cost
    scale: str | None = None  # in units of 1e-40; None: 1
    worthless: str | None = None  # lots up to this day have no cost left
    disposal_cost: str = "0"  # what the day's disposals cost


class Outcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What follows from a day. `quantity` is what is held after it, of a short position below 0.

    `pool_quantity` and `pool_cost` are those of the section 104 holding, which nothing enters or leaves that is matched
    by days; below 0 is a short position that nothing covers yet. Of an account they are what it holds and what that
    cost on average. `matches` are of all that the day's inputs dispose of and pass on, `cost` is of what they dispose
    of: its gain counts as far as it is matched.
    """

    quantity: str
    pool_quantity: str
    pool_cost: str
    factor: str = "1"  # units of this day for one of the very first: by splits and bonus issues
    since: str | None = None  # when what is held was first acquired, after nothing was
    cost: str = "0"
    matches: list[Match] = []
    carried: list[Carried] = []  # one for each of `leaving`
    capital_gain: str = "0"  # what an equalisation or a small distribution was beyond the cost that was left
    distributed: str = "0"  # proceeds of distributions that are disposals of a part
    distributed_cost: str = "0"  # and what those parts cost
    small: str = "0"  # distributions that come off the cost, and what of it was not there
    lots: Lots | None = None  # of accounts alone
