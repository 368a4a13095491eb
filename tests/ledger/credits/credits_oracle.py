"""An independent ledger of credits in plain integers: what Domain C8 says, without a database and without sums kept."""

from dataclasses import dataclass, field


class RefusedError(Exception):
    """There are not enough credits."""


@dataclass
class Bucket:
    """A grant: its place in the order, when it is over, and what is left and held of it."""

    priority: int
    expires_at: int | None
    paid: bool
    number: int
    left: int
    held: int = 0
    is_void: bool = False

    @property
    def free(self) -> int:
        return self.left - self.held

    def order(self) -> tuple[int, bool, int, bool, int]:
        return (self.priority, self.expires_at is None, self.expires_at or 0, self.paid, self.number)


@dataclass
class Reserve:
    """A hold: what it may cost, when it is over, and of which buckets it is."""

    most: int
    until: int
    parts: list[tuple[Bucket, int]]
    state: str = "open"


@dataclass
class Piece:
    """A part of the usage of one operation, of one bucket or of none."""

    bucket: Bucket | None
    amount: int
    refunded: int = 0


@dataclass
class Oracle:
    """One organization. `soft`: nothing is refused, and what there is not is owed."""

    soft: bool
    now: int = 0
    debt: int = 0
    buckets: list[Bucket] = field(default_factory=list)
    reserves: dict[str, Reserve] = field(default_factory=dict)
    charged: set[str] = field(default_factory=set)
    pieces: list[Piece] = field(default_factory=list)
    used: int = 0

    @property
    def balance(self) -> int:
        return sum(bucket.left for bucket in self.buckets) - self.debt

    @property
    def held(self) -> int:
        return sum(bucket.held for bucket in self.buckets)

    def settle_time(self) -> None:
        """What is over by now is over."""
        for reserve in self.reserves.values():
            if reserve.state == "open" and reserve.until <= self.now:
                self._end(reserve, "expired")
        for bucket in self.buckets:
            if bucket.expires_at is not None and bucket.expires_at <= self.now:
                bucket.left = bucket.held

    def give(self, amount: int, expires_at: int | None, paid: bool, priority: int) -> Bucket:
        self.settle_time()
        bucket = Bucket(priority, expires_at, paid, len(self.buckets), amount - self._repay(amount))
        self.buckets.append(bucket)
        return bucket

    def use(self, amount: int, operation_id: str) -> None:
        self.settle_time()
        if operation_id in self.charged:
            return
        self._spend(self._parts(amount), amount)
        self.charged.add(operation_id)

    def hold(self, most: int, operation_id: str, until: int) -> None:
        self.settle_time()
        known = self.reserves.get(operation_id)
        if (known is not None and known.state in ("open", "settled")) or operation_id in self.charged:
            return
        parts = [] if self.soft else self._parts(most)
        for bucket, part in parts:
            bucket.held += part
        self.reserves[operation_id] = Reserve(most, until, parts)

    def settle(self, operation_id: str, actual: int) -> None:
        self.settle_time()
        reserve = self.reserves.get(operation_id)
        if reserve is None or reserve.state in ("settled", "released"):
            return
        if operation_id in self.charged:
            self.release(operation_id)
            return
        left, before = min(actual, reserve.most), self.used
        parts = reserve.parts if reserve.state == "open" else []
        for bucket, part in parts:
            bucket.held -= part
        reserve.state = "settled"
        kept = []
        for bucket, part in parts:
            kept.append((bucket, min(part, left)))
            left -= min(part, left)
        self._spend(kept, sum(part for _, part in kept))
        if left:
            reachable = left if self.soft else min(left, self._free())
            self._spend(self._parts(reachable), reachable)
        if self.used != before:  # what came to nothing was not charged
            self.charged.add(operation_id)
        self.settle_time()

    def release(self, operation_id: str) -> None:
        reserve = self.reserves.get(operation_id)
        if reserve is not None and reserve.state == "open":
            self._end(reserve, "released")
            self.settle_time()

    def refund(self, piece: Piece, amount: int) -> None:
        self.settle_time()
        piece.refunded += amount
        self.used -= amount
        rest = amount - self._repay(amount)
        bucket = piece.bucket
        if rest and bucket is not None and not bucket.is_void and not self._is_over(bucket):
            bucket.left += rest
        elif rest:
            priority, paid = (100, False) if bucket is None else (bucket.priority, bucket.paid)
            self.buckets.append(Bucket(priority, None, paid, len(self.buckets), rest))

    def void(self, bucket: Bucket) -> None:
        self.settle_time()
        bucket.left = bucket.held
        bucket.expires_at = self.now
        bucket.is_void = True

    def is_active(self, bucket: Bucket) -> bool:
        self.settle_time()
        return bucket.left > 0 and not bucket.is_void and not self._is_over(bucket)

    def _is_over(self, bucket: Bucket) -> bool:
        return bucket.expires_at is not None and bucket.expires_at <= self.now

    def _end(self, reserve: Reserve, state: str) -> None:
        for bucket, part in reserve.parts:
            bucket.held -= part
        reserve.state = state

    def _free(self) -> int:
        return sum(bucket.free for bucket in self.buckets if not self._is_over(bucket))

    def _parts(self, amount: int) -> list[tuple[Bucket, int]]:
        if self._free() < amount and not self.soft:
            raise RefusedError
        parts = []
        for bucket in sorted(self.buckets, key=Bucket.order):
            part = 0 if self._is_over(bucket) else min(bucket.free, amount)
            amount -= part
            parts += [(bucket, part)] if part else []
        return parts

    def _spend(self, parts: list[tuple[Bucket, int]], amount: int) -> None:
        self.used += amount
        for bucket, part in parts:
            bucket.left -= part
            amount -= part
            self.pieces += [Piece(bucket, part)] if part else []
        self.debt += amount
        self.pieces += [Piece(None, amount)] if amount else []

    def _repay(self, amount: int) -> int:
        paid = min(amount, self.debt)
        self.debt -= paid
        return paid
