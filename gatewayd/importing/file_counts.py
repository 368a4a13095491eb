"""What becomes of the rows of a file that are not staged: counted, and told with the line, and why or of what kind."""

from dataclasses import dataclass, field

from gatewayd.ledger.imports.import_shapes import REFUSED_SHOWN, IgnoredRows, RefusedLine
from gatewayd.statements.shapes import Ignored, IgnoredKind


@dataclass(slots=True)
class FileCounts:
    """The rows of one file. `rows` are all of them: those that are staged, refused and ignored."""

    rows: int = 0
    refused_rows: int = 0
    refused: list[RefusedLine] = field(default_factory=list)
    ignored_rows: int = 0
    _ignored: dict[IgnoredKind, IgnoredRows] = field(default_factory=dict)

    @property
    def ignored(self) -> list[IgnoredRows]:
        """The rows that are no transactions, by kind, in the order of the file."""
        return sorted(self._ignored.values(), key=lambda group: group.first_line)

    def refuse(self, line: int, reason: str) -> None:
        """One row that is not taken, counted in `rows` by the caller."""
        self.refused_rows += 1
        if len(self.refused) < REFUSED_SHOWN:
            self.refused.append(RefusedLine(line=line, reason=reason))

    def ignore(self, part: Ignored) -> None:
        """One row more, which is no transaction."""
        self.rows += 1
        self.ignored_rows += 1
        before = self._ignored.get(part.kind)
        first, rows = (part.line, 1) if before is None else (before.first_line, before.rows + 1)
        self._ignored[part.kind] = IgnoredRows(kind=part.kind, rows=rows, first_line=first)
