"""Every key of the configuration: its default, meaning, unit and rule, on its field."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gatewayd.config import forms

FRAUD_HEADERS = (
    "Gov-Client-Device-ID",
    "Gov-Client-User-IDs",
    "Gov-Client-Timezone",
    "Gov-Client-Local-IPs",
    "Gov-Client-Local-IPs-Timestamp",
    "Gov-Client-MAC-Addresses",
    "Gov-Client-User-Agent",
    "Gov-Client-Browser-JS-User-Agent",
    "Gov-Client-Browser-Plugins",
    "Gov-Client-Browser-Do-Not-Track",
    "Gov-Client-Screens",
    "Gov-Client-Window-Size",
    "Gov-Client-Public-IP",
    "Gov-Client-Public-IP-Timestamp",
    "Gov-Client-Public-Port",
    "Gov-Client-Multi-Factor",
    "Gov-Vendor-Version",
    "Gov-Vendor-Product-Name",
    "Gov-Vendor-License-IDs",
    "Gov-Vendor-Public-IP",
    "Gov-Vendor-Forwarded",
)
"""All but Gov-Client-Connection-Method, which says what the others are."""
OCTAL = "octal"  # the unit of file modes: written 0o660

T = TypeVar("T")


def fraud_header_error(text: str) -> str | None:
    """Why a text is not one of them, as the authority writes it."""
    if text in FRAUD_HEADERS:
        return None
    meant = next((name for name in FRAUD_HEADERS if name.lower() == text.lower()), None)
    return f"must be one of {', '.join(FRAUD_HEADERS)}" if meant is None else f"is written {meant}"


@dataclass(frozen=True, slots=True)
class Between:
    """A number from `low` to `high`, both included."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Form:
    """A text of a certain form: in words, and as a function that returns what is wrong or None."""

    words: str
    check: Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class OneOf:
    """One text of a closed set."""

    choices: tuple[str, ...]


Rule = Between | Form | OneOf

BIND = Form("host:port, unix:/absolute/path, or fd://N (a socket passed by the service manager)", forms.bind_error)
NETWORK = Form("a network, such as 10.0.0.0/8 or fd00::/8", forms.network_error)
PROXY = Form('a network, such as 10.0.0.0/8 or fd00::/8, or "unix" for peers on unix: sockets', forms.proxy_error)
HOST = Form("a host name in lower case, without a port", forms.host_error)
ORIGIN = Form("an origin: scheme, host and port, nothing after", forms.origin_error)
PUBLIC_URL = Form("an origin without a closing slash; https unless the host is loopback", forms.public_url_error)
SECURE_URL = Form("a URL; https unless the host is loopback", forms.secure_url_error)
EMBEDDINGS = Form('"wordllama", "off", or the URL of an OpenAI-compatible service', forms.embeddings_error)
PUBLIC_ADDRESS = Form("a public IP address", forms.public_address_error)
FRAUD_HEADER = Form("the name of a fraud-prevention header, such as Gov-Client-Multi-Factor", fraud_header_error)
OCR_LANGUAGE = Form("a language as tesseract --list-langs has it, such as eng or deu", forms.ocr_language_error)
DATABASE_URL = Form("postgresql://user@host:port/database, without a password", forms.database_url_error)
FOLDER = Form("the path of a folder", forms.path_error)
FILES_PLACE = Form("the path of a folder, or s3://bucket/prefix", forms.files_place_error)
ENDPOINT = Form("an origin; https unless the host is loopback", forms.endpoint_error)
REGION = Form("the name of a region", forms.region_error)
KEY_ID = Form("the id of an access key", forms.key_id_error)
FILE = Form("the path of a file, or credential:NAME", forms.file_error)
MAIL_HOST = Form("the name or the IP address of a host, without a port", forms.mail_host_error)
MAIL_ADDRESS = Form("a mail address, such as accounts@example.com", forms.mail_address_error)
ONE_LINE = Form("text in one line", forms.one_line_error)


@dataclass(frozen=True, slots=True)
class Key:
    """What a reader of the example file and the checker must know of a key; an empty default allows empty text."""

    meaning: str
    rule: Rule | None
    unit: str


def name_of(each: "dataclasses.Field[Any]") -> str:
    """The name of a section or a key in the file: `from` cannot be the name of a field, so that one is `from_`."""
    return each.name.removesuffix("_")


def key(default: T, meaning: str, rule: Rule | None = None, unit: str = "") -> T:
    """A field of a section: its type is its default's."""
    return field(default=default, metadata={"key": Key(meaning, rule, unit)})


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """Where the daemon listens, and what clients see."""

    bind: tuple[str, ...] = key(("127.0.0.1:8080",), "Addresses to listen on. Port 0 takes any free port.", BIND)
    public_url: str = key(
        "http://127.0.0.1:8080",
        "The origin that clients see: issuer of tokens and resource they are for. When the key is absent it follows the"
        " first loopback host:port of bind (https with tls_certificate).",
        PUBLIC_URL,
    )
    hosts: tuple[str, ...] = key(
        (),
        "Further names at which clients reach the daemon, such as a container's. Beside these, the host of public_url,"
        " addresses and localhost, any is answered 421, unless it comes by a unix socket or through a trusted proxy.",
        HOST,
    )
    trusted_proxies: tuple[str, ...] = key(
        (),
        "Whose X-Forwarded-* headers are believed: a reverse proxy's in front. Without them all who come through it are"
        " one network to limits and throttling.",
        PROXY,
    )
    tls_certificate: str = key(
        "",
        "Certificate chain in PEM. Empty: plain HTTP, behind a reverse proxy. Unix sockets are plain in any case.",
        FILE,
    )
    tls_key: str = key("", "Private key of tls_certificate in PEM.", FILE)
    cors_origins: tuple[str, ...] = key((), "Origins whose pages may call the API from a browser.", ORIGIN)
    socket_mode: int = key(
        0o660,
        "Permissions of unix: sockets, which belong to the user and the group of the daemon: by default a reverse proxy"
        " must be in that group (gatewayd in the systemd unit).",
        Between(0, 0o777),
        OCTAL,
    )
    max_connections: int = key(
        4096,
        "Connections open at a time. One network (an IPv4 address, an IPv6 /64) has at most a quarter of them, unless"
        " it is of trusted_proxies; past either, who holds most gives one.",
        Between(1, 1_000_000),
    )
    header_timeout_seconds: float = key(
        10.0, "Longest time from the first byte of a request to the end of its headers.", Between(0.1, 600), "seconds"
    )
    keep_alive_timeout_seconds: float = key(
        75.0, "Longest idle time between requests. 0: one request per connection.", Between(0, 3600), "seconds"
    )
    request_read_timeout_seconds: float = key(
        300.0,
        "Longest time to receive a whole request body, uploads included. Who is not known has at most 30 seconds.",
        Between(0.1, 86400),
        "seconds",
    )
    drain_seconds: float = key(30.0, "Time that running requests get at shutdown.", Between(0, 3600), "seconds")


@dataclass(frozen=True, kw_only=True, slots=True)
class Store:
    """Where the data lies."""

    directory: str = key(
        "",
        "Database and documents. Empty: $STATE_DIRECTORY, else /var/lib/gatewayd for settings in /etc/gatewayd and the"
        " user's data folder for others.",
        FOLDER,
    )
    files: str = key(
        "",
        "Where the bytes of documents and sealed periods lie, and uploads under way, if several daemons serve the same"
        " rows: a folder that all of them have mounted, or s3://bucket/prefix of an S3-compatible store (gatewayd[s3])."
        " It has to be there; the first start puts a file in it that says whose it is, and no daemon begins where that"
        " is missing. Empty: the directory above.",
        FILES_PLACE,
    )
    files_endpoint: str = key(
        "",
        "Where the S3-compatible store of files answers, such as https://objects.example. Empty: at Amazon, in the"
        " region below.",
        ENDPOINT,
    )
    files_region: str = key("us-east-1", "The region of the bucket, as its store calls it.", REGION)
    files_key_id: str = key(
        "", "The id of the access key for the bucket. Its secret lies in files_secret_file.", KEY_ID
    )
    files_secret_file: str = key("", "The secret of the access key: the first line of the file.", FILE)
    files_cache_bytes: int = key(
        1073741824,
        "Most bytes of documents that are kept in the directory above as well, once they were read from the bucket or"
        " sent there: those that were read least lately go, 1 GiB by default. What is being read now comes on top.",
        Between(0, 2**50),
        "bytes",
    )
    key_file: str = key(
        "",
        "The instance key that seals secrets at rest. Empty: instance.key in the directory above, made at the first"
        " start and readable by its owner only (mode 0600). Without it the sealed secrets are lost: keep a copy.",
        FILE,
    )
    url: str = key(
        "",
        "A PostgreSQL that has the rows in place of a file, such as postgresql://gatewayd@db.example/gatewayd, without"
        " a password; what else libpq takes stands behind ?. Documents stay in directory. Empty: SQLite in directory.",
        DATABASE_URL,
    )
    password_file: str = key("", "The password for url. Empty: the server asks for none.", FILE)
    read_budget_ms: int = key(
        2, "Work a read may do beside other requests before it is moved to a thread.", Between(1, 1000), "milliseconds"
    )
    busy_timeout_seconds: float = key(
        5.0, "Longest wait for another process that is writing to the database.", Between(0, 600), "seconds"
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class OAuth:
    """Sign-in of other programs."""

    resources: tuple[str, ...] = key(
        (),
        "Services of yours beside this API that access tokens may be for, such as an MCP server: the URL that apps name"
        " as resource, as aud will have it. A token is for one of them or for this API, and never for both.",
        SECURE_URL,
    )
    refresh_grace_seconds: int = key(
        120,
        "Time in which a used refresh token may be used again, by a client that lost the answer. 0: never.",
        Between(0, 3600),
        "seconds",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Webhooks:
    """Delivery of events to subscribers."""

    timeout_seconds: float = key(
        10.0, "Longest time for one attempt, from name to answer.", Between(0.1, 600), "seconds"
    )
    max_attempts: int = key(8, "Attempts before a delivery is exhausted.", Between(1, 100))
    first_retry_seconds: int = key(
        30, "Wait after the first failed attempt; it doubles with each further one.", Between(1, 86400), "seconds"
    )
    retry_cap_seconds: int = key(21600, "Longest wait between attempts.", Between(1, 604800), "seconds")
    per_subscription: int = key(4, "Attempts under way at a time to one subscription.", Between(1, 1000))
    concurrency: int = key(64, "Attempts under way at a time in all.", Between(1, 10_000))
    allow_networks: tuple[str, ...] = key(
        (), "Networks that may receive although they are not public, for receivers in your own network.", NETWORK
    )
    allow_http: bool = key(False, "Whether http:// receivers are allowed: anybody on the way can read the events.")
    ca_file: str = key("", "Authorities in PEM for receivers' certificates. Empty: the system's.", FILE)
    retention_days: int = key(
        30, "Time that finished deliveries are kept and can be sent again.", Between(1, 3650), "days"
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Tax:
    """The way to the tax authority."""

    mode: str = key(
        "off",
        "off: refuse; sandbox: a pretended authority in this process; forward: pass requests to upstream as they are;"
        " hmrc: map them to HMRC's own API.",
        OneOf(("off", "sandbox", "forward", "hmrc")),
    )
    upstream: str = key("", "Where requests go. Needed when mode is forward.", SECURE_URL)
    upstream_is_sandbox: bool = key(
        False,
        "Whether upstream stands for the authority and knows nobody's real taxes, as `gatewayd dev tax-stub` does: test"
        " scenarios go there, and people sign in there. HMRC's own sandbox is known as one.",
    )
    ca_file: str = key("", "Authorities in PEM for upstream's certificate. Empty: the system's.", FILE)
    timeout_seconds: float = key(30.0, "Longest time for one request to upstream.", Between(0.1, 600), "seconds")
    fraud_headers: str = key(
        "require",
        "Fraud-prevention headers that are missing or malformed. require: refuse the request; warn: note it in the log;"
        " off: do not look.",
        OneOf(("require", "warn", "off")),
    )
    headers_agreed_missing: tuple[str, ...] = key(
        (),
        "Fraud-prevention headers that HMRC has agreed in writing to do without, for programs that cannot collect them:"
        " they may be empty or left out.",
        FRAUD_HEADER,
    )
    client_id: str = key("", "What HMRC knows this service by. Needed to connect organizations when mode is hmrc.")
    client_secret_file: str = key("", "The secret that goes with client_id.", FILE)
    append_hop: str = key(
        "",
        "Our public IP address, to be added with the sender's to Gov-Vendor-Forwarded, and our version to"
        " Gov-Vendor-Version, where callers send these headers. Empty: they pass as they are.",
        PUBLIC_ADDRESS,
    )
    cache_seconds: float = key(
        0.0,
        "Time that an answer is given again to the same question of an organization. 0: every question is passed on.",
        Between(0, 60),
        "seconds",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Banking:
    """Bank statements."""

    max_import_bytes: int = key(268435456, "Largest statement file, 256 MiB by default.", Between(1, 2**40), "bytes")


@dataclass(frozen=True, kw_only=True, slots=True)
class Obligations:
    """What is due, and when."""

    due_soon_days: int = key(
        14,
        "How long before a due date it is told: the event obligation.due_soon, and the alarm in calendars.",
        Between(1, 90),
        "days",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Vault:
    """Documents."""

    max_upload_bytes: int = key(104857600, "Largest document, 100 MiB by default.", Between(1, 2**40), "bytes")
    organization_bytes: int = key(
        0,
        "Most bytes of one organization's documents, those in the trash included. 0: as many as there is room for.",
        Between(0, 2**50),
        "bytes",
    )
    trash_days: int = key(30, "Time that a deleted document can be brought back.", Between(0, 3650), "days")
    consume_directory: str = key(
        "",
        "A folder that is watched: files that appear in a folder of it named by an organization's id, or in itself"
        " where there is one organization, become documents and are deleted from it. Empty: none.",
        FOLDER,
    )
    embeddings: str = key("wordllama", "What makes search by meaning. off: search by words only.", EMBEDDINGS)
    embeddings_model: str = key("", "The model to ask for where embeddings is the URL of a service.")
    embeddings_key_file: str = key("", "Its API key. Empty: it asks for none.", FILE)
    public_links: bool = key(True, "Links that give a document to people outside may be made.")
    ocr: str = key("auto", "Text in pictures. auto: read it when tesseract is installed.", OneOf(("auto", "off")))
    ocr_languages: tuple[str, ...] = key(
        ("eng",), "Languages of the text in pictures, the most usual first: each more takes more time.", OCR_LANGUAGE
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What one caller may ask for."""

    requests_per_minute: int = key(
        600,
        "Requests per credential, and per link or calendar feed; of several daemons on one database each grants its"
        " share. 0: no limit.",
        Between(0, 10_000_000),
    )
    sign_in_attempts: int = key(
        10,
        "Wrong passwords or codes in a row before the account locks. A browser that signed in before has as many of"
        " its own.",
        Between(1, 1000),
    )
    json_body_bytes: int = key(1048576, "Largest JSON body.", Between(1024, 2**30), "bytes")
    header_bytes: int = key(32768, "Largest request line and headers together.", Between(1024, 2**20), "bytes")
    concurrent_requests: int = key(
        64, "Requests of one caller under way at a time, at each daemon.", Between(1, 100_000)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Mail:
    """Mail that the daemon sends. It receives none: what comes back to the sender's address is for people to read."""

    host: str = key("", "The server that takes mail from us. Empty: no mail, and everything works by links.", MAIL_HOST)
    port: int = key(587, "Its port: mostly 587 with starttls, 465 with tls.", Between(1, 65_535))
    security: str = key(
        "starttls",
        "starttls: TLS before anything else is said, and nothing without it; tls: from the first byte; none: in the"
        " clear, for a server on this host.",
        OneOf(("starttls", "tls", "none")),
    )
    ca_file: str = key("", "Authorities in PEM for its certificate. Empty: the system's.", FILE)
    user: str = key("", "Whom we sign in as there. Empty: nobody.", ONE_LINE)
    password_file: str = key("", "The password of user: the first line of the file.", FILE)
    from_: str = key("", "The address that mail comes from. Needed when host is set.", MAIL_ADDRESS)
    from_name: str = key("gatewayd", "The name beside it.", ONE_LINE)
    timeout_seconds: float = key(
        30.0,
        "Longest wait for one answer of the server; all of one mail has four times that.",
        Between(1, 600),
        "seconds",
    )
    retry_hours: int = key(
        48, "Time after which a mail that the server has not taken is given up.", Between(1, 240), "hours"
    )
    organization_per_hour: int = key(
        200, "Mails of one organization that are sent in an hour; more wait. 0: no limit.", Between(0, 1_000_000)
    )
    recipient_per_hour: int = key(
        20, "Mails to one address that are sent in an hour; more wait. 0: no limit.", Between(0, 1_000_000)
    )
    retention_days: int = key(
        90, "Time that it is kept on record which mails were sent, without their text.", Between(1, 3650), "days"
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Audit:
    """The log of who did what, which `gatewayd audit` shows."""

    retention_days: int = key(
        2557,
        "Time that entries are kept: by default seven years, which are the six for which books have to be kept after"
        " the end of the year that they are of.",
        Between(1, 36_500),
        "days",
    )
    sign_in_retention_days: int = key(
        400,
        "The same of who signed in, out or could not, with the addresses that they came from.",
        Between(1, 36_500),
        "days",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Metrics:
    """Numbers for Prometheus."""

    bind: str = key("", 'Where /metrics is served, such as "127.0.0.1:9464". Empty: nowhere.', BIND)


@dataclass(frozen=True, kw_only=True, slots=True)
class Log:
    """What the daemon says on standard error."""

    format: str = key("auto", "auto: console on a terminal, else json.", OneOf(("auto", "console", "json")))
    level: str = key("info", "The least severe event that is written.", OneOf(("debug", "info", "warning", "error")))


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """All settings. From `load`, `store.directory` and `store.key_file` are never empty, and every path is resolved.

    A credential that was not found is none: `require_credentials` says what to do.
    """

    server: Server = field(default_factory=Server)
    store: Store = field(default_factory=Store)
    oauth: OAuth = field(default_factory=OAuth)
    webhooks: Webhooks = field(default_factory=Webhooks)
    tax: Tax = field(default_factory=Tax)
    banking: Banking = field(default_factory=Banking)
    obligations: Obligations = field(default_factory=Obligations)
    vault: Vault = field(default_factory=Vault)
    limits: Limits = field(default_factory=Limits)
    mail: Mail = field(default_factory=Mail)
    audit: Audit = field(default_factory=Audit)
    metrics: Metrics = field(default_factory=Metrics)
    log: Log = field(default_factory=Log)
