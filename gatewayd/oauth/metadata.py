"""What clients read first: RFC 8414, OpenID Connect Discovery, RFC 9728, and the key set (RFC 7517 §5).

The first three stand at every path where they are looked for; all are rendered ahead, and ready whenever asked for.
Members that do not apply are absent, never null: strict clients refuse a null.
"""

from collections.abc import Mapping

import msgspec

from gatewayd.contract.scopes import ALL_SCOPES, KEY_SCOPES
from gatewayd.http1.response import Response
from gatewayd.identity.clients.oauth_parameters import Audiences
from gatewayd.identity.signing.public_keys import ALGORITHMS as CLIENT_ALGORITHMS
from gatewayd.identity.signing.signing_keys import ALGORITHMS, JWKS_FRESH_SECONDS, SigningKeys
from gatewayd.oauth.addresses import AUTHORIZE, INTROSPECT, JWKS, LOGOUT, PAR, REGISTER, REVOKE, TOKEN, USERINFO
from gatewayd.oauth.responses import CORS, JSON_TYPE, NO_SNIFF

FRESH_SECONDS = 600  # Chosen
SECRET_METHODS = ("client_secret_basic", "client_secret_post", "private_key_jwt")

_WELL_KNOWN = "/.well-known"
_MOUNTS = ("/api/auth", "/api/rpc")

Document = dict[str, object]


class KeySet:
    """The document of the keys that are published now."""

    def __init__(self, keys: SigningKeys) -> None:
        self._keys = keys
        self._response = _public(keys.jwks(), JWKS_FRESH_SECONDS)

    def __call__(self) -> Response:
        body = self._keys.jwks()
        if body is not self._response.body:
            self._response = _public(body, JWKS_FRESH_SECONDS)
        return self._response


def _public(body: bytes, fresh_seconds: int) -> Response:
    """A document that anybody may read, and keep for a while."""
    keep = (b"cache-control", b"public, max-age=%d" % fresh_seconds)
    return Response(200, (JSON_TYPE, keep, NO_SNIFF, *CORS), body)


def documents(audiences: Audiences) -> Mapping[str, Response]:
    """Every metadata path with its document."""
    provider = msgspec.json.encode(openid_provider(audiences))
    served = {
        "oauth-authorization-server": provider,  # clients read one of the two, and some then look for UserInfo there
        "openid-configuration": provider,
        "oauth-protected-resource": msgspec.json.encode(protected_resource(audiences.issuer)),
    }
    shown = {name: _public(body, FRESH_SECONDS) for name, body in served.items()}
    return {path: response for name, response in shown.items() for path in _paths(name)}


def _paths(name: str) -> tuple[str, ...]:
    """The path of RFC 8615, and with a mount put in (RFC 8414 §3.1) or in front (OpenID Connect Discovery §4)."""
    inserted = (f"{_WELL_KNOWN}/{name}{mount}" for mount in _MOUNTS)
    in_front = (f"{mount}{_WELL_KNOWN}/{name}" for mount in _MOUNTS)
    return (f"{_WELL_KNOWN}/{name}", *inserted, *in_front)


def authorization_server(audiences: Audiences) -> Document:
    """RFC 8414 §2, and RFC 9728 §4."""
    issuer = audiences.issuer
    return {
        "issuer": issuer,
        "authorization_endpoint": issuer + AUTHORIZE,
        "token_endpoint": issuer + TOKEN,
        "registration_endpoint": issuer + REGISTER,
        "jwks_uri": issuer + JWKS,
        "revocation_endpoint": issuer + REVOKE,
        "introspection_endpoint": issuer + INTROSPECT,
        "pushed_authorization_request_endpoint": issuer + PAR,
        "require_pushed_authorization_requests": False,
        "scopes_supported": list(ALL_SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        **_authentication("token", "none"),
        **_authentication("revocation", "none"),
        **_authentication("introspection", "Bearer"),
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
        "dpop_signing_alg_values_supported": list(CLIENT_ALGORITHMS),
        "protected_resources": list(audiences.all),
        "service_documentation": f"{issuer}/docs",
    }


def _authentication(endpoint: str, first: str) -> Document:
    """How clients authenticate at an endpoint: what anybody has, then what those have that the operator registered."""
    return {
        f"{endpoint}_endpoint_auth_methods_supported": [first, *SECRET_METHODS],
        f"{endpoint}_endpoint_auth_signing_alg_values_supported": list(CLIENT_ALGORITHMS),
    }


def openid_provider(audiences: Audiences) -> Document:
    """OpenID Connect Discovery 1.0 §3: the same provider, as sign-in sees it."""
    issuer = audiences.issuer
    return {
        **authorization_server(audiences),
        "userinfo_endpoint": issuer + USERINFO,
        "end_session_endpoint": issuer + LOGOUT,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": list(ALGORITHMS),
        "prompt_values_supported": ["none", "login", "consent", "select_account"],
        "claim_types_supported": ["normal"],
        "claims_supported": [
            *("iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "amr", "at_hash", "sid"),
            *("name", "email", "email_verified"),
        ],
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,  # absent would mean true; those of RFC 9126 are no such thing
    }


def protected_resource(issuer: str) -> Document:
    """RFC 9728 §2: the API. What signs people in or keeps clients connected is the provider's, not the resource's."""
    return {
        "resource": issuer,
        "authorization_servers": [issuer],
        "scopes_supported": [scope for scope in ALL_SCOPES if scope in KEY_SCOPES],
        "bearer_methods_supported": ["header"],
        "dpop_signing_alg_values_supported": list(CLIENT_ALGORITHMS),
        "dpop_bound_access_tokens_required": False,
        "resource_name": "gatewayd",
        "resource_documentation": f"{issuer}/docs",
    }
