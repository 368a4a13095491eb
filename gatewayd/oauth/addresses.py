"""Where the endpoints are (Spec §5), and the pages that go on from them; what each is called in logs and metrics."""

from collections.abc import Collection, Mapping
from typing import Final

PREFIX = "/api/auth/"

AUTHORIZE = "/api/auth/oauth2/authorize"
TOKEN = "/api/auth/oauth2/token"
REGISTER = "/api/auth/oauth2/register"
REVOKE = "/api/auth/oauth2/revoke"
INTROSPECT = "/api/auth/oauth2/introspect"
PAR = "/api/auth/oauth2/par"
USERINFO = "/api/auth/oauth2/userinfo"
LOGOUT = "/api/auth/oauth2/logout"
JWKS = "/api/auth/jwks"
DISCOVERY = "/.well-known/openid-configuration"  # OpenID Connect Discovery 1.0 §4

CHOOSE_PAGE = "/oauth/choose"
SIGN_OUT_PAGE = "/sign-out"

REQUEST_URI_PREFIX = "urn:ietf:params:oauth:request_uri:"  # RFC 9126 §2.2

NO_ENDPOINT: Final = "oauth.none"
"""The metric label of what asked for no endpoint, whatever it asked for."""
_ENDPOINTS: Final = (AUTHORIZE, LOGOUT, TOKEN, REGISTER, REVOKE, INTROSPECT, PAR, USERINFO)
_METADATA: Final = "oauth.metadata"


def metric_labels(documents: Collection[str]) -> Mapping[str, str]:
    """The label of every path that is served: `oauth.token`, `oauth.jwks`, `oauth.metadata` for the rest.

    Never a path itself, which others may ask for at will.
    """
    return {
        **dict.fromkeys(documents, _METADATA),
        **{path: f"oauth.{path.rpartition('/')[2]}" for path in (*_ENDPOINTS, JWKS)},
    }
