"""What documents propose, listed in one place, and the certificates that are made of them (Domain F.6).

Nothing is done by itself: people accept or dismiss. It knows the vault and the properties, which don't know each other.
"""

from gatewayd.proposing.operations import HANDLERS

__all__ = ["HANDLERS"]
