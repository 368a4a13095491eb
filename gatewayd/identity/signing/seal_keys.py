"""The key that signs bundles of closed periods. Owns the table `seal_keys`.

It is made when it is first needed and never rotated: years later its fingerprint is compared with the one in a bundle.
The private part is sealed at rest. Where that is lost, what was signed stays good, and the next key is another.
"""

import msgspec

from gatewayd.store import ReadTx, WriteTx

_SELECT = "SELECT kid, private_sealed, public_jwk FROM seal_keys ORDER BY created_at, kid LIMIT 1"
_INSERT = """
INSERT INTO seal_keys (kid, private_sealed, public_jwk, created_at)
VALUES (:kid, :private_sealed, :public_jwk, :now)
"""
_FORGET = "DELETE FROM seal_keys WHERE kid = :kid"


class SealKey(msgspec.Struct, frozen=True, kw_only=True):
    """The key as JWKs (RFC 7517). `fingerprint` is its thumbprint (RFC 7638)."""

    fingerprint: str
    private: str
    public: str

    def __repr__(self) -> str:
        return f"SealKey(fingerprint={self.fingerprint!r})"

    def sign(self, payload: bytes) -> str:
        """The detached JWS over a payload."""
        from gatewayd.identity.signing import jose  # joserfc: not before a key is used

        return jose.sign_detached(payload, msgspec.json.decode(self.private, type=dict[str, str]))


def generate() -> SealKey:
    """Make a key, which is not stored yet."""
    from gatewayd.identity.signing import jose

    key = jose.generate("ES256")
    fingerprint = key.thumbprint()
    public = {**key.as_dict(private=False), "kid": fingerprint, "use": "sig", "alg": "ES256"}
    return SealKey(
        fingerprint=fingerprint,
        private=msgspec.json.encode(key.as_dict(private=True)).decode(),
        public=msgspec.json.encode(public).decode(),
    )


def find(tx: ReadTx) -> SealKey | None:
    """The key of the instance; None: none was needed yet. Raises `StoreFailure` where the instance key is another."""
    row = tx.row(_SELECT)
    if row is None:
        return None
    kid, sealed, public = row
    return SealKey(fingerprint=kid, private=tx.unseal(sealed, _context(kid)), public=public)


def add(tx: WriteTx, new: SealKey) -> SealKey:
    """Store the key, unless there is one already; answers the one there is."""
    existing = find(tx)
    if existing is not None:
        return existing
    sealed = tx.seal(new.private, _context(new.fingerprint))
    tx.run(_INSERT, kid=new.fingerprint, private_sealed=sealed, public_jwk=new.public)
    return new


def forget(tx: WriteTx, kid: str) -> None:
    """Delete a key whose private part is lost. What it signed is checked by the public part in each bundle."""
    tx.run(_FORGET, kid=kid)


def _context(kid: str) -> str:
    return f"seal_keys.private_sealed:{kid}"
