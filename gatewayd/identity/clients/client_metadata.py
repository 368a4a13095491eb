"""What a client says about itself, at registration (RFC 7591 §2) or in a document (CIMD), and what of it is honoured.

Anybody may register: what is not understood is ignored, what cannot be served is replaced by what can, and only what
would be unsafe or of no use is refused.
"""

from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from gatewayd.contract.scopes import ordered
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.identity.clients.redirect_uris import fault_of, host_of, is_host, is_web_address

METADATA_BYTES_MAX = 8 * 1024  # Chosen: anybody may send it; of the JSON that comes in, and of what is stored
REDIRECTS_MAX = 32  # Chosen
NAME_LENGTH_MAX = 160  # Chosen, in characters
TEXT_LENGTH_MAX = 255  # Chosen: of a contact, a software id or version
SCOPE_LENGTH_MAX = 2048  # Chosen
CONTACTS_MAX = 10  # Chosen
LIST_MAX = 32  # Chosen: of grant and response types

GRANT_TYPES = ("authorization_code", "refresh_token")
RESPONSE_TYPES = ("code",)

AuthMethod = Literal["none", "client_secret_basic", "client_secret_post", "private_key_jwt"]
SigningAlgorithm = Literal["ES256", "RS256"]
ApplicationType = Literal["web", "native"]


class ClientMetadata(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is honoured, as it is stored and echoed: absent members are left out, never null.

    `scope` is what a request without scopes asks for, and of a client of the operator's the most that it is granted.
    `redirect_uris` is never empty. Clients that the operator registered alone have a method other than `none`, and
    `jwks`.
    """

    redirect_uris: list[str]
    client_name: str
    grant_types: list[str]
    response_types: list[str]
    token_endpoint_auth_method: AuthMethod
    id_token_signed_response_alg: SigningAlgorithm
    application_type: ApplicationType
    dpop_bound_access_tokens: bool
    scope: str | None = None
    client_uri: str | None = None
    logo_uri: str | None = None
    policy_uri: str | None = None
    tos_uri: str | None = None
    contacts: list[str] | None = None
    software_id: str | None = None
    software_version: str | None = None
    post_logout_redirect_uris: list[str] | None = None
    jwks: dict[str, list[dict[str, object]]] | None = None


def validate(raw: Mapping[str, object]) -> ClientMetadata:
    """What is honoured of `raw`, decoded JSON.

    Raises `OAuthFailure`: `invalid_redirect_uri`; `invalid_client_metadata` for a name, a grant type, a response type,
    or a size that cannot be served, or a member of the wrong type that would be honoured.
    """
    redirects = _redirects(raw, "redirect_uris")
    if not redirects:
        raise OAuthFailure("invalid_redirect_uri", "redirect_uris is needed")
    _check_types(raw, "grant_types", "authorization_code")
    _check_types(raw, "response_types", "code")
    metadata = ClientMetadata(
        redirect_uris=redirects,
        client_name=_name(raw, redirects),
        grant_types=list(GRANT_TYPES),  # Chosen: a refresh token hangs on offline_access, not on this list
        response_types=list(RESPONSE_TYPES),
        token_endpoint_auth_method="none",  # Spec §5: whatever was asked for
        id_token_signed_response_alg="RS256" if raw.get("id_token_signed_response_alg") == "RS256" else "ES256",
        application_type=_application_type(raw, redirects),
        dpop_bound_access_tokens=_flag(raw, "dpop_bound_access_tokens"),
        scope=_scope(raw),
        client_uri=_address(raw, "client_uri"),
        logo_uri=_address(raw, "logo_uri"),
        policy_uri=_address(raw, "policy_uri"),
        tos_uri=_address(raw, "tos_uri"),
        contacts=_contacts(raw),
        software_id=_optional_text(raw, "software_id"),
        software_version=_optional_text(raw, "software_version"),
        post_logout_redirect_uris=_redirects(raw, "post_logout_redirect_uris") or None,
    )
    if len(msgspec.json.encode(metadata)) > METADATA_BYTES_MAX:
        raise _invalid(f"the metadata is larger than {METADATA_BYTES_MAX} bytes")
    return metadata


def validate_document(url: str, raw: Mapping[str, object]) -> ClientMetadata:
    """What is honoured of the document at `url` (draft-ietf-oauth-client-id-metadata-document §4.1).

    Raises as `validate` does, and `invalid_client_metadata` where the document is another client's or holds a secret.
    """
    if raw.get("client_id") != url:
        raise _invalid("client_id is not the address of the document")
    if "client_secret" in raw or "client_secret_expires_at" in raw:
        raise _invalid("a document that anybody reads holds no secret")
    return validate(raw)


def is_document_url(client_id: str) -> bool:
    """Whether a client id can be the address of a document (draft-ietf-oauth-client-id-metadata-document §3).

    It says nothing about whether the address may be connected to: the guarded transport does.
    """
    if not client_id.startswith("https://") or "#" in client_id or not is_web_address(client_id):
        return False
    parts = urlsplit(client_id)
    segments = parts.path.lower().replace("%2e", ".").split("/")
    return parts.path != "" and is_host(parts) and not {".", ".."} & set(segments)


# -- members


def _redirects(raw: Mapping[str, object], name: str) -> list[str]:
    """Each once, in the order given. Raises `OAuthFailure` `invalid_redirect_uri`."""
    uris = raw.get(name)
    if uris is None:
        return []
    if not isinstance(uris, list) or len(uris) > REDIRECTS_MAX:
        raise OAuthFailure("invalid_redirect_uri", f"{name} is a list of at most {REDIRECTS_MAX} URIs")
    for uri in uris:
        fault = fault_of(uri) if isinstance(uri, str) else f"{name} is a list of strings"
        if fault is not None:
            raise OAuthFailure("invalid_redirect_uri", fault)
    return list(dict.fromkeys(uris))


def _check_types(raw: Mapping[str, object], name: str, needed: str) -> None:
    """Values that we do not serve are ignored; without `needed` the client could do nothing here."""
    values = raw.get(name)
    if values is None or values == []:
        return
    if not isinstance(values, list) or len(values) > LIST_MAX or needed not in values:
        raise _invalid(f"{name} must hold {needed}")


def _name(raw: Mapping[str, object], redirects: list[str]) -> str:
    client_name = raw.get("client_name")
    if client_name is None or client_name == "":
        return host_of(redirects[0])[:NAME_LENGTH_MAX]  # Chosen: RFC 7591 §2 shows the id, which says even less
    if not isinstance(client_name, str):
        raise _invalid("client_name is a string")
    name = client_name.strip()
    if not 1 <= len(name) <= NAME_LENGTH_MAX:
        raise _invalid(f"client_name has 1 to {NAME_LENGTH_MAX} characters")
    if not name.isprintable():  # also what turns the direction of writing round
        raise _invalid("client_name has no control characters and no line breaks")
    return name


def _application_type(raw: Mapping[str, object], redirects: list[str]) -> ApplicationType:
    """Chosen: it decides nothing, since clients in use say `web` and redirect to an app (RFC 9700 asks for no more)."""
    match raw.get("application_type"):
        case "web":
            return "web"
        case "native":
            return "native"
    return "web" if all(uri.lower().startswith("https:") for uri in redirects) else "native"


def _flag(raw: Mapping[str, object], name: str) -> bool:
    value = raw.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise _invalid(f"{name} is true or false")


def _scope(raw: Mapping[str, object]) -> str | None:
    scope = raw.get("scope")
    if scope is None:
        return None
    if not isinstance(scope, str) or len(scope) > SCOPE_LENGTH_MAX:
        raise _invalid(f"scope is a string of at most {SCOPE_LENGTH_MAX} characters")
    return " ".join(ordered(scope.split())) or None


def _address(raw: Mapping[str, object], name: str) -> str | None:
    """Chosen: one that no page could link to is left out; it takes nothing from what the client can do."""
    uri = raw.get(name)
    return uri if isinstance(uri, str) and is_web_address(uri) else None


def _optional_text(raw: Mapping[str, object], name: str) -> str | None:
    value = raw.get(name)
    return value if _is_text(value) and isinstance(value, str) else None


def _contacts(raw: Mapping[str, object]) -> list[str] | None:
    contacts = raw.get("contacts")
    if not isinstance(contacts, list):
        return None
    return [each for each in contacts[:CONTACTS_MAX] if _is_text(each)] or None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= TEXT_LENGTH_MAX and value.isprintable()


def _invalid(description: str) -> OAuthFailure:
    return OAuthFailure("invalid_client_metadata", description)
