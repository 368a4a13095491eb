"""Structs with and without sentences."""

from typing import ClassVar, Literal

from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import Amount, AmountText, DateText, Id, Request, Response

State = Literal["open", "closed"]
WoodOfShelf = Literal["oak", "ash"]
Kind = Literal["low", "high"]


class Berth(Response, frozen=True, kw_only=True):
    """Where a boat lies."""

    id: Id
    quay: str
    """The quay, as the harbour writes it."""
    since: DateText | None
    """The first night. Null: nobody has come yet,
    nor is anybody expected."""
    fee: Amount
    """What a night costs."""
    light: bool
    """Whether it has a lamp."""


class LitBerth(Berth, frozen=True, kw_only=True):
    """One with a lamp.

    Which burns all night.
    """

    light: bool
    """Always true."""
    watts: int


class CreateBerth(Request, frozen=True, kw_only=True):
    """A new one."""

    quay: str
    """Which quay. Left out: the one by the gate."""
    fee: AmountText


class UpdateBerth(Request, frozen=True, kw_only=True):
    """What changes of one."""

    __updates__: ClassVar[type] = CreateBerth

    quay: str | None = None
    fee: AmountText | None = None
    """The new one."""


class MoveBerth(Request, frozen=True, kw_only=True):
    """Where it goes."""

    flag_ship_id: Id
    quay: str
    reason: str


class ListBerths(PageRequest, frozen=True, kw_only=True):
    """Those that are wanted."""

    quay: str | None = None
    light: bool | None = None
    """Only those that have one."""


class Harbour(Response, frozen=True, kw_only=True):
    """Where berths are."""

    main: Berth
    """The one by the gate."""
    state: State
    """Whether it takes boats."""
    others: list[Berth]
