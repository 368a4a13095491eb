"""Where the endpoints are (Spec §5), and the pages that go on from them."""

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
