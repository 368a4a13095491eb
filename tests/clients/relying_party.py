"""What `idpyoidc` lacks for clients without a secret: the method `none`, at its own points of extension."""

from typing import Any, ClassVar

from idpyoidc.client.client_auth import ClientAuthnMethod
from idpyoidc.client.oidc.access_token import AccessToken
from idpyoidc.client.oidc.refresh_access_token import RefreshAccessToken


class Public(ClientAuthnMethod):
    """The client names itself in the form, which it does already, and proves nothing."""

    def construct(self, request: Any, service: Any = None, http_args: Any = None, **_: Any) -> Any:
        return http_args or {}


class PublicAccessToken(AccessToken):
    """Redeems codes without a secret."""

    default_authn_method = "none"
    _supports: ClassVar[dict[str, Any]] = {**AccessToken._supports, "token_endpoint_auth_methods_supported": ["none"]}


class PublicRefreshAccessToken(RefreshAccessToken):
    """Refreshes without a secret."""

    default_authn_method = "none"
