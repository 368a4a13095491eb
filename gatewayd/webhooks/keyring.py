"""Signing secrets that were opened, so that a busy subscription's is decrypted once."""

from typing import Final

from gatewayd.store import ReadTx

MAX_KEPT: Final = 1024  # Chosen: more than that many busy subscriptions decrypt some of theirs again


class Keyring:
    """What sealed secrets open to. What is sealed anew is another secret, so none that was replaced is found."""

    def __init__(self, max_kept: int = MAX_KEPT) -> None:
        self._opened: dict[tuple[bytes, str], str] = {}
        self._max_kept = max_kept

    def __repr__(self) -> str:
        return f"Keyring({len(self._opened)} kept)"

    def unseal(self, tx: ReadTx, sealed: bytes, context: str) -> str:
        """As the transaction's `unseal`. Raises `StoreFailure` for what does not open, each time."""
        key = sealed, context
        secret = self._opened.get(key)
        if secret is None:
            if len(self._opened) >= self._max_kept:
                self._opened.clear()
            secret = self._opened[key] = tx.unseal(sealed, context)
        return secret
