"""What settings still lack though each of them is valid.

A credential that this process does not find hinders only what needs it; a daemon needs all of them.
"""

import dataclasses
from collections.abc import Iterator

from gatewayd.config.forms import CREDENTIAL
from gatewayd.config.keys import FILE, Config, name_of
from gatewayd.config.places import missing_credential
from gatewayd.config.reading import ConfigError, Problem


def require_credentials(config: Config, *keys: str) -> None:
    """Raises `ConfigError` where a credential that one of `keys` names (`server.tls_key`) was not found.

    Without keys: any of all settings.
    """
    problems = [problem for problem in missing_credentials(config) if not keys or problem.path in keys]
    if problems:
        raise ConfigError(problems)


def missing_credentials(config: Config) -> Iterator[Problem]:
    """The settings that name a credential which was not found, with what to do about it."""
    for section in dataclasses.fields(config):
        for field in dataclasses.fields(getattr(config, section.name)):
            value = getattr(getattr(config, section.name), field.name)
            if field.metadata["key"].rule is FILE and value.startswith(CREDENTIAL):
                name = value.removeprefix(CREDENTIAL)
                yield Problem(f"{section.name}.{name_of(field)}", missing_credential(name))


def missing_client(config: Config) -> Problem | None:
    """What of this service's registration at the tax authority is not set, where it asks there itself."""
    tax = config.tax
    if tax.mode != "hmrc" or (tax.client_id and tax.client_secret_file):
        return None
    name = "client_secret_file" if tax.client_id else "client_id"
    return Problem(f"tax.{name}", "is not set: no connection can be made or refreshed")
