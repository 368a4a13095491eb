"""What the endpoints are called in logs and metrics: never by their paths, which others may ask for at will."""

from collections.abc import Collection, Mapping
from typing import Final

from gatewayd.oauth import addresses as at

_ENDPOINTS: Final = (at.AUTHORIZE, at.LOGOUT, at.TOKEN, at.REGISTER, at.REVOKE, at.INTROSPECT, at.PAR, at.USERINFO)
_METADATA: Final = "oauth.metadata"
NO_ENDPOINT: Final = "oauth.none"
"""The label of what asked for no endpoint, whatever it asked for."""


def labels(documents: Collection[str]) -> Mapping[str, str]:
    """The label of every path that is served: `oauth.token`, `oauth.jwks`, `oauth.metadata` for the rest."""
    return {
        **dict.fromkeys(documents, _METADATA),
        **{path: f"oauth.{path.rpartition('/')[2]}" for path in (*_ENDPOINTS, at.JWKS)},
    }
