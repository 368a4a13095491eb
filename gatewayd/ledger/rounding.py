"""Exact arithmetic on minor units, rounded once. Pure."""


def half_up(numerator: int, denominator: int) -> int:
    """The quotient as a whole number, halves away from zero (VATREC12030). The denominator is above zero."""
    whole = (2 * abs(numerator) + denominator) // (2 * denominator)
    return whole if numerator >= 0 else -whole
