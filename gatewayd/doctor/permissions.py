"""Who may use a file, for `gatewayd doctor`."""

import os
from pathlib import Path
from typing import Final

from gatewayd.doctor.findings import Finding

ROOT_USER: Final = 0
OTHERS: Final = 0o077  # permission bits of all but the owner
EVERYBODY: Final = 0o007


def private(about: str, path: Path, owner: int | None = None) -> Finding:
    """Whether only one user may use it: this one, or for root, who may do anything, the `owner` of what lies there."""
    status, user = path.stat(), os.geteuid()
    if user == ROOT_USER and owner not in (None, ROOT_USER):
        if status.st_uid != owner:
            return Finding(about, False, f"{path} belongs to user {status.st_uid}, and what is around it to {owner}.")
        if not status.st_mode & OTHERS:
            return Finding(about, True, f"{path} is private to user {owner}.")
    elif status.st_uid != user:
        return Finding(about, False, f"{path} belongs to user {status.st_uid}, and you are {user}.")
    if status.st_mode & OTHERS:
        return Finding(about, False, f"{path} is open to other users (mode {status.st_mode & 0o777:03o}).")
    if not os.access(path, os.R_OK | os.W_OK):
        return Finding(about, False, f"{path} cannot be read and written.")
    return Finding(about, True, f"{path} is private to you.")


def passed(about: str, path: Path) -> Finding:
    """A credential belongs to root or to this user, and may be read by a list whose mask shows as the group's bits."""
    if path.stat().st_mode & EVERYBODY:
        return Finding(about, False, f"{path} can be read by everybody.")
    return Finding(about, True, f"{path} is a credential, and not everybody may read it.")
