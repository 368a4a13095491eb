"""Why a row of a broker's file is refused, as people read it."""


def reason_of(error: Exception) -> str:
    """Why a row is refused, as people read it."""
    return sentence(str(error) if isinstance(error, ValueError) else "one of its numbers is too large to reckon with")


def sentence(reason: str) -> str:
    """A reason that begins and ends as a sentence."""
    return f"{reason[0].upper()}{reason[1:]}{'' if reason.endswith('?') else '.'}" if reason else reason
