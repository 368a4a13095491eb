"""Why something failed, in words: SQLite has none where a copy fails."""

import apsw
import pytest

from gatewayd.store.failures import reason


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (apsw.FullError("not an error"), "database or disk is full"),
        (apsw.FullError("FullError: not an error"), "database or disk is full"),
        (apsw.IOError("not an error"), "disk I/O error"),
        (apsw.FullError("database or disk is full"), "database or disk is full"),
        (apsw.IOError("disk I/O error"), "disk I/O error"),
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device"),
    ],
)
def test_reasons(error: Exception, words: str) -> None:
    assert reason(error) == words
