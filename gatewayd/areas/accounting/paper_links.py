"""Links of papers: who has the address of an invoice or a quote opens it without signing in. Owns `paper_links`.

The token in the address is 256 random bits: it is found by its hash, and kept sealed, so that the same address is said
again in each reminder. It is the client's and no member's: it stays when whoever made it leaves, and ends when another
takes its place.
"""

from typing import Final, NamedTuple

from gatewayd.identity.people import suspensions
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.store import ReadTx, StoreFailure, WriteTx

PATH: Final = "/i/"
"""What addresses begin with, behind the public URL; the token follows."""
PREFIX: Final = "gwd_i_"  # logs hide what begins so

_INSERT = """
INSERT INTO paper_links (id, org_id, about, hash, token_sealed, created_at)
VALUES (:id, :org_id, :about, :hash, :token_sealed, :now)
"""
_SELECT_GIVEN = """
SELECT id, token_sealed FROM paper_links
WHERE org_id = :org_id AND about = :about AND ended_at IS NULL AND length(token_sealed) > 0
"""
_FIND_ANY_ORG = "SELECT org_id, about, ended_at FROM paper_links WHERE hash = :hash"
_END = "UPDATE paper_links SET ended_at = :now WHERE org_id = :org_id AND about = :about AND ended_at IS NULL"
_FORGET_ANY_ORG = "UPDATE paper_links SET token_sealed = :nothing WHERE id = :id"


class Opened(NamedTuple):
    """What an address shows. `ended`: another took its place, so that it shows nothing any more."""

    org_id: str
    about: str
    ended: bool


def link_of(tx: WriteTx, issuer: str, about: str) -> str:
    """The address of an invoice or a quote of the transaction's organization, made by the first who asks.

    `issuer` is the public URL of the daemon, and `about` the id of a paper that the caller has looked up.
    """
    return given_link(tx, issuer, about) or _make(tx, issuer, about)


def given_link(tx: ReadTx, issuer: str, about: str) -> str | None:
    """The address that was given out; None: none was, or it does not open with this instance's key."""
    row = tx.row(_SELECT_GIVEN, about=about)
    if row is None:
        return None
    try:
        return f"{issuer}{PATH}{tx.unseal(row[1], _context_of(row[0]))}"
    except StoreFailure:
        return None


def replace_link(tx: WriteTx, issuer: str, about: str) -> str:
    """End every address of an invoice or a quote, and make another."""
    tx.run(_END, about=about)
    return _make(tx, issuer, about)


def find(tx: ReadTx, token: str) -> Opened | None:
    """What an address shows; None for one that is unknown, or of an organization that is suspended."""
    row = tx.row(_FIND_ANY_ORG, hash=hash_token(token))
    if row is None or suspensions.is_suspended(tx, row[0]):
        return None
    return Opened(row[0], row[1], row[2] is not None)


def forget_token(tx: WriteTx, id_: str) -> None:
    """The token is lost with the key of the instance: who has the address still opens it, and another is given out."""
    tx.run(_FORGET_ANY_ORG, id=id_, nothing=b"")


def _make(tx: WriteTx, issuer: str, about: str) -> str:
    token, id_ = make_token(PREFIX), tx.new_id("plk")
    sealed = tx.seal(token, _context_of(id_))
    tx.run(_INSERT, id=id_, about=about, hash=hash_token(token), token_sealed=sealed)
    return f"{issuer}{PATH}{token}"


def _context_of(id_: str) -> str:
    return f"paper_links.token:{id_}"
