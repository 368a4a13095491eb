"""From a file to settings: find it, read it, check every key, resolve every path."""

import dataclasses
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gatewayd.config import forms
from gatewayd.config.keys import (
    FILE,
    FILES_PLACE,
    FOLDER,
    OCTAL,
    Between,
    Config,
    Form,
    Key,
    Mail,
    OneOf,
    Server,
    Store,
    name_of,
)
from gatewayd.config.places import (
    ROOT,
    credential_file,
    data_directory,
    is_system_file,
    state_directory,
    system_data,
    system_file,
    user_file,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FILE_BYTES_MAX = 1_048_576  # Chosen: a hundred times a full file
KEY_FILE_NAME = "instance.key"
TYPE_WORDS = (
    (bool, "true or false"),  # before int, whose subclass it is
    (int, "a whole number"),
    (float, "a number"),
    (str, "text in quotes"),
    (dict, "a table"),
    (list, "a list"),
)

Section = TypeVar("Section", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: `path` is the key's path (`server.bind[1]`), or empty when the whole file is meant."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class ConfigError(Exception):
    """The configuration cannot be used; `problems` holds every reason."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems: tuple[Problem, ...] = tuple(problems)


def find_path(flag: str | None, environ: Mapping[str, str], root: Path = ROOT) -> Path | None:
    """The file to read: --config, $GATEWAYD_CONFIG, then the service's, then the user's; None: all defaults.

    A file that was named is returned even when it is missing, so that `load` says so.
    """
    named = flag or environ.get("GATEWAYD_CONFIG")
    if named:
        return Path(named)
    return next((path for path in (system_file(root), user_file()) if _is_there(path)), None)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except PermissionError:
        return True  # a file that cannot be read is reported, not skipped


def load(source: str | Path | None, environ: Mapping[str, str], root: Path = ROOT) -> Config:
    """Settings from a file (Path), from TOML text (str) or from defaults alone (None); ConfigError tells all mistakes.

    Relative paths are taken from the file's folder, and left as they are when the source is text. `environ` gives
    $STATE_DIRECTORY and $CREDENTIALS_DIRECTORY. A credential becomes the path of its file; one that is not to be found
    stays as it is written, for nothing may need it (see `require_credentials`).
    """
    table = _parse(_file_text(source) if isinstance(source, Path) else source or "")
    reader = _Reader(environ, root, source.absolute().parent if isinstance(source, Path) else None)
    config = reader.config(table)
    system = isinstance(source, Path) and is_system_file(source, root)
    if system and not config.store.directory:
        reader.check_state_directory()
    if reader.problems:
        raise ConfigError(reader.problems)
    if "public_url" not in table.get("server", {}):
        config = dataclasses.replace(config, server=_follow_bind(config.server))
    return dataclasses.replace(config, store=_resolve_store(config.store, data_directory(environ, system, root)))


def _file_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except FileNotFoundError:
        raise ConfigError([Problem("", f"the file {path} does not exist")]) from None
    except OSError as error:
        raise ConfigError([Problem("", f"the file {path} cannot be read: {error.strerror}")]) from None
    if len(data) > FILE_BYTES_MAX:
        raise ConfigError([Problem("", f"the file {path} is larger than {FILE_BYTES_MAX} bytes")])
    try:
        return data.decode("utf-8-sig")  # Chosen: a byte order mark, as some editors write, is ignored
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError([Problem("", f"the file {path} is not UTF-8 text (at line {line})")]) from None


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError([Problem("", "not valid TOML: nested too deeply")]) from None
    except ValueError as error:  # TOMLDecodeError, and a number of more digits than int() takes
        raise ConfigError([Problem("", f"not valid TOML: {str(error).splitlines()[0]}")]) from None


def _follow_bind(server: Server) -> Server:
    """The public URL that was left out: the first loopback address with a fixed port, else the default."""
    scheme = "https" if server.tls_certificate else "http"
    for text in server.bind:
        match forms.parse_bind(text):
            case forms.TcpBind(host, port) if port and forms.is_loopback(host):
                host = f"[{host}]" if ":" in host else host
                default = port == forms.DEFAULT_PORTS[scheme]
                url = f"{scheme}://{host}" if default else f"{scheme}://{host}:{port}"
                return dataclasses.replace(server, public_url=url.lower())
    return server


def _resolve_store(store: Store, usual: Path) -> Store:
    directory = store.directory or str(usual)
    return dataclasses.replace(
        store, directory=directory, key_file=store.key_file or str(Path(directory) / KEY_FILE_NAME)
    )


@dataclass(slots=True)
class _Reader:
    """Reads the table of a file; what it cannot use it adds to `problems` and replaces by the default."""

    environ: Mapping[str, str]
    root: Path
    base: Path | None
    problems: list[Problem] = field(default_factory=list)

    def config(self, table: Mapping[str, object]) -> Config:
        config = Config()
        names = [section.name for section in dataclasses.fields(config)]
        for name in table:
            if name not in names:
                self._unknown(name, table[name])
        sections = {name: self._section(name, getattr(config, name), table.get(name, {})) for name in names}
        config = dataclasses.replace(config, **sections)
        wrong = {problem.path.partition("[")[0] for problem in self.problems}
        for paths, message in _conflicts(config):
            if wrong.isdisjoint(paths):
                self._add_problem(paths[0], message)
        return config

    def _add_problem(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, message))

    def _unknown(self, name: str, value: object) -> None:
        sections = [section.name for section in dataclasses.fields(Config)]
        owner = next((section for section in sections if name in _names(getattr(Config(), section))), None)
        if owner is not None and not isinstance(value, dict):
            self._add_problem(_toml_key(name), f"unknown key; did you mean {owner}.{name}?")
        else:
            kind = "section" if isinstance(value, dict) else "key"
            self._add_problem(_toml_key(name), f"unknown {kind}{_suggestion(name, sections)}")

    def _section(self, section: str, defaults: Section, table: object) -> Section:
        if not isinstance(table, dict):
            self._add_problem(section, f"must be a table that begins with [{section}], not {_type_words(table)}")
            return defaults
        fields = {name_of(each): each for each in dataclasses.fields(defaults)}
        changes: dict[str, Any] = {}
        for name, value in table.items():
            path = f"{section}.{_toml_key(name)}"
            if name not in fields:
                self._add_problem(path, f"unknown key{_suggestion(name, list(fields))}")
            else:
                attribute = fields[name].name
                default = getattr(defaults, attribute)
                changes[attribute] = self._value(path, value, default, fields[name].metadata["key"])
        return dataclasses.replace(defaults, **changes)

    def _value(self, path: str, value: object, default: object, key: Key) -> object:
        """The value as its field holds it, or the default when it is wrong."""
        before = len(self.problems)
        if not isinstance(default, tuple):
            value = self._scalar(path, value, default, key)
        elif isinstance(value, list):
            value = tuple(self._scalar(f"{path}[{number}]", each, " ", key) for number, each in enumerate(value))
        else:
            self._add_problem(path, f"must be a list, not {_type_words(value)}")
        return value if len(self.problems) == before else default

    def _scalar(self, path: str, value: object, default: object, key: Key) -> object:
        error = _type_error(value, default) or _rule_error(value, default, key)
        if error is not None:
            self._add_problem(path, error)
            return default
        if isinstance(default, float) and isinstance(value, int):
            return float(value)
        is_path = key.rule in (FILE, FOLDER, FILES_PLACE) and isinstance(value, str) and value
        return self._resolve(str(value)) if is_path else value

    def _resolve(self, text: str) -> str:
        if text.startswith(forms.OBJECTS):
            return text
        if not text.startswith(forms.CREDENTIAL):
            return str(self.base / text) if self.base else text
        path = credential_file(text.removeprefix(forms.CREDENTIAL), self.environ, self.root)
        return text if path is None else str(path)

    def check_state_directory(self) -> None:
        """A daemon whose service manager names another folder would work on another database than a shell does."""
        named, ours = state_directory(self.environ), system_data(self.root)
        if named is not None and os.path.realpath(named) != os.path.realpath(ours):
            self._add_problem(
                "store.directory", f"$STATE_DIRECTORY is {named}, and a shell works in {ours}: name one of them here"
            )


def _conflicts(config: Config) -> Iterator[tuple[tuple[str, ...], str]]:
    """Mistakes of several keys together: their paths, the one to report first, and the sentence."""
    server, tax, webhooks = config.server, config.tax, config.webhooks
    if not server.bind:
        yield ("server.bind",), "must have at least one address"
    if len(set(server.bind)) < len(server.bind):
        yield ("server.bind",), "has the same address twice"
    if not config.vault.ocr_languages:
        yield ("vault.ocr_languages",), "must have at least one language"
    if server.tls_certificate and not server.tls_key:
        yield ("server.tls_key", "server.tls_certificate"), "is needed beside server.tls_certificate"
    if server.tls_key and not server.tls_certificate:
        yield ("server.tls_certificate", "server.tls_key"), "is needed beside server.tls_key"
    if config.store.files.startswith(forms.OBJECTS):
        for name in ("files_key_id", "files_secret_file"):
            if not getattr(config.store, name):
                yield (f"store.{name}", "store.files"), "is needed when store.files is a bucket"
    elif config.store.files_endpoint:
        yield ("store.files_endpoint", "store.files"), "is for store.files that begin with s3://"
    if tax.mode == "forward" and not tax.upstream:
        yield ("tax.upstream", "tax.mode"), 'is needed when tax.mode is "forward"'
    yield from _conflicts_of_mail(config.mail)
    if webhooks.retry_cap_seconds < webhooks.first_retry_seconds:
        paths = ("webhooks.retry_cap_seconds", "webhooks.first_retry_seconds")
        yield paths, "must not be less than webhooks.first_retry_seconds"


def _conflicts_of_mail(mail: Mail) -> Iterator[tuple[tuple[str, ...], str]]:
    if mail.host and not mail.from_:
        yield ("mail.from", "mail.host"), "is needed when mail.host is set"
    if mail.password_file and not mail.user:
        yield ("mail.user", "mail.password_file"), "is needed beside mail.password_file"
    if mail.user and not mail.password_file:
        yield ("mail.password_file", "mail.user"), "is needed beside mail.user"
    if mail.user and mail.security == "none" and not forms.is_loopback(mail.host):
        paths = ("mail.security", "mail.user", "mail.host")
        yield paths, 'may not be "none" where a password is sent to another host'


def _type_error(value: object, default: object) -> str | None:
    wanted = type(default)
    fits = isinstance(value, (int, float) if wanted is float else wanted)
    if fits and isinstance(value, bool) == (wanted is bool):
        return None
    actual = forms.shown(value) if isinstance(value, float) else _type_words(value)
    return f"must be {_type_words(default)}, not {actual}"


def _rule_error(value: object, default: object, key: Key) -> str | None:
    match key.rule, value:
        case Between(low, high), int() | float() if not low <= value <= high:
            if key.unit == OCTAL:
                return f"must be from 0o{int(low):03o} to 0o{int(high):03o}"
            return f"must be from {low:.12g} to {high:.12g} {key.unit}".rstrip()
        case OneOf(choices), str() if value not in choices:
            return f"must be one of {', '.join(map(json.dumps, choices))}, not {forms.shown(value)}"
        case Form(_, check), str() if value or default:
            return check(value)
    return None


def _type_words(value: object) -> str:
    return next((words for kind, words in TYPE_WORDS if isinstance(value, kind)), "a date or time")


def _names(section: "DataclassInstance") -> list[str]:
    return [name_of(each) for each in dataclasses.fields(section)]


def _toml_key(name: str) -> str:
    """A key as TOML writes it: bare, or in quotes when it holds other characters."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _suggestion(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches  # for mistakes alone

    close = get_close_matches(name.lower().replace("-", "_"), known, n=1)
    return f"; did you mean {close[0]}?" if close else f"; known are {', '.join(known)}"
