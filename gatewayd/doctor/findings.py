"""The findings of `gatewayd doctor`."""

from typing import NamedTuple

from gatewayd.config import missing_credentials
from gatewayd.doctor.examined import Examined


class Finding(NamedTuple):
    """The result of one check. `well`: nothing is wrong."""

    about: str
    well: bool
    sentence: str


def missing_finding(examined: Examined, *keys: str) -> Finding | None:
    """That the files of these settings are not looked at, because a credential is not to be found; None: it is.

    Nothing is wrong with that: the service manager passes the credential to the daemon, not to everybody's shell.
    """
    problems = [problem for problem in missing_credentials(examined.config) if problem.path in keys]
    return Finding("credential", True, f"Not looked at. {problems[0]}.") if problems else None
