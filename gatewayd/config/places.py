"""Where settings, data and credentials lie on this machine.

`root` is the root of the file system, and another folder where the layout of a machine is looked at from outside.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import platformdirs

ROOT: Final = Path("/")
UNIT: Final = "gatewayd.service"
CREDENTIAL_STORES: Final = ("etc/credstore", "run/credstore", "usr/local/lib/credstore", "usr/lib/credstore")


def system_file(root: Path = ROOT) -> Path:
    """The settings of the service."""
    return root / "etc" / "gatewayd" / "gatewayd.toml"


def system_data(root: Path = ROOT) -> Path:
    """The data of the service: what `StateDirectory=gatewayd` names in its unit."""
    return root / "var" / "lib" / "gatewayd"


def user_file() -> Path:
    """The settings of the user."""
    return platformdirs.user_config_path("gatewayd", appauthor=False) / "gatewayd.toml"


def is_system_file(path: Path, root: Path = ROOT) -> bool:
    """Whether a file of settings lies beside the service's, however it is named."""
    return os.path.realpath(path.absolute().parent) == os.path.realpath(system_file(root).parent)


def state_directory(environ: Mapping[str, str]) -> Path | None:
    """What the service manager names; None: there is none, or it names nothing."""
    first = environ.get("STATE_DIRECTORY", "").split(":")[0]  # systemd.exec(5): several are joined by colons
    return Path(first) if first else None


def data_directory(environ: Mapping[str, str], system: bool = False, root: Path = ROOT) -> Path:
    """Where data lies when `store.directory` is empty.

    The first of $STATE_DIRECTORY, else the place of the service where the settings are its own (`system`): a shell,
    which has no such variable, must find the database of the daemon. Else the user's data folder.
    """
    ours = system_data(root) if system else platformdirs.user_data_path("gatewayd", appauthor=False)
    return state_directory(environ) or ours


def credential_file(name: str, environ: Mapping[str, str], root: Path = ROOT) -> Path | None:
    """The file of a credential; None where this process finds none.

    A process that the service manager passed credentials finds it among those and nowhere else. A shell takes what the
    running unit was given, decrypted if need be, then what lies where the manager itself looks (systemd.exec(5)).
    """
    paths = (folder / name for folder in _credential_folders(environ, root))
    if environ.get("CREDENTIALS_DIRECTORY"):
        return next(paths)
    return next((path for path in paths if os.access(path, os.R_OK)), None)


def is_credential(path: Path, environ: Mapping[str, str], root: Path = ROOT) -> bool:
    """Whether a file lies among credentials, whose owner and mode are the service manager's to choose."""
    return path.parent in _credential_folders(environ, root)


def _credential_folders(environ: Mapping[str, str], root: Path) -> tuple[Path, ...]:
    if passed := environ.get("CREDENTIALS_DIRECTORY"):
        return (Path(passed),)
    return (root / "run" / "credentials" / UNIT, *(root / store for store in CREDENTIAL_STORES))


def missing_credential(name: str) -> str:
    """What to do where a credential is needed and none was found, as the rest of a sentence."""
    return (
        f'the credential "{name}" is not to be found: start {UNIT} and be its user or root, or set'
        " $CREDENTIALS_DIRECTORY to a folder that holds a file of this name"
    )
