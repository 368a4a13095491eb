"""The settings: one TOML file, a default for every key, every mistake reported at once."""

from gatewayd.config.example_file import example
from gatewayd.config.forms import Bind, FdBind, TcpBind, UnixBind, is_loopback, parse_bind
from gatewayd.config.incomplete import missing_client, missing_credentials, require_credentials
from gatewayd.config.keys import Config, Limits, Log, Metrics, OAuth, Server, Store, Tax, Vault, Webhooks
from gatewayd.config.places import ROOT, data_directory, is_credential, system_file, user_file
from gatewayd.config.reading import ConfigError, Problem, find_path, load
from gatewayd.config.reloading import RELOADED, after_reload, differing

__all__ = [
    "RELOADED",
    "ROOT",
    "Bind",
    "Config",
    "ConfigError",
    "FdBind",
    "Limits",
    "Log",
    "Metrics",
    "OAuth",
    "Problem",
    "Server",
    "Store",
    "Tax",
    "TcpBind",
    "UnixBind",
    "Vault",
    "Webhooks",
    "after_reload",
    "data_directory",
    "differing",
    "example",
    "find_path",
    "is_credential",
    "is_loopback",
    "load",
    "missing_client",
    "missing_credentials",
    "parse_bind",
    "require_credentials",
    "system_file",
    "user_file",
]
