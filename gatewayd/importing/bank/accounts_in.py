"""Which accounts a bank's file is of, and which of the organization's have them; nothing of it comes in."""

import contextlib
from typing import NamedTuple

from gatewayd.areas.banking.accounts.rows import others_open
from gatewayd.errors import invalid_field
from gatewayd.importing.bank.whose import holder_of, key_of, label
from gatewayd.importing.kinds import NotTaken
from gatewayd.importing.parts import ImportParts
from gatewayd.importing.reading import Source, closable
from gatewayd.statements.shapes import Hints, Limits, Opened

ACCOUNTS_MAX = 100  # Chosen: of one file, that come in at once


class InFile(NamedTuple):
    """An account of a file. `name` is what people know it by, `wanted` what says which of the file it is.

    `account_id` is the organization's that has it; None: none, or several may.
    """

    name: str
    wanted: str
    currency: str | None
    account_id: str | None


async def accounts_in(parts: ImportParts, org_id: str, source: Source, currency: str) -> list[InFile]:
    """The accounts of a file, in its order. Raises `Unreadable`, also for a file that names none, or too many."""
    hints = Hints(
        file_name=source.file_name,
        format=source.format,
        mapping=source.mapping,
        currency=currency,
        date_format=source.date_format,
        negate=source.negate,
        supposes=True,
        limits=Limits(file_bytes=source.max_bytes),
    )
    by_key: dict[tuple[str, ...], Opened] = {}
    async with contextlib.aclosing(closable(parts.read_apart(source.path, hints))) as batches:
        async for batch in batches:
            for part in batch:
                if isinstance(part, Opened):
                    by_key.setdefault(key_of(part), part)
    if len(by_key) > ACCOUNTS_MAX:
        raise NotTaken(invalid_field("file", "out_of_range", f"It is of more than {ACCOUNTS_MAX} accounts."))
    if not all(any(key[:2]) for key in by_key):
        raise NotTaken(invalid_field("accountId", "required", "The file does not say whose it is: name the account."))
    accounts = await parts.store.read_later(lambda tx: others_open(tx, ""), org_id)
    return [_in_file(opened, holder_of(opened, accounts)) for opened in by_key.values()]


def _in_file(opened: Opened, account_id: str | None) -> InFile:
    number = opened.iban or f"{opened.sort_code or ''} {opened.account_number or ''}".strip()
    wanted = number or opened.account_name or ""
    return InFile(opened.account_name or opened.bank_name or label(opened), wanted, opened.currency, account_id)
