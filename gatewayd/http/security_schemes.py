"""How a caller proves who it is, as the description says it (Spec §5; OpenAPI 3.1.1, Security Scheme Object)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from gatewayd.contract.scopes import described

Json = dict[str, Any]


class ProviderUrls(NamedTuple):
    """Where clients get their tokens. `discovery`: the metadata of OpenID Connect."""

    authorization: str
    token: str
    discovery: str


def schemes(urls: ProviderUrls) -> Json:
    """Every scheme by its name."""
    meanings = described()
    return {
        "apiKey": {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key or an OAuth 2.0 access token. Scopes: "
            + "; ".join(f"`{scope}`: {meaning}" for scope, meaning in meanings.items()),
        },
        "oauth2": {
            "type": "oauth2",
            "description": "Authorization code with PKCE (S256). Clients register themselves (RFC 7591), or are known "
            "by the address of their metadata document; they have no secret. The scope `offline_access` brings a "
            "refresh token, which is replaced each time that it is used.",
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": urls.authorization,
                    "tokenUrl": urls.token,
                    "refreshUrl": urls.token,
                    "scopes": meanings,
                }
            },
        },
        "openIdConnect": {
            "type": "openIdConnect",
            "description": "The same provider, for signing people in.",
            "openIdConnectUrl": urls.discovery,
        },
    }


def required(scopes: Sequence[str]) -> list[Json]:
    """Either of the schemes that open an operation, with its scopes."""
    return [{"apiKey": list(scopes)}, {"oauth2": list(scopes)}]
