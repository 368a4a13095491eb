"""Bearer and DPoP credentials at the endpoints that people's tokens or the instance's keys open."""

from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem
from gatewayd.http1.header_fields import Header
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.identity.signing.public_keys import ALGORITHMS
from gatewayd.identity.tokens.authentication import Possession, PossessionRefused
from gatewayd.oauth.parts import OAuthParts
from gatewayd.oauth.responses import bearer_challenge, json_response


class Challenged(Exception):
    """401 or 403 with a challenge (RFC 6750 §3)."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


async def caller_of(parts: OAuthParts, request: Request, in_form: str | None = None) -> Caller:
    """Who is calling. `in_form` is a token that came in a form instead of the header.

    Raises `Challenged`, and `OAuthFailure` `temporarily_unavailable` (429) for a key that used too many proofs.
    """
    header = request.text(b"authorization") or "" if in_form is None else f"Bearer {in_form}"
    scheme, _, token = header.partition(" ")
    token = token.strip()
    if scheme.lower() not in ("bearer", "dpop") or not token:
        raise Challenged(_refusal(401, bearer_challenge("Bearer", parts.issuer, {}), "invalid_request", "No token."))
    possession = None
    if scheme.lower() == "dpop":
        possession = Possession(request.text(b"dpop"), request.method, parts.issuer + request.path)
    try:
        caller = await parts.store.read(lambda tx: parts.authenticate(tx, token, request.peer, possession))
        if possession is not None:
            possession.spend(Instant(parts.store.now()))
            await possession.spend_in(parts.store)
        return caller
    except PossessionRefused as refused:
        listed = {"error": refused.error, "error_description": refused.message, "algs": " ".join(ALGORITHMS)}
        challenge = bearer_challenge("DPoP", parts.issuer, listed)
        raise Challenged(_refusal(401, challenge, refused.error, refused.message)) from None
    except Problem as problem:
        if problem.code == "rate_limited":
            raise OAuthFailure("temporarily_unavailable", problem.message, 429) from None
        raise Challenged(invalid_token(parts, problem.message)) from None


def invalid_token(parts: OAuthParts, message: str) -> Response:
    """401 for a credential that does not serve here."""
    challenge = bearer_challenge("Bearer", parts.issuer, {"error": "invalid_token", "error_description": message})
    return _refusal(401, challenge, "invalid_token", message)


def insufficient_scope(parts: OAuthParts, scope: str) -> Response:
    """403 for a token without a scope."""
    message = f"This needs the scope {scope}."
    listed = {"error": "insufficient_scope", "error_description": message, "scope": scope}
    return _refusal(403, bearer_challenge("Bearer", parts.issuer, listed), "insufficient_scope", message)


def _refusal(status: int, challenge: Header, code: str, message: str) -> Response:
    return json_response(status, {"error": code, "error_description": message}, challenge)
