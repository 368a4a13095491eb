"""What a kind of import does, each in its own way: whose files are read, and what comes of their rows."""

from typing import NamedTuple, Protocol

from gatewayd.errors import Problem
from gatewayd.importing.reading import Source
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.statements.shapes import Unreadable
from gatewayd.store import ReadTx, WriteTx


class OpenAccount(NamedTuple):
    """An account that takes imports."""

    id: str
    currency: str


class NotTaken(Unreadable):
    """The file can be read, and is not for the account: `problem` says why, and what to do."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(None, problem.message)
        self.problem = problem


class Kind(Protocol):
    """One kind of import. Whoever calls holds the lease of the account, and a kind writes what rests on it alone."""

    def open_account(self, tx: ReadTx, account_id: str) -> OpenAccount:
        """The account. Raises `Problem`: `not_found`, `invalid_state` for one that is closed."""

    def may_bring_more(self, tx: ReadTx, run: ImportRunRow, overrides_closing: bool) -> bool:
        """Whether rows of an applied run were refused that may come in by now, with the same file."""

    async def read(self, org_id: str, run: ImportRunRow, source: Source) -> ImportRunRow:
        """Stage the rows of a file. Raises `Unreadable`; with a proposal, where a mapping would make it readable."""

    async def compare(self, org_id: str, run: ImportRunRow) -> ImportRunRow:
        """Decide on every staged row, and count what would become of them."""

    async def apply(self, org_id: str, run: ImportRunRow) -> None:
        """Compare once more, and bring the rows in."""

    async def go_on(self, org_id: str, run: ImportRunRow) -> None:
        """Bring in what is left of a run that a process left in the midst of it, or begin again."""

    def has_begun(self, tx: ReadTx, run: ImportRunRow) -> bool:
        """Whether any row has come in: such a run is gone on with, and does not fail."""

    async def check_undoing(self, org_id: str, run: ImportRunRow) -> None:
        """Look, before anything is taken out, whether all of it can be. Raises `Problem` as `begin_undoing`."""

    def begin_undoing(self, tx: WriteTx, run: ImportRunRow) -> ImportRunRow:
        """Take out what a run brought; what is left to do of it is in its `stage`.

        Raises `Problem`: `invalid_state`, `period_closed`, `insufficient_quantity`.
        """

    async def undo(self, org_id: str, run: ImportRunRow) -> None:
        """Take out what is left of a run that is being undone."""

    async def forget(self, org_id: str, run: ImportRunRow) -> None:
        """Delete the staged rows of a run that has ended, but for those that are worth listing."""

    async def forget_all(self, org_id: str, import_id: str) -> None:
        """Delete whatever is staged."""
