"""Where sealed bytes lie: every column, so that all of them can be opened, sealed anew and given up.

A structure test compares this with the schema, and with every place that seals.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from gatewayd.store.failures import StoreFailure
from gatewayd.store.sealer import Sealer
from gatewayd.store.transactions import Executor

_FIELD: Final = re.compile(r"\{(\w+)\}")


class SealedColumn(NamedTuple):
    """A column of sealed bytes. `context` is what its values are sealed under, with columns of the row in braces.

    `key` are the columns that name a row. `of` is a condition on its rows; empty: all. No bytes at all stand for a
    secret that was forgotten already.
    """

    table: str
    column: str
    key: tuple[str, ...]
    context: str
    of: str = ""

    @property
    def name(self) -> str:
        return f"{self.table}.{self.column}"

    @property
    def _named(self) -> tuple[str, ...]:
        """The columns that say which row it is, and what its value is sealed under."""
        return tuple(dict.fromkeys((*self.key, *_FIELD.findall(self.context))))

    @property
    def select(self) -> str:
        """The statement that reads the columns named and the sealed bytes, of every organization."""
        columns = ", ".join((*self._named, self.column))
        return f"SELECT {columns} FROM {self.table} WHERE length({self.column}) > 0{self._condition}"

    @property
    def update(self) -> str:
        """The statement that replaces the sealed bytes of one row."""
        row = " AND ".join(f"{name} = :{name}" for name in self.key)
        return f"UPDATE {self.table} SET {self.column} = :sealed WHERE {row}{self._condition}"

    @property
    def _condition(self) -> str:
        return f" AND {self.of}" if self.of else ""

    def value(self, row: tuple[Any, ...]) -> "SealedValue":
        """What `select` gave."""
        named = dict(zip(self._named, row[:-1], strict=True))
        return SealedValue(self, named, row[-1], self.context.format(**named))


class SealedValue(NamedTuple):
    """One sealed secret. `row` are the columns that name its row, and those of its context."""

    column: SealedColumn
    row: dict[str, Any]
    sealed: bytes
    context: str


SEALED_COLUMNS: Final = (  # those that every store in use has are first: one of them is opened at each start
    SealedColumn("signing_keys", "private_sealed", ("kid",), "signing_keys.private_sealed:{kid}"),
    SealedColumn("seal_keys", "private_sealed", ("kid",), "seal_keys.private_sealed:{kid}"),
    SealedColumn("webhook_subscriptions", "secret_sealed", ("id",), "webhook_subscriptions.secret:{id}"),
    SealedColumn("webhook_subscriptions", "previous_secret_sealed", ("id",), "webhook_subscriptions.secret:{id}"),
    SealedColumn("totp_secrets", "secret_sealed", ("user_id",), "totp_secrets.secret:{user_id}"),
    *(
        SealedColumn("tax_connections", f"{token}_sealed", key, f"tax_connections.{token}:{context}", of=of)
        for token in ("access", "refresh")
        for key, context, of in (
            (("org_id",), "{org_id}", "legal_entity_id IS NULL"),
            (("org_id", "legal_entity_id"), "{org_id}:{legal_entity_id}", "legal_entity_id IS NOT NULL"),
        )
    ),
    SealedColumn("paper_links", "token_sealed", ("id",), "paper_links.token:{id}"),
    SealedColumn("mails", "letter_sealed", ("id",), "mails.letter:{id}"),
    SealedColumn("legal_entities", "nino_sealed", ("id",), "legal_entities.nino:{id}"),
    SealedColumn("legal_entities", "utr_sealed", ("id",), "legal_entities.utr:{id}"),
    SealedColumn(
        "refresh_tokens",
        "answer_sealed",
        ("grant_id", "generation"),
        "refresh_tokens.answer_sealed:{grant_id}:{generation}",
    ),
    SealedColumn(
        "idempotency_keys",
        "response",
        ("org_id", "credential_id", "key"),
        "idempotency_keys.response:{credential_id}:{key}",
        of="sealed = 1",
    ),
)


def values_of(connection: Executor, column: SealedColumn) -> Iterator[SealedValue]:
    """The sealed secrets of one column."""
    for row in connection.execute(column.select, {}):
        yield column.value(row)


def opens(sealer: Sealer, value: SealedValue) -> bool:
    """Whether a key is the one that a secret was sealed with."""
    try:
        sealer.unseal(value.sealed, value.context)
    except StoreFailure:
        return False
    return True


def sealed_anew(connection: Executor, values: Iterable[SealedValue], old: Sealer, new: Sealer) -> int:
    """Seal under the new key what opens with the old one; returns how much that was. Within a transaction.

    Raises `StoreFailure` where something opens with neither.
    """
    count = 0
    for value in values:
        if opens(new, value):
            continue
        sealed = new.seal(old.unseal(value.sealed, value.context), value.context)
        row = {name: value.row[name] for name in value.column.key}
        connection.execute(value.column.update, {**row, "sealed": sealed})
        count += 1
    return count
