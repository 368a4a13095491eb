"""DPoP at the endpoints that hand tokens out (RFC 9449 §5 and §10)."""

from gatewayd.clock import Instant
from gatewayd.http1.request import Request
from gatewayd.identity import dpop
from gatewayd.identity.dpop import Proof, ProofTarget
from gatewayd.identity.oauth_errors import OAuthFailure
from gatewayd.oauth.parts import OAuthParts


def read_proof(parts: OAuthParts, request: Request) -> Proof | None:
    """The proof of a request; None where it brings none. Raises `OAuthFailure` `invalid_dpop_proof`."""
    text = request.text(b"dpop")
    if text is None:
        return None
    try:
        return dpop.check(
            text, ProofTarget(request.method, parts.issuer + request.path, None), Instant(parts.store.now())
        )
    except dpop.InvalidProof as error:
        raise OAuthFailure("invalid_dpop_proof", str(error)) from None


def spend(parts: OAuthParts, proof: Proof | None) -> None:
    """Use the proof up, once all else about the request holds. Raises `OAuthFailure` `invalid_dpop_proof`."""
    if proof is None:
        return
    try:
        parts.replays.spend(proof, Instant(parts.store.now()))
    except dpop.InvalidProof as error:
        raise OAuthFailure("invalid_dpop_proof", str(error)) from None
