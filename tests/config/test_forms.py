"""Forms of text: what is taken, what is refused, and that a refusal says why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.config import FdBind, TcpBind, UnixBind, forms, is_loopback, parse_bind


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("127.0.0.1:8080", TcpBind("127.0.0.1", 8080)),
        ("0.0.0.0:0", TcpBind("0.0.0.0", 0)),
        ("[::1]:443", TcpBind("::1", 443)),
        ("localhost:65535", TcpBind("localhost", 65535)),
        ("my_host.internal:80", TcpBind("my_host.internal", 80)),
        ("unix:/run/gatewayd/api.sock", UnixBind("/run/gatewayd/api.sock")),
        ("fd://3", FdBind(3)),
    ],
)
def test_bind_addresses_are_understood(text: str, meaning: object) -> None:
    assert parse_bind(text) == meaning


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must be host:port"),
        ("8080", "must be host:port"),
        (":8080", "must be host:port"),
        ("127.0.0.1", "must be host:port"),
        ("127.0.0.1:", "the port must be"),
        ("127.0.0.1:65536", "the port must be"),
        ("127.0.0.1:-1", "the port must be"),
        ("127.0.0.1:٣", "the port must be"),
        ("::1:80", "square brackets"),
        ("[127.0.0.1]:80", "neither an address nor a host name"),
        ("256.1.1.1:80", "neither an address nor a host name"),
        ("a b:80", "neither an address nor a host name"),
        ("unix:relative.sock", "absolute path"),
        ("unix:/folder/", "absolute path"),
        ("unix:/new\nline", "absolute path"),
        ("unix:/" + "x" * 107, "at most 107 bytes"),
        ("fd://", "descriptor number"),
        ("fd://2", "descriptor number"),
        ("fd://x", "descriptor number"),
    ],
)
def test_bad_bind_addresses_are_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_bind(text)


@pytest.mark.parametrize(
    "origin",
    ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:1", "http://app.localhost:3", "https://tax.example"],
)
def test_public_urls_are_taken(origin: str) -> None:
    assert forms.public_url_error(origin) is None


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://tax.example/", "must be an origin"),
        ("https://tax.example/api", "must be an origin"),
        ("http://tax.example", "must begin with https://"),
        ("http://192.168.1.9:8080", "must begin with https://"),
        ("http://localhost.example", "must begin with https://"),
        ("ftp://tax.example", "must begin with https:// or http://"),
        ("tax.example", "must begin with https:// or http://"),
        ("https://münchen.example", "outside ASCII"),
        ("https://tax.example\n", "no spaces"),
        ("https://Tax.example", "lower case"),
        ("https://tax.example:443", "leave out the port 443"),
        ("http://127.0.0.1:80", "leave out the port 80"),
        ("https://tax.example:", "is not a host"),
        ("https://tax.example:08443", "is not a host"),
        ("https://tax.example:0", "from 1 to 65535"),
        ("https://tax.example:99999", "cannot be read"),
        ("https://[::1", "cannot be read"),
        ("https://[127.0.0.1]", "is not a host|cannot be read"),
        ("https://", "is not a host"),
        ("https://tax.example?", "query"),
        ("https://tax.example#x", "fragment"),
    ],
)
def test_bad_public_urls_are_refused_with_the_reason(url: str, reason: str) -> None:
    error = forms.public_url_error(url)
    assert error is not None
    assert any(word in error for word in reason.split("|"))


def test_a_password_in_a_url_is_not_repeated() -> None:
    for url in ("https://me:hunter2@tax.example", "https://me:hunter2@[bad", "ftp://me:hunter2@x"):
        assert "hunter2" not in (forms.secure_url_error(url) or "hunter2")
        assert "hunter2" not in (forms.embeddings_error(url) or "hunter2")


def test_networks() -> None:
    assert forms.network_error("10.0.0.0/8") is None
    assert forms.network_error("fd00::/8") is None
    assert forms.network_error("127.0.0.1") is None
    assert forms.network_error("10.1.2.3/8") == "'10.1.2.3/8' has host bits set; did you mean '10.0.0.0/8'?"
    assert "must be a network" in (forms.network_error("10.0.0.0/33") or "")
    assert "must be a network" in (forms.network_error("home") or "")


def test_proxies_are_networks_or_whoever_is_on_a_unix_socket() -> None:
    assert forms.proxy_error("unix") is None
    assert forms.proxy_error("10.0.0.0/8") is None
    assert "must be a network" in (forms.proxy_error("unix:/run/x") or "")


def test_embeddings() -> None:
    for text in ("wordllama", "off", "http://192.168.1.20:11434/v1", "https://x.example/v1"):
        assert forms.embeddings_error(text) is None
    assert forms.embeddings_error("openai") is not None


def test_languages_are_named_as_tesseract_names_them() -> None:
    for text in ("eng", "chi_sim_vert", "deu_latf"):
        assert forms.ocr_language_error(text) is None
    for text in ("", "e", "eng+deu", "-psm", "../eng", "eng/", "eng\n", "_eng", "éng"):
        assert "must be a language" in (forms.ocr_language_error(text) or ""), text


def test_paths_and_credentials() -> None:
    assert forms.file_error("credential:tls.key") is None
    assert forms.file_error("/etc/x") is None
    for text in ("credential:", "credential:../x", "credential:..", "~/x", "a\0b"):
        assert forms.file_error(text) is not None


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.9.9.9", True),
        ("::1", True),
        ("LOCALHOST", True),
        ("a.localhost", True),
        ("notlocalhost", False),
        ("1.1.1.1", False),
    ],
)
def test_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@given(st.text() | st.from_regex(r"https?://[^/]*/?", fullmatch=True))
def test_any_text_is_judged_without_an_accident(text: str) -> None:
    checks = (
        forms.bind_error,
        forms.network_error,
        forms.public_url_error,
        forms.secure_url_error,
        forms.embeddings_error,
        forms.file_error,
        forms.ocr_language_error,
    )
    for check in checks:
        error = check(text)
        assert error is None or (error and error.isprintable())


@given(st.ip_addresses(), st.integers(0, 65535))
def test_every_address_and_port_can_be_bound(address: object, port: int) -> None:
    host = str(address)
    assert parse_bind(f"[{host}]:{port}" if ":" in host else f"{host}:{port}") == TcpBind(host, port)


@pytest.mark.parametrize("text", ["8.8.8.8", "2001:4860:4860::8888"])
def test_public_addresses(text: str) -> None:
    assert forms.public_address_error(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("books.example", "must be an IP address"),
        ("8.8.8.8:80", "must be an IP address"),
        ("[2001:4860:4860::8888]", "must be an IP address"),
        ("10.0.0.1", "must be a public address"),
        ("127.0.0.1", "must be a public address"),
        ("224.0.0.1", "must be a public address"),
        ("fd00::1", "must be a public address"),
        ("203.0.113.6", "must be a public address"),
    ],
)
def test_what_is_no_public_address_is_refused(text: str, reason: str) -> None:
    error = forms.public_address_error(text)
    assert error is not None
    assert error.startswith(reason)


@pytest.mark.parametrize("host", ["gateway", "books.lan", "a-b.example"])
def test_hosts_are_taken(host: str) -> None:
    assert forms.host_error(host) is None


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("Books.lan", "lower case: 'books.lan'"),
        ("gateway:8080", "without a port: 'gateway'"),
        ("https://books.lan", "without a port"),
        ("a b", "must be a host name"),
        ("", "must be a host name"),
    ],
)
def test_what_is_no_host(host: str, reason: str) -> None:
    assert reason in str(forms.host_error(host))


@pytest.mark.parametrize(
    "place",
    ["/srv/documents", "documents", "s3://books", "s3://books/", "s3://my.books-1/a/b_c.d/", "s3://books/oak"],
)
def test_places_of_files_are_taken(place: str) -> None:
    assert forms.files_place_error(place) is None


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("~/documents", "~ has no meaning here"),
        ("s3://", "must name a bucket"),
        ("s3://ab", "must name a bucket"),
        ("s3://Books", "must name a bucket"),
        ("s3://a..b", "must name a bucket"),
        ("s3://books-", "must name a bucket"),
        ("s3://books:secret@host/a", "must name a bucket"),
        ("s3://books/a//b", "must have a prefix of letters"),
        ("s3://books/../b", "must have a prefix of letters"),
        ("s3://books/a b", "must have a prefix of letters"),
        ("s3://books/a?b=c", "must have a prefix of letters"),
        ("s3://books/" + "a" * 201, "must have a prefix of letters"),
    ],
)
def test_what_is_no_place_of_files(place: str, reason: str) -> None:
    assert reason in (forms.files_place_error(place) or "")


def test_how_a_bucket_is_reached() -> None:
    """In the clear over loopback alone; an id that is none may be a secret."""
    assert forms.endpoint_error("https://objects.example") is None
    assert forms.endpoint_error("http://127.0.0.1:9000") is None
    assert "https:// because its host is not loopback" in (forms.endpoint_error("http://objects.example") or "")
    assert "must be an origin" in (forms.endpoint_error("https://objects.example/books") or "")
    assert forms.region_error("eu-west-2") is None
    assert "must be a region" in (forms.region_error("eu west") or "")
    assert forms.key_id_error("AKIAIOSFODNN7EXAMPLE") is None
    for wrong in ("a/b", "a,b", "a=b", "a b", ""):
        assert forms.key_id_error(wrong) == "must be the id of an access key"
