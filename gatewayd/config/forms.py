"""Forms of text that settings take: addresses to listen on, networks, URLs, paths.

An `..._error` function returns what is wrong with a text, as the rest of a sentence, or None.
"""

import ipaddress
import os
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

UNIX_PATH_BYTES_MAX = 107  # unix(7): sun_path holds 108 with its closing NUL
FIRST_PASSED_DESCRIPTOR = 3  # sd_listen_fds(3)
CREDENTIAL = "credential:"
UNIX_PEER = "unix"
OBJECTS = "s3://"
OBJECT_PREFIX_MAX = 200  # Chosen: a key has at most 1,024 bytes, and ours are some 90 more
DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class TcpBind:
    """A host (address literal without brackets, or name) and a port; port 0 takes any free one."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class UnixBind:
    """An absolute path in the file system."""

    path: str


@dataclass(frozen=True, slots=True)
class FdBind:
    """A listening socket handed over by the service manager."""

    number: int


Bind = TcpBind | UnixBind | FdBind


def parse_bind(text: str) -> Bind:
    """The meaning of one entry of `server.bind` or `metrics.bind`; ValueError carries a sentence."""
    if text.startswith("unix:"):
        return _parse_unix(text.removeprefix("unix:"))
    if text.startswith("fd://"):
        number = text.removeprefix("fd://")
        if not re.fullmatch(r"[0-9]{1,4}", number) or int(number) < FIRST_PASSED_DESCRIPTOR:
            raise ValueError(f"fd:// needs a descriptor number from {FIRST_PASSED_DESCRIPTOR} on, not {shown(number)}")
        return FdBind(int(number))
    host, colon, port = text.rpartition(":")
    if not colon or not host:
        raise ValueError(f"must be host:port, unix:/absolute/path or fd://N, not {shown(text)}")
    if not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
        raise ValueError(f"the port must be a number from 0 to 65535, not {shown(port)}")
    if host.startswith("[") and host.endswith("]") and isinstance(_address(host[1:-1]), ipaddress.IPv6Address):
        return TcpBind(host[1:-1], int(port))
    if ":" in host:
        raise ValueError(f"an IPv6 address goes in square brackets, as in [::1]:{port}, not {shown(text)}")
    if not _is_host(host):
        raise ValueError(f"{shown(host)} is neither an address nor a host name")
    return TcpBind(host, int(port))


def _parse_unix(path: str) -> UnixBind:
    if not path.startswith("/") or path.endswith("/") or _has_control(path):
        raise ValueError(f"unix: needs the absolute path of a socket, not {shown(path)}")
    if len(os.fsencode(path)) > UNIX_PATH_BYTES_MAX:
        raise ValueError(f"the path of a unix socket may have at most {UNIX_PATH_BYTES_MAX} bytes")
    return UnixBind(path)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _is_host(text: str) -> bool:
    """An address literal or a host name in ASCII; a last label of digits would make it a broken IPv4 address."""
    if _address(text) is not None:
        return True
    label = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
    return len(text) <= 253 and bool(re.fullmatch(rf"({label}\.)*(?![0-9]+$){label}", text))


def is_loopback(host: str) -> bool:
    """Whether the host can only be this machine: a loopback address, localhost or a name under it (RFC 6761 §6.3)."""
    address = _address(host)
    return address.is_loopback if address else f".{host.lower()}".endswith(".localhost")


def bind_error(text: str) -> str | None:
    try:
        parse_bind(text)
    except ValueError as error:
        return str(error)
    return None


def network_error(text: str) -> str | None:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        pass
    else:
        return None
    try:
        inside = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return f"must be a network such as 10.0.0.0/8 or fd00::/8, not {shown(text)}"
    return f"{shown(text)} has host bits set; did you mean {str(inside)!r}?"


def proxy_error(text: str) -> str | None:
    """As a network, or `unix`: whoever may connect to a unix socket."""
    return None if text == UNIX_PEER else network_error(text)


def mail_host_error(text: str) -> str | None:
    return None if _is_host(text) else f"must be the name or the address of a host, not {shown(text)}"


def mail_address_error(text: str) -> str | None:
    """An error for anything but local@host, both of ASCII: what every server takes."""
    local, _, host = text.rpartition("@")
    if len(local) <= 64 and re.fullmatch(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+", local) and _is_host(host):
        return None
    return f"must be an address such as accounts@example.com, not {shown(text)}"


def one_line_error(text: str) -> str | None:
    return "must be one line, and hold no control characters" if _has_control(text) or "\x7f" in text else None


def url_error(text: str) -> str | None:
    """An error for anything but http(s)://host[:port][/path]; it never repeats a text that may hold a password."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "is not a URL: its host or port cannot be read"
    if parts.scheme not in DEFAULT_PORTS or not re.fullmatch(r"[!-~]+", text):
        return "must begin with https:// or http:// and hold no spaces and no letters outside ASCII"
    if "@" in parts.netloc:
        return "must not hold a user name or password"
    if "?" in text or "#" in text:
        return "must not hold a query or a fragment"
    written = f"[{host}]" if isinstance(_address(host), ipaddress.IPv6Address) else host
    if not _is_host(host) or parts.netloc.lower() != (written if port is None else f"{written}:{port}"):
        return f"{shown(parts.netloc)} is not a host, or a host and a port"
    if port == 0:
        return "the port must be a number from 1 to 65535"
    return None


def database_url_error(text: str) -> str | None:
    """An error for anything but a URL of PostgreSQL's; it never repeats a text that may hold a password.

    A host may be several, with commas between (libpq, "Connection URIs"), or none: then a socket of this machine.
    """
    if not re.fullmatch(r"postgres(?:ql)?://[!-~]*", text):
        return "must begin with postgresql:// and hold no spaces and no letters outside ASCII"
    parts = urlsplit(text)
    user = parts.netloc.rpartition("@")[0]
    if ":" in user or re.search(r"(?:^|&)(?:password|passfile|sslpassword)=", parts.query):
        return "must not hold a password: it belongs into password_file"
    if not parts.path.strip("/"):
        return "must name the database: postgresql://user@host/database"
    return None


def secure_url_error(text: str) -> str | None:
    # Chosen: plain http is refused, not warned of, unless the host is loopback: credentials and tokens would cross a
    # network in the clear, RFC 8414 §2 demands https of an issuer, and browsers keep no Secure cookie there.
    error = url_error(text)
    if error is None and text.startswith("http://") and not is_loopback(urlsplit(text).hostname or ""):
        return "must begin with https:// because its host is not loopback"
    return error


def origin_error(text: str) -> str | None:
    """An error for a URL that is not written as browsers write an origin (RFC 6454 §6.1): clients compare bytes."""
    error = url_error(text)
    if error is not None:
        return error
    parts = urlsplit(text)
    if parts.path:
        return f"must be an origin: scheme, host and port only, without {shown(parts.path)} at the end"
    if text != text.lower():
        return f"must be in lower case: {shown(text.lower())}"
    if parts.port == DEFAULT_PORTS[parts.scheme]:
        return f"must leave out the port {parts.port}, which {parts.scheme} has by default"
    return None


def host_error(text: str) -> str | None:
    if text != text.lower():
        return f"must be in lower case: {shown(text.lower())}"
    if ":" in text:
        return f"must be without a port: {shown(text.partition(':')[0])}"
    if not _is_host(text):
        return f"must be a host name, not {shown(text)}"
    return None


def public_url_error(text: str) -> str | None:
    return origin_error(text) or secure_url_error(text)


def public_address_error(text: str) -> str | None:
    address = _address(text)
    if address is None:
        return f"must be an IP address, not {shown(text)}"
    if not address.is_global or address.is_multicast:
        return f"must be a public address: {shown(text)} is not one"
    return None


def embeddings_error(text: str) -> str | None:
    if text in {"wordllama", "off"} or url_error(text) is None:
        return None
    return 'must be "wordllama", "off" or the https:// or http:// URL of an OpenAI-compatible service'


def ocr_language_error(text: str) -> str | None:
    """It becomes an argument of tesseract, and the name of a file that it loads."""
    if re.fullmatch(r"[A-Za-z]{2,32}(?:_[A-Za-z]{2,32}){0,3}", text):
        return None
    return f"must be a language as tesseract --list-langs has it, such as eng or deu, not {shown(text)}"


def path_error(text: str) -> str | None:
    if _has_control(text):
        return "must not hold control characters"
    if text.startswith("~"):
        return "~ has no meaning here; write the whole path"
    return None


def files_place_error(text: str) -> str | None:
    """An error for what is neither a folder nor s3://bucket/prefix (S3, "General purpose bucket naming rules").

    A prefix has what every store takes in a name: letters, digits and _ . - between slashes.
    """
    if not text.startswith(OBJECTS):
        return path_error(text)
    name, _, prefix = text.removeprefix(OBJECTS).partition("/")
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", name) or ".." in name:
        return f"must name a bucket, s3://bucket/prefix, which has 3 to 63 of a-z, 0-9, - and ., not {shown(name)}"
    parts = prefix.rstrip("/").split("/") if prefix.rstrip("/") else []
    if len(prefix) > OBJECT_PREFIX_MAX or not all(re.fullmatch(r"(?!\.{1,2}$)[A-Za-z0-9_.-]+", part) for part in parts):
        return f"must have a prefix of letters, digits, _, . and - between slashes, not {shown(prefix)}"
    return None


def region_error(text: str) -> str | None:
    """A region stands in the scope of each signature."""
    return (
        None if re.fullmatch(r"[A-Za-z0-9-]{1,64}", text) else f"must be a region such as eu-west-2, not {shown(text)}"
    )


def key_id_error(text: str) -> str | None:
    """It is written into a header, between = and /; a secret there would be sent in the clear."""
    return None if re.fullmatch(r"[!-+.0-~-]{1,128}", text) and "=" not in text else "must be the id of an access key"


def endpoint_error(text: str) -> str | None:
    """Of objects: an origin, for what follows it is the bucket. Plain http is for loopback alone."""
    return origin_error(text) or secure_url_error(text)


def file_error(text: str) -> str | None:
    """As a path, or the name of a credential, which is a plain file name (systemd.exec(5))."""
    name = text.removeprefix(CREDENTIAL)
    if text.startswith(CREDENTIAL) and (not name or "/" in name or name in {".", ".."}):
        return f"{CREDENTIAL} needs the plain name of a credential, not {shown(name)}"
    return path_error(text)


def _has_control(text: str) -> bool:
    return any(ord(character) < 32 or ord(character) == 127 for character in text)


def shown(value: object) -> str:
    """A value as a person may see it in one line: escaped and cut."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
