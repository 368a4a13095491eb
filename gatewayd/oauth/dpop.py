"""DPoP at the endpoints that hand tokens out (RFC 9449 §5 and §10)."""

from gatewayd.clock import Instant
from gatewayd.http1.request import Request
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.identity.tokens import dpop, used_proofs
from gatewayd.identity.tokens.dpop import Proof, ProofTarget, ReplayCache
from gatewayd.identity.tokens.used_proofs import ProofQuota
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


async def spend(parts: OAuthParts, proof: Proof | None) -> None:
    """Use the proof up, once all else about the request for tokens holds.

    Raises `OAuthFailure`: `invalid_dpop_proof`, or `temporarily_unavailable` (429) for a key that used too many; and
    `StoreFailure`.
    """
    await _spend(parts, parts.replays, used_proofs.REQUESTS, proof)


async def spend_pushed(parts: OAuthParts, proof: Proof | None) -> None:
    """The same where a request is pushed, which anybody may: those proofs are kept by themselves."""
    await _spend(parts, parts.pushed_replays, used_proofs.PUSHED, proof)


async def _spend(parts: OAuthParts, replays: ReplayCache, quota: ProofQuota, proof: Proof | None) -> None:
    if proof is None:
        return
    try:
        if parts.store.is_shared:
            await parts.store.write(lambda tx: used_proofs.spend_in_rows(tx, proof, quota))
        else:
            replays.spend(proof, Instant(parts.store.now()))
    except dpop.InvalidProof as error:
        raise OAuthFailure("invalid_dpop_proof", str(error)) from None
    except dpop.TooManyProofs as error:
        raise OAuthFailure("temporarily_unavailable", str(error), 429) from None
