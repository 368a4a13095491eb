"""Loading: defaults, every mistake at once, places of files, resolved paths."""

import dataclasses
import tomllib
from pathlib import Path

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.config import Config, ConfigError, Problem, Server, data_directory, load
from gatewayd.store.settings import Bucket, StoreSettings

ENVIRON = {"STATE_DIRECTORY": "/var/lib/gatewayd"}


def problems(source: str | Path, **environ: str) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        load(source, ENVIRON | environ)
    assert all(problem.message.isprintable() for problem in caught.value.problems)
    return {problem.path: problem.message for problem in caught.value.problems}


def test_defaults_are_those_of_the_contract() -> None:
    contract = """
        server = {bind = ["127.0.0.1:8080"], public_url = "http://127.0.0.1:8080", trusted_proxies = [],
                  tls_certificate = "", tls_key = "", cors_origins = []}
        store = {directory = "", key_file = "", read_budget_ms = 2}
        oauth = {refresh_grace_seconds = 120}
        webhooks = {timeout_seconds = 10, max_attempts = 8, first_retry_seconds = 30, retry_cap_seconds = 21600,
                    per_subscription = 4, concurrency = 64, allow_networks = [], allow_http = false, ca_file = "",
                    retention_days = 30}
        tax = {mode = "off", upstream = "", ca_file = "", timeout_seconds = 30, fraud_headers = "require"}
        vault = {max_upload_bytes = 104857600, trash_days = 30, embeddings = "wordllama", ocr = "auto",
                 ocr_languages = ["eng"]}
        mail = {host = "", port = 587, security = "starttls", user = "", password_file = "", from = ""}
        limits = {requests_per_minute = 600, sign_in_attempts = 10, json_body_bytes = 1048576, header_bytes = 32768,
                  concurrent_requests = 64}
        metrics = {bind = ""}
        log = {format = "auto", level = "info"}
    """.replace(",\n", ",")
    for section, keys in tomllib.loads(contract).items():
        held = getattr(Config(), section)
        for name, default in keys.items():
            value = getattr(held, f"{name}_" if name == "from" else name)
            assert (list(value) if isinstance(value, tuple) else value) == default, f"{section}.{name}"


def test_nothing_to_read_gives_the_defaults_and_a_place() -> None:
    config = load(None, ENVIRON)
    assert config.server == Server()
    assert config.store.directory == "/var/lib/gatewayd"
    assert config.store.key_file == "/var/lib/gatewayd/instance.key"
    assert load("", ENVIRON) == config


def test_all_mistakes_are_reported_at_once() -> None:
    text = """
        colour = "red"
        timeout_seconds = 3
        vault = 7
        [server]
        bind = ["127.0.0.1:8080", "nowhere", 5]
        public_url = "https://tax.example/"
        tls_key = "key.pem"
        trusted_proxies = "10.0.0.0/8"
        socket_mode = 0o1000
        [webhook]
        [webhooks]
        timout_seconds = 5
        timeout_seconds = nan
        allow_http = "yes"
        max_attempts = 0
        first_retry_seconds = true
        per_subscription = 1.5
        concurrency = 1979-05-27
        [tax]
        mode = "forward"
        [log]
        level = "loud"
    """
    assert problems(text) == {
        "colour": (
            "unknown key; known are server, store, oauth, webhooks, tax, banking, obligations, vault, limits, mail,"
            " audit, metrics, log"
        ),
        "timeout_seconds": "unknown key; did you mean webhooks.timeout_seconds?",
        "webhook": "unknown section; did you mean webhooks?",
        "vault": "must be a table that begins with [vault], not a whole number",
        "server.bind[1]": "must be host:port, unix:/absolute/path or fd://N, not 'nowhere'",
        "server.bind[2]": "must be text in quotes, not a whole number",
        "server.public_url": "must be an origin: scheme, host and port only, without '/' at the end",
        "server.tls_certificate": "is needed beside server.tls_key",
        "server.trusted_proxies": "must be a list, not text in quotes",
        "server.socket_mode": "must be from 0o000 to 0o777",
        "webhooks.timout_seconds": "unknown key; did you mean timeout_seconds?",
        "webhooks.timeout_seconds": "must be from 0.1 to 600 seconds",
        "webhooks.allow_http": "must be true or false, not text in quotes",
        "webhooks.max_attempts": "must be from 1 to 100",
        "webhooks.first_retry_seconds": "must be a whole number, not true or false",
        "webhooks.per_subscription": "must be a whole number, not 1.5",
        "webhooks.concurrency": "must be a whole number, not a date or time",
        "tax.upstream": 'is needed when tax.mode is "forward"',
        "log.level": 'must be one of "debug", "info", "warning", "error", not \'loud\'',
    }


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("[server]\nbind = []", "server.bind", "must have at least one address"),
        ('[server]\nbind = ["[::1]:1", "[::1]:1"]', "server.bind", "has the same address twice"),
        ('[mail]\nhost = "mail.example"', "mail.from", "is needed when mail.host is set"),
        ('[mail]\nuser = "ann"', "mail.password_file", "is needed beside mail.user"),
        ('[mail]\npassword_file = "secret"', "mail.user", "is needed beside mail.password_file"),
        (
            '[mail]\nhost = "mail.example"\nfrom = "a@b.example"\nsecurity = "none"\nuser = "a"\npassword_file = "p"',
            "mail.security",
            'may not be "none" where a password is sent to another host',
        ),
        ('[mail]\nfrom = "a@b\\nBcc: c@d"', "mail.from", "must be an address such as accounts@example.com"),
        ('[mail]\nhost = "mail.example:25"', "mail.host", "must be the name or the address of a host"),
        ('[mail]\nfrom_name = "Oak\\nBcc: c@d"', "mail.from_name", "must be one line"),
        ('[server]\ntls_certificate = "c.pem"', "server.tls_key", "is needed beside server.tls_certificate"),
        ('[server]\npublic_url = ""', "server.public_url", "must begin with https:// or http://"),
        ('[server]\ncors_origins = [""]', "server.cors_origins[0]", "must begin with https:// or http://"),
        ('[server]\ncors_origins = ["*"]', "server.cors_origins[0]", "must begin with https:// or http://"),
        (
            '[store]\nfiles = "s3://books"\nfiles_key_id = "k"',
            "store.files_secret_file",
            "is needed when store.files is",
        ),
        (
            '[store]\nfiles = "s3://books"\nfiles_secret_file = "s"',
            "store.files_key_id",
            "is needed when store.files is",
        ),
        ('[store]\nfiles_endpoint = "https://a.example"', "store.files_endpoint", "is for store.files that begin with"),
        ("[store]\nfiles_cache_bytes = -1", "store.files_cache_bytes", "must be from 0 to"),
        ("[webhooks]\nretry_cap_seconds = 29", "webhooks.retry_cap_seconds", "must not be less than"),
        ('[metrics]\nbind = "9464"', "metrics.bind", "must be host:port"),
        ("[[server]]\nbind = []", "server", "must be a table that begins with [server], not a list"),
        ('[log]\n"a b\\n" = 1', 'log."a b\\n"', "unknown key"),
    ],
)
def test_one_mistake(text: str, path: str, message: str) -> None:
    (found,) = problems(text).items()
    assert found[0] == path
    assert message in found[1]


def test_a_bucket_is_no_path(tmp_path: Path) -> None:
    """Its secret is, or the name of a credential."""
    file = tmp_path / "gatewayd.toml"
    file.write_text(
        '[store]\nfiles = "s3://books/of/oak/"\nfiles_region = "eu-west-2"\nfiles_key_id = "AKIA"\n'
        'files_secret_file = "secret"\nfiles_cache_bytes = 7\ndirectory = "data"\n'
    )
    store = load(file, {}).store
    assert (store.files, store.files_secret_file) == ("s3://books/of/oak/", str(tmp_path / "secret"))
    place = StoreSettings.of(store).place
    assert place.bucket == Bucket(
        endpoint="https://s3.eu-west-2.amazonaws.com",
        region="eu-west-2",
        name="books",
        prefix="of/oak/",
        key_id="AKIA",
        secret_file=tmp_path / "secret",
        cache_bytes=7,
    )
    assert (place.name, place.is_shared, place.folder) == ("s3://books/of/oak", True, tmp_path / "data" / "fetched")
    file.write_text('[store]\nfiles = "share"\ndirectory = "data"\n')
    place = StoreSettings.of(load(file, {}).store).place
    assert (place.bucket, place.name, place.folder) == (None, str(tmp_path / "share"), tmp_path / "share")


def test_a_wrong_key_is_not_blamed_for_its_partner() -> None:
    text = '[server]\ntls_certificate = "c.pem"\ntls_key = 5\n[tax]\nmode = "forward"\nupstream = "nowhere"'
    assert set(problems(text)) == {"server.tls_key", "tax.upstream"}


def test_broken_toml_names_the_line() -> None:
    assert "line 2" in problems("[server]\nbind = [")[""] or "end of document" in problems("[server]\nbind = [")[""]
    assert "line 2" in problems("[server]\nbind == 1")[""]
    assert "too deeply" in problems("a = " + "[" * 100_000)[""]
    assert "not valid TOML" in problems("a = " + "9" * 5000)[""]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    missing = tmp_path / "none.toml"
    assert problems(missing) == {"": f"the file {missing} does not exist"}
    assert "cannot be read" in problems(tmp_path)[""]
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b"# one\n# two\n# caf\xe9\n")
    assert problems(latin)[""].endswith("is not UTF-8 text (at line 3)")
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * 1_048_577)
    assert "larger than" in problems(large)[""]


def test_a_byte_order_mark_and_carriage_returns_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "gatewayd.toml"
    path.write_bytes(b'\xef\xbb\xbf[log]\r\nlevel = "debug"\r\n')
    assert load(path, ENVIRON).log.level == "debug"


def test_paths_are_resolved(tmp_path: Path) -> None:
    path = tmp_path / "gatewayd.toml"
    path.write_text(
        '[server]\ntls_certificate = "tls/cert.pem"\ntls_key = "credential:tls.key"\n'
        '[store]\ndirectory = "data"\n[tax]\nca_file = "/etc/ca.pem"\n'
    )
    config = load(path, ENVIRON | {"CREDENTIALS_DIRECTORY": "/run/credentials/gatewayd.service"})
    assert config.server.tls_certificate == str(tmp_path / "tls/cert.pem")
    assert config.server.tls_key == "/run/credentials/gatewayd.service/tls.key"
    assert config.store.directory == str(tmp_path / "data")
    assert config.store.key_file == str(tmp_path / "data/instance.key")
    assert config.tax.ca_file == "/etc/ca.pem"


@pytest.mark.parametrize(
    ("server", "url"),
    [
        ('bind = ["127.0.0.1:9000"]', "http://127.0.0.1:9000"),
        ('bind = ["0.0.0.0:9000", "[::1]:9001"]', "http://[::1]:9001"),
        ('bind = ["localhost:443"]\ntls_certificate = "c"\ntls_key = "k"', "https://localhost"),
        ('bind = ["127.0.0.1:0"]', "http://127.0.0.1:8080"),
        ('bind = ["fd://3"]', "http://127.0.0.1:8080"),
        ('bind = ["127.0.0.1:9000"]\npublic_url = "https://tax.example"', "https://tax.example"),
    ],
)
def test_the_public_url_follows_bind(server: str, url: str) -> None:
    assert load(f"[server]\n{server}", ENVIRON).server.public_url == url


def test_numbers_of_seconds_may_have_a_fraction() -> None:
    timeout = load("[webhooks]\ntimeout_seconds = 3", ENVIRON).webhooks.timeout_seconds
    assert (timeout, type(timeout)) == (3.0, float)
    assert load("[webhooks]\ntimeout_seconds = 0.5", ENVIRON).webhooks.timeout_seconds == 0.5


def test_data_lies_where_the_service_manager_says() -> None:
    assert data_directory({"STATE_DIRECTORY": "/var/lib/a:/var/lib/b"}) == Path("/var/lib/a")
    assert data_directory({}) == platformdirs.user_data_path("gatewayd", appauthor=False)


KEYS = [
    (section.name, key.name, getattr(getattr(Config(), section.name), key.name))
    for section in dataclasses.fields(Config)
    for key in dataclasses.fields(getattr(Config(), section.name))
]
WRONG = {bool: "1", int: '"1"', float: '"1"', str: "1", tuple: '"x"'}


@given(st.sets(st.sampled_from(range(len(KEYS))), min_size=1))
def test_every_wrong_key_is_reported_and_no_other(chosen: set[int]) -> None:
    lines: dict[str, list[str]] = {}
    for number in chosen:
        section, name, default = KEYS[number]
        lines.setdefault(section, []).append(f"{name} = {WRONG[type(default)]}")
    text = "\n".join(f"[{section}]\n" + "\n".join(keys) for section, keys in lines.items())
    assert set(problems(text)) == {f"{KEYS[number][0]}.{KEYS[number][1]}" for number in chosen}


@given(st.lists(st.from_regex(r"[a-z]{3,12}x9", fullmatch=True), unique=True, min_size=1, max_size=5))
def test_every_unknown_key_is_reported(names: list[str]) -> None:
    text = "[limits]\n" + "\n".join(f"{name} = 1" for name in names)
    assert list(problems(text)) == [f"limits.{name}" for name in names]


@given(st.text(alphabet=st.sampled_from("abservlog[]\"'=\n.#{}, 01_-:\\\0é")) | st.text())
def test_no_text_causes_an_accident(text: str) -> None:
    found: tuple[Problem, ...] | None = None
    try:
        load(text, ENVIRON)
    except ConfigError as error:
        found = error.problems
    assert found is None or (found and all(str(problem).isprintable() for problem in found))
