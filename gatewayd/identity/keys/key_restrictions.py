"""What an API key is restricted to: scopes, networks, legal entities and days. Pure (Spec §5, API keys)."""

from collections.abc import Collection, Iterator, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network

import msgspec

from gatewayd.contract.holding import Held
from gatewayd.contract.scopes import FULL_ACCESS, KEY_SCOPES, RESTRICTED, ordered
from gatewayd.errors import FieldError, invalid, invalid_field
from gatewayd.http1.networks import address_of

NETWORKS_MAX = 32  # Chosen
HELD_ENTITIES_MAX = 20  # Chosen: more than an accountant reads of one firm

Network = IPv4Network | IPv6Network


def effective_scopes(scopes: str, tax_approved: bool) -> frozenset[str]:
    """What a stored scope text opens. Restricted scopes open nothing until approved (Spec §5, API keys, rule 7)."""
    chosen = frozenset(scopes.split()) if scopes else KEY_SCOPES
    if tax_approved:
        return chosen
    return chosen - RESTRICTED if scopes else FULL_ACCESS


def validate_scopes(scopes: Collection[str]) -> list[str]:
    """The scopes in order, each once. Raises `Problem` `validation_failed` naming each that a key cannot carry."""
    unknown = sorted(set(scopes) - KEY_SCOPES)
    if unknown:
        known = ", ".join(ordered(KEY_SCOPES))
        raise invalid(
            *(FieldError("scopes", "invalid_enum", f"No scope {s!r} of a key. Use: {known}") for s in unknown)
        )
    return ordered(scopes)


def validate_networks(networks: Sequence[str]) -> list[str]:
    """The networks in canonical form; a bare address is a network of one. Raises `Problem` `validation_failed`."""
    if len(networks) > NETWORKS_MAX:
        raise invalid_field("networks", "out_of_range", f"At most {NETWORKS_MAX} networks.")
    try:
        return [str(ip_network(network)) for network in networks]
    except ValueError as error:
        raise invalid_field("networks", "invalid_format", f"{error}.") from None


def is_within(peer: str | None, networks: Sequence[Network]) -> bool:
    """Whether an address, None where there is none, lies in one of the networks."""
    try:
        address = address_of(peer or "")
    except ValueError:
        return False  # Chosen: an allow-list admits only what it can see
    return any(address in network for network in networks)


def held_to(entities: str | None, first: str | None, last: str | None) -> Held | None:
    """What stored text holds a key to: the JSON of ids of legal entities, and days. None: nothing."""
    if entities is None and first is None and last is None:
        return None
    ids = None if entities is None else frozenset(msgspec.json.decode(entities, type=list[str]))
    return Held(entities=ids, first=first, last=last)


def held_mistakes(held: Held, scopes: Collection[str]) -> Iterator[FieldError]:
    """What is wrong with what a key is to be held to, apart from whether there are such legal entities.

    Chosen: such a key reads alone, and never at the tax authority, which knows nothing of what it is held to.
    """
    if held.entities is not None and not 0 < len(held.entities) <= HELD_ENTITIES_MAX:
        yield FieldError("heldEntities", "out_of_range", f"Choose 1 to {HELD_ENTITIES_MAX} legal entities.")
    if held.first is not None and held.last is not None and held.last < held.first:
        yield FieldError("heldTo", "date_order", f"It is before the first day, {held.first}.")
    more = [scope for scope in ordered(scopes) if not scope.endswith(":read") or scope.startswith("tax:")]
    if more or not scopes:
        what = ", ".join(more) or "full access"
        yield FieldError("scopes", "conflict", f"A key that is held reads alone, and no taxes: without {what}.")
