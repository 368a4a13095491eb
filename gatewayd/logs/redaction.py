"""What must not stand in a log: values under the names of secrets, and what looks like one in any text."""

import re
from collections.abc import Mapping
from typing import Final

from structlog.typing import EventDict

NESTING_MAX = 8  # levels of a logged value that are looked into
REDACTED = "[redacted]"
SECRET_WORDS: Final = frozenset(
    {"apikey", "authorization", "bearer", "code", "cookie", "credential", "key", "otp", "pass", "passphrase"}
    | {"password", "secret", "signature", "token", "totp", "verifier"}
)
# Chosen: what such words mean before one of these names the secret without giving it away.
HARMLESS_LAST_WORDS: Final = frozenset({"count", "endpoint", "file", "id", "kind", "path"})
HARMLESS_KEYS: Final = frozenset({"error_code", "exit_code", "response_code", "status_code"})
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
SECRET_TEXT = re.compile(r"(?i)\b(bearer|basic)( +|%20)[\w.~+/=-]{6,}|\b(whsec_|gwd_)[\w+/=-]+")


def without_secret_texts(line: str) -> str:
    """The line, with what looks like a credential hidden."""
    return SECRET_TEXT.sub(_hide, line)


def _hide(match: re.Match[str]) -> str:
    return f"{match[1] or match[3]}{match[2] or ''}{REDACTED}"


def is_secret_key(name: str) -> bool:
    """Whether a value under this name must not be printed: `access_token`, `apiKey`, `Set-Cookie`, `code`."""
    if name in HARMLESS_KEYS:
        return False
    words = [word.lower() for word in WORD.findall(name)]
    return any(word in SECRET_WORDS or word.removesuffix("s") in SECRET_WORDS for word in words) and (
        words[-1] not in HARMLESS_LAST_WORDS
    )


def redact(_logger: object, _method: str, event: EventDict) -> EventDict:
    """A processor of structlog: the event without the values of secrets."""
    return {name: REDACTED if is_secret_key(name) else _without_secrets(value) for name, value in event.items()}


def _without_secrets(value: object, depth: int = 0) -> object:
    if not isinstance(value, Mapping | list | tuple) or _is_exc_info(value):
        return value
    if depth == NESTING_MAX:
        return "..."
    if isinstance(value, Mapping):
        return {
            str(name): REDACTED if is_secret_key(str(name)) else _without_secrets(each, depth + 1)
            for name, each in value.items()
        }
    if len(value) == 2 and isinstance(value[0], str | bytes):  # a header, as ASGI and httpx list them
        name = value[0] if isinstance(value[0], str) else value[0].decode("latin-1")
        return [name, REDACTED if is_secret_key(name) else _without_secrets(value[1], depth + 1)]
    return [_without_secrets(each, depth + 1) for each in value]


def _is_exc_info(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 3 and isinstance(value[1], BaseException)
