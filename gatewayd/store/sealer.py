"""Sealing: secrets that are needed again are encrypted with the instance key, which is not stored with them."""

import functools
import hmac
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.private_files import create_file, sync_directory

KEY_BYTES = 32
_NONCE_BYTES = 12
_FORMAT = b"\x01"


class Sealer:
    """AES-256-GCM. What is sealed under one context cannot be opened under another.

    The key, or what reads it when the first secret is sealed or opened: most commands never do.
    """

    def __init__(self, key: bytes | Callable[[], bytes]) -> None:
        if isinstance(key, bytes) and len(key) != KEY_BYTES:
            raise ValueError(f"the instance key has {len(key)} bytes, not {KEY_BYTES}")
        self._key = key

    @functools.cached_property
    def _bytes(self) -> bytes:
        """The key. Raises what reads it raises."""
        return self._key if isinstance(self._key, bytes) else self._key()

    def require(self) -> None:
        """Read the key now, and not when it is first needed. Raises what reads it raises."""
        self._bytes  # noqa: B018 - it is kept

    @functools.cached_property
    def _cipher(self) -> AESGCM:
        return AESGCM(self._bytes)

    def __repr__(self) -> str:
        return "Sealer(...)"

    def seal(self, secret: bytes, context: str) -> bytes:
        """Format byte, nonce, ciphertext and tag."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return _FORMAT + nonce + self._cipher.encrypt(nonce, secret, context.encode())

    def sign(self, message: bytes, context: str) -> bytes:
        """HMAC-SHA256 under a key of its own for each context, which follows from the instance key."""
        key = hmac.digest(self._bytes, b"sign " + context.encode(), "sha256")
        return hmac.digest(key, message, "sha256")

    def unseal(self, sealed: bytes, context: str) -> bytes:
        """The secret. Raises `StoreFailure` where key, context or bytes are not the ones it was sealed with."""
        nonce, ciphertext = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
        try:
            if sealed[:1] != _FORMAT:
                raise InvalidTag
            return self._cipher.decrypt(nonce, ciphertext, context.encode())
        except (InvalidTag, ValueError):
            raise StoreFailure(f"a sealed secret ({context}) does not open with this instance key") from None


def load_key(path: Path) -> bytes:
    """The instance key at `path`, made there with mode 0600 where there is none.

    Raises `StoreFailure` when the file is not a key, or cannot be read or made.
    """
    try:
        _create(path)
        return read_key(path)
    except OSError as error:
        raise StoreFailure(f"the instance key {path} cannot be read or made: {error.strerror}") from error


def read_key(path: Path) -> bytes:
    """The instance key at `path`. Raises `FileNotFoundError`, or `StoreFailure` for a file that is not a key."""
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StoreFailure(f"the instance key {path} cannot be read: {error.strerror}") from error
    if len(key) != KEY_BYTES:
        raise StoreFailure(f"the instance key {path} has {len(key)} bytes, not {KEY_BYTES}")
    return key


def _create(path: Path) -> None:
    """Appears whole or not at all, and never replaces a key that is there."""
    if path.exists():
        return
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        create_file(draft, secrets.token_bytes(KEY_BYTES), path.parent)
        try:
            os.link(draft, path)
        except FileExistsError:
            return  # another process was first
    finally:
        draft.unlink(missing_ok=True)
    sync_directory(path.parent)
