"""The settings: one TOML file, a default for every key, every mistake reported at once."""

from gatewayd.config.example_file import example
from gatewayd.config.forms import Bind, FdBind, TcpBind, UnixBind, is_loopback, parse_bind
from gatewayd.config.keys import Config, Limits, Log, Metrics, OAuth, Server, Store, Tax, Vault, Webhooks
from gatewayd.config.reading import ConfigError, Problem, data_directory, find_path, load
from gatewayd.config.without_effect import without_effect, without_effect_sentence

__all__ = [
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
    "data_directory",
    "example",
    "find_path",
    "is_loopback",
    "load",
    "parse_bind",
    "without_effect",
    "without_effect_sentence",
]
