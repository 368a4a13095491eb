"""The key set (RFC 7517 §5): bytes that are ready whenever they are asked for."""

from gatewayd.identity.signing_keys import JWKS_FRESH_SECONDS, SigningKeys
from gatewayd.oauth.documents import Document, document


class KeySet:
    """The document of the keys that are published now."""

    def __init__(self, keys: SigningKeys) -> None:
        self._keys = keys
        self._shown = document(keys.jwks(), JWKS_FRESH_SECONDS)

    def __call__(self) -> Document:
        body = self._keys.jwks()
        if body is not self._shown.body:
            self._shown = document(body, JWKS_FRESH_SECONDS)
        return self._shown
