"""OAuth clients: what a registration may hold and what of it is honoured, redirects, documents, and the sweep."""

import string

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.clock import DAY, HOUR, SECOND, Instant
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.identity.clients import client_metadata, grants, oauth_clients, redirect_uris
from gatewayd.identity.clients.client_metadata import ClientMetadata
from gatewayd.identity.clients.oauth_clients import Client
from gatewayd.identity.clients.oauth_errors import DirectFailure, OAuthFailure
from gatewayd.identity.clients.oauth_parameters import Audiences
from gatewayd.identity.tokens import authorizations
from tests.support.consents import ISSUER, Flow, request_parameters
from tests.support.store import START, MemoryStore

HTTPS = "https://app.example/callback"
VS_CODE = ["http://127.0.0.1/", "http://localhost/", "https://vscode.dev/redirect", "http://127.0.0.1:33418/"]
DOCUMENT = "https://app.example/oauth/client.json"


def validate(**members: object) -> ClientMetadata:
    return client_metadata.validate({"client_name": "App", "redirect_uris": [HTTPS], **members})


def register(store: MemoryStore, **members: object) -> Client:
    raw = {"client_name": "App", "redirect_uris": [HTTPS], **members}
    return store.write(lambda tx: oauth_clients.register(tx, client_metadata.validate(raw)))


def find(store: MemoryStore, client_id: str) -> Client | None:
    return store.read(lambda tx: oauth_clients.find(tx, client_id))


# -- registration


def test_registers_and_answers_what_is_honoured(store: MemoryStore) -> None:
    client = register(store)
    assert client.id.startswith("app_")
    assert find(store, client.id) == client
    assert msgspec.json.decode(oauth_clients.registration_response(client)) == {
        "client_id": client.id,
        "client_id_issued_at": START // SECOND,
        "client_name": "App",
        "redirect_uris": [HTTPS],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "id_token_signed_response_alg": "ES256",
        "application_type": "web",
        "dpop_bound_access_tokens": False,
    }


def test_echoes_everything_it_honours(store: MemoryStore) -> None:
    given_members = {
        "scope": "accounting:read openid",
        "client_uri": "https://app.example/",
        "logo_uri": "https://app.example/logo.png",
        "policy_uri": "https://app.example/privacy",
        "tos_uri": "http://app.example:8080/terms",
        "contacts": ["ops@app.example"],
        "software_id": "4NRB1-0XZABZI9E6-5SM3R",
        "software_version": "2.1",
        "post_logout_redirect_uris": ["https://app.example/bye"],
        "id_token_signed_response_alg": "RS256",
        "application_type": "native",
        "dpop_bound_access_tokens": True,
    }
    answer = msgspec.json.decode(oauth_clients.registration_response(register(store, **given_members)))
    assert {name: answer[name] for name in given_members} == {**given_members, "scope": "openid accounting:read"}


@pytest.mark.parametrize(
    ("members", "name", "honoured"),
    [
        ({"token_endpoint_auth_method": "client_secret_basic"}, "token_endpoint_auth_method", "none"),
        ({"token_endpoint_auth_method": ["odd"]}, "token_endpoint_auth_method", "none"),
        ({"grant_types": ["authorization_code"]}, "grant_types", ["authorization_code", "refresh_token"]),
        ({"grant_types": ["implicit", "authorization_code"]}, "grant_types", ["authorization_code", "refresh_token"]),
        ({"grant_types": []}, "grant_types", ["authorization_code", "refresh_token"]),
        ({"response_types": ["code", "code id_token"]}, "response_types", ["code"]),
        ({"response_types": None}, "response_types", ["code"]),
        ({"id_token_signed_response_alg": "HS256"}, "id_token_signed_response_alg", "ES256"),
        ({"id_token_signed_response_alg": "none"}, "id_token_signed_response_alg", "ES256"),
        ({"application_type": "browser"}, "application_type", "web"),
        ({"redirect_uris": ["cursor://anysphere.cursor-mcp/oauth/callback"]}, "application_type", "native"),
        ({"redirect_uris": ["cursor://x/cb"], "application_type": "web"}, "application_type", "web"),
        ({"redirect_uris": ["http://localhost/"]}, "application_type", "native"),
        ({"redirect_uris": [HTTPS, HTTPS]}, "redirect_uris", [HTTPS]),
        ({"client_name": "  App  "}, "client_name", "App"),
        ({"client_name": None}, "client_name", "app.example"),
        ({"client_name": ""}, "client_name", "app.example"),
        ({"client_name": None, "redirect_uris": ["cursor://x/cb"]}, "client_name", "cursor:"),
        ({"client_name": "Bücher 📚"}, "client_name", "Bücher 📚"),
        ({"client_name": "x" * 160}, "client_name", "x" * 160),
        ({"scope": "everything"}, "scope", None),
        ({"scope": ""}, "scope", None),
        ({"scope": None}, "scope", None),
        ({"scope": "tax:read  everything openid"}, "scope", "openid tax:read"),
        ({"client_uri": "javascript:alert(1)"}, "client_uri", None),
        ({"client_uri": "https://good.example@evil.example/"}, "client_uri", None),
        ({"logo_uri": "data:image/png;base64,AA"}, "logo_uri", None),
        ({"tos_uri": "https://[::1"}, "tos_uri", None),
        ({"policy_uri": 7}, "policy_uri", None),
        ({"policy_uri": None}, "policy_uri", None),
        ({"contacts": "ops@app.example"}, "contacts", None),
        ({"contacts": ["x" * 256, 7, "a\nb", "ok@app.example"]}, "contacts", ["ok@app.example"]),
        ({"contacts": [f"{n}@app.example" for n in range(30)]}, "contacts", [f"{n}@app.example" for n in range(10)]),
        ({"software_id": "x" * 256}, "software_id", None),
        ({"software_version": 2}, "software_version", None),
        ({"post_logout_redirect_uris": []}, "post_logout_redirect_uris", None),
        ({"dpop_bound_access_tokens": None}, "dpop_bound_access_tokens", False),
    ],
)
def test_what_is_asked_for_and_what_is_honoured(members: dict[str, object], name: str, honoured: object) -> None:
    assert getattr(validate(**members), name) == honoured


def test_passes_over_what_it_does_not_know_or_do() -> None:
    odd = {
        "userinfo_signed_response_alg": "RS256",
        "request_object_signing_alg": "ES256",
        "default_max_age": 3600,
        "client_secret": "s",
        "jwks_uri": "https://app.example/jwks",
        "client_name#fr": "Appli",
        "software_statement": "e30.e30.",
        "": {"deep": [None] * 10},
    }
    assert validate(**odd) == validate()


@pytest.mark.parametrize(
    "members",
    [
        {"client_name": 7},
        {"client_name": " "},
        {"client_name": "x" * 161},
        {"client_name": "two\nlines"},
        {"client_name": "nul\x00"},
        {"client_name": "gpj.\u202etxet"},
        {"grant_types": ["client_credentials"]},
        {"grant_types": "authorization_code"},
        {"grant_types": ["authorization_code"] * 33},
        {"response_types": ["token"]},
        {"response_types": {"code": True}},
        {"scope": ["accounting:read"]},
        {"scope": "x" * 2049},
        {"dpop_bound_access_tokens": "true"},
        {"redirect_uris": [f"https://app.example/{n:03}/{'x' * 2000}" for n in range(32)], "client_name": "App"}
        | {"post_logout_redirect_uris": [f"https://app.example/{n:03}/{'x' * 2000}" for n in range(32)]},
    ],
)
def test_refuses_metadata_and_keeps_nothing(store: MemoryStore, members: dict[str, object]) -> None:
    with pytest.raises(OAuthFailure) as caught:
        register(store, **members)
    assert (caught.value.code, caught.value.status) == ("invalid_client_metadata", 400)
    assert store.read(oauth_clients.list_clients) == []


@pytest.mark.parametrize(
    "redirects",
    [
        None,
        [],
        HTTPS,
        [7],
        [None],
        {"0": HTTPS},
        [f"https://app.example/{n}" for n in range(33)],
        [HTTPS, "javascript:alert(1)"],
    ],
)
def test_refuses_redirects_of_the_wrong_shape(redirects: object) -> None:
    with pytest.raises(OAuthFailure) as caught:
        validate(redirect_uris=redirects)
    assert caught.value.code == "invalid_redirect_uri"


def test_checks_where_a_sign_out_leads_in_the_same_way(store: MemoryStore) -> None:
    with pytest.raises(OAuthFailure) as caught:
        validate(post_logout_redirect_uris=["http://app.example/"])
    assert caught.value.code == "invalid_redirect_uri"
    client = register(store, post_logout_redirect_uris=["https://app.example/bye"])
    assert oauth_clients.accepts_post_logout_redirect(client, "https://app.example/bye")
    assert not oauth_clients.accepts_post_logout_redirect(client, HTTPS)
    assert not oauth_clients.accepts_post_logout_redirect(register(store), "https://app.example/bye")


def test_there_is_no_limit_to_the_number_of_clients(store: MemoryStore) -> None:
    ids = {register(store).id for _ in range(300)}
    assert len(ids) == len(store.read(oauth_clients.list_clients)) == 300


# -- redirect URIs


@pytest.mark.parametrize(
    "uri",
    [
        *VS_CODE,
        "https://app.example",
        "https://app.example/",
        "https://app.example:8443/cb?a=b&c=%2F",
        "https://claude.ai/api/mcp/auth_callback",
        "https://xn--bcher-kva.example/cb",
        "https://192.0.2.1/cb",
        "https://[2001:db8::1]/cb",
        "https://localhost/cb",
        "http://localhost",
        "http://localhost:3000/oauth/callback?x=1",
        "http://127.9.9.9:1/cb",
        "http://[::1]/",
        "http://[::1]:65535/cb",
        "com.example.app:/oauth2redirect",
        "com.example.app://cb",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "vscode://vscode.github-authentication/did-authenticate",
        "https://app.example/" + "x" * 2028,
    ],
)
def test_a_redirect_that_can_be_registered(uri: str) -> None:
    assert redirect_uris.fault_of(uri) is None
    assert redirect_uris.accepts([uri], uri)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "/callback",
        "callback",
        "//app.example/cb",
        "https:",
        "https://",
        "https:///cb",
        "https:/app.example/cb",
        "https://app.example/cb#",
        "https://app.example/cb#fragment",
        "http://localhost/#",
        "https://user@app.example/cb",
        "https://user:secret@app.example/cb",
        "https://@app.example/cb",
        "https://app.example:0/cb",
        "https://app.example:65536/cb",
        "https://app.example:port/cb",
        "https://*.app.example/cb",
        "https://app..example/cb",
        "https://app%2eexample/cb",
        "https://[::1/cb",
        "https://[zz]/cb",
        "https://app.example/a b",
        "https://app.example/%zz",
        "https://app.example/\\evil",
        "https://app.example\\@evil.example/",
        "https://app.example/\n",
        " https://app.example/",
        "https://bücher.example/cb",
        "https://app.example/" + "x" * 2029,
        "http://app.example/cb",
        "http://192.168.0.1/cb",
        "http://localhost.evil.example/cb",
        "http://127.0.0.1.evil.example/cb",
        "http://127.0.0.256/cb",
        "http://127.1/cb",
        "http://2130706433/cb",
        "http://0.0.0.0/cb",
        "http://[::]/cb",
        "http://[::ffff:127.0.0.1]/cb",
        "http://user@localhost/cb",
        "http://localhost:80@evil.example/",
        "http://localhost:0/",
        "http://localhost:65536/",
        "http://localhost:/",
        "javascript:alert(1)",
        "JavaScript://app.example/%0aalert(1)",
        "data:text/html,x",
        "data:/text/html,x",
        "vbscript:/x",
        "file:///etc/passwd",
        "blob:https://app.example/x",
        "about:blank",
        "view-source://app.example/",
        "ftp://app.example/cb",
        "ws://app.example/cb",
        "mailto:ops@app.example",
        "urn:ietf:wg:oauth:2.0:oob",
        "ms-msdt:/id",
        "search-ms://x/y",
        "intent://x/y",
        "app:callback",
        "app:",
        "app:/",
        "app://",
        "app://user@cb/x",
        "1app:/cb",
    ],
)
def test_a_redirect_that_cannot_be_registered(uri: str) -> None:
    assert redirect_uris.fault_of(uri) is not None


@pytest.mark.parametrize(
    ("registered", "asked", "accepted"),
    [
        (HTTPS, HTTPS, True),
        (HTTPS, "https://APP.example/callback", False),
        (HTTPS, "HTTPS://app.example/callback", False),
        (HTTPS, "https://app.example/Callback", False),
        (HTTPS, "https://app.example/callback/", False),
        (HTTPS, "https://app.example/callback?", False),
        (HTTPS, "https://app.example/callback?a=b", False),
        (HTTPS, "https://app.example/callback#", False),
        (HTTPS, "https://app.example/callback#x", False),
        (HTTPS, "https://app.example:443/callback", False),
        (HTTPS, "https://user@app.example/callback", False),
        (HTTPS, "https://app.example./callback", False),
        (HTTPS, "https://evil.example/callback", False),
        (HTTPS, "https://app.example.evil.example/callback", False),
        (HTTPS, "https://app.example/callback/../callback", False),
        (HTTPS, "https://app.example/%63allback", False),
        (HTTPS, "http://app.example/callback", False),
        (HTTPS, "", False),
        ("https://app.example", "https://app.example/", False),
        ("https://app.example/", "https://app.example", False),
        ("https://app.example/cb?a=b", "https://app.example/cb?a=b", True),
        ("https://app.example/cb?a=b", "https://app.example/cb?a=c", False),
        ("https://localhost:1/cb", "https://localhost:2/cb", False),
        ("http://127.0.0.1/", "http://127.0.0.1:49152/", True),
        ("http://127.0.0.1/", "http://127.0.0.1:49152", True),
        ("http://127.0.0.1", "http://127.0.0.1:49152/", True),
        ("http://127.0.0.1:33418/", "http://127.0.0.1:5/", True),
        ("http://127.0.0.1:33418/", "http://127.0.0.1/", True),
        ("http://localhost/", "http://localhost:3000/", True),
        ("http://localhost:3000/cb", "http://localhost:4000/cb", True),
        ("http://[::1]/cb", "http://[::1]:4000/cb", True),
        ("http://127.8.8.8/cb", "http://127.8.8.8:4000/cb", True),
        ("http://localhost/cb?a=b", "http://localhost:1/cb?a=b", True),
        ("http://localhost?a=b", "http://localhost:1/?a=b", True),
        ("http://localhost/cb", "http://localhost:1/cb?a=b", False),
        ("http://localhost/cb", "http://localhost:1/cb/", False),
        ("http://localhost/cb", "http://localhost:1/CB", False),
        ("http://localhost/cb", "http://localhost:1/cb#", False),
        ("http://localhost/cb", "http://localhost:1/cb\n", False),
        ("http://localhost/", "http://127.0.0.1:1/", False),
        ("http://127.0.0.1/", "http://127.0.0.2:1/", False),
        ("http://127.0.0.1/", "http://[::1]:1/", False),
        ("http://localhost/", "http://LOCALHOST:1/", False),
        ("http://localhost/", "https://localhost:1/", False),
        ("http://localhost/", "http://user@localhost:1/", False),
        ("http://localhost/", "http://localhost:1@evil.example/", False),
        ("http://localhost/", "http://localhost.evil.example:1/", False),
        ("http://localhost/", "http://localhost:0/", False),
        ("http://localhost/", "http://localhost:65536/", False),
        ("http://localhost/", "http://localhost:99999999/", False),
        ("http://localhost/", "http://localhost:٣/", False),
        ("cursor://a/cb", "cursor://a/cb", True),
        ("cursor://a/cb", "cursor://a:1/cb", False),
        ("cursor://a/cb", "cursor://b/cb", False),
        ("com.example:/cb", "com.example:/cb/x", False),
        ("com.example:/cb", "com.example://cb", False),
    ],
)
def test_what_a_request_may_name(registered: str, asked: str, accepted: bool) -> None:
    assert redirect_uris.fault_of(registered) is None
    assert redirect_uris.accepts([HTTPS + "/other", registered], asked) is accepted


@pytest.mark.parametrize("asked", [*VS_CODE, "http://127.0.0.1:50000/", "http://localhost:50000/"])
def test_vs_code_comes_back_wherever_it_listens(store: MemoryStore, asked: str) -> None:
    client = register(store, redirect_uris=VS_CODE, token_endpoint_auth_method="none")
    assert oauth_clients.accepts_redirect(client, asked)
    assert not oauth_clients.accepts_redirect(client, asked + "other")


_texts = st.text(string.ascii_letters + string.digits + "/?#@:.%[]\\ \n", max_size=20)
_registered = st.sampled_from([*VS_CODE, HTTPS, "http://[::1]/cb", "cursor://a/cb"])


@given(_registered, _texts, st.integers(0, 60))
def test_nothing_put_into_a_redirect_leads_elsewhere(registered: str, text: str, place: int) -> None:
    """Whatever is accepted leads to the host that was registered, and differs by its port alone."""
    asked = registered[:place] + text + registered[place:]
    if redirect_uris.accepts([registered], asked) and asked != registered:
        assert redirect_uris.is_loopback(registered)
        assert redirect_uris.fault_of(asked) is None
        assert redirect_uris.host_of(asked) == redirect_uris.host_of(registered)


@given(st.integers(1, 65535), st.sampled_from(["localhost", "127.0.0.1", "127.200.3.4", "[::1]"]))
def test_every_port_of_loopback_is_accepted(port: int, host: str) -> None:
    assert redirect_uris.accepts([f"http://{host}/cb"], f"http://{host}:{port}/cb")
    assert redirect_uris.accepts([f"http://{host}:{port}/cb"], f"http://{host}/cb")
    assert not redirect_uris.accepts([f"http://{host}:{port}/cb"], f"https://{host}:{port}/cb")


@given(st.text(max_size=60))
def test_what_can_be_registered_is_plain(uri: str) -> None:
    if redirect_uris.fault_of(uri) is None:
        assert uri.isascii()
        assert uri.isprintable()
        assert not set(uri) & set("#\\ \"<>'") - {"'"}


# -- documents


@pytest.mark.parametrize(
    ("client_id", "is_document"),
    [
        (DOCUMENT, True),
        ("https://app.example/", True),
        ("https://app.example:8443/c?v=1", True),
        ("https://app.example", False),
        ("http://app.example/c", False),
        ("HTTPS://app.example/c", False),
        ("https://app.example/c#x", False),
        ("https://app.example/c#", False),
        ("https://user@app.example/c", False),
        ("https://app.example/../c", False),
        ("https://app.example/./c", False),
        ("https://app.example/%2e%2E/c", False),
        ("https://app.example/a/..", False),
        ("https:///c", False),
        ("https://app.example/" + "x" * 2029, False),
        ("app_01", False),
        ("", False),
    ],
)
def test_which_client_ids_are_documents(client_id: str, is_document: bool) -> None:
    assert client_metadata.is_document_url(client_id) is is_document


def document(**members: object) -> ClientMetadata:
    raw = {"client_id": DOCUMENT, "client_name": "App", "redirect_uris": [HTTPS], **members}
    return client_metadata.validate_document(DOCUMENT, raw)


def test_a_document_is_held_to_the_same_rules() -> None:
    assert document() == validate()
    assert document(token_endpoint_auth_method="private_key_jwt").token_endpoint_auth_method == "none"
    with pytest.raises(OAuthFailure) as caught:
        document(redirect_uris=["http://app.example/"])
    assert caught.value.code == "invalid_redirect_uri"


@pytest.mark.parametrize(
    "members",
    [
        {"client_id": DOCUMENT + "/"},
        {"client_id": None},
        {"client_secret": "s"},
        {"client_secret_expires_at": 0},
        {"client_name": "nul\x00"},
    ],
)
def test_a_document_that_is_refused(members: dict[str, object]) -> None:
    with pytest.raises(OAuthFailure) as caught:
        document(**members)
    assert caught.value.code == "invalid_client_metadata"


def save(store: MemoryStore, metadata: ClientMetadata) -> Client:
    return store.write(lambda tx: oauth_clients.save_document(tx, DOCUMENT, metadata, Instant(tx.now + HOUR)))


def test_a_document_is_kept_and_renewed(store: MemoryStore) -> None:
    first = save(store, document())
    assert (first.id, first.origin, first.fresh_until) == (DOCUMENT, "document", START + HOUR)
    assert first.all_hosts == ["app.example"]
    store.clock.advance(2 * HOUR)
    second = save(store, document(client_name="Appy", redirect_uris=["https://cb.example/x"]))
    assert find(store, DOCUMENT) == second
    assert (second.name, second.fresh_until, second.created_at) == ("Appy", START + 3 * HOUR, START)
    assert second.all_hosts == ["app.example", "cb.example"]


def test_a_renewed_document_stays_revoked_and_approved(store: MemoryStore) -> None:
    save(store, document())
    store.write(lambda tx: oauth_clients.set_tax_approval(tx, DOCUMENT, "declared", "usr_1"))
    store.write(lambda tx: oauth_clients.revoke(tx, DOCUMENT, "usr_1"))
    renewed = save(store, document())
    assert (renewed.revoked, renewed.tax_approved) == (True, True)


# -- revocation and approval


def test_revoking_a_client_ends_its_grants_and_requests(store: MemoryStore) -> None:
    flow = Flow(store)
    grant_id, _ = flow.connect()
    parameters = authorizations.check(flow.client, request_parameters(), Audiences(ISSUER))
    handle = store.write(lambda tx: authorizations.save(tx, parameters, pushed=True))
    revoked = store.write(lambda tx: oauth_clients.revoke(tx, flow.client.id, "usr_admin"))
    store.write(lambda tx: oauth_clients.revoke(tx, flow.client.id, "usr_other"))
    assert revoked.revoked
    assert store.read(lambda tx: grants.find_live(tx, grant_id)) is None
    assert store.read(lambda tx: authorizations.load(tx, handle)) is None
    with pytest.raises(DirectFailure) as caught:
        store.write(lambda tx: authorizations.save(tx, parameters, pushed=True))
    assert caught.value.code == "invalid_client"
    entries = store.read(audit.list_all)
    assert [(e.action, e.subject, e.actor, e.org_id) for e in entries[:2]] == [
        ("grant.revoked", grant_id, "usr_admin", flow.org_id),
        ("client.revoked", flow.client.id, "usr_admin", None),
    ]
    assert entries[0].detail == {"client": flow.client.id, "user": flow.user_id, "reason": "operator"}
    assert [e.action for e in entries].count("client.revoked") == 1


def test_tax_approval_on_and_off(store: MemoryStore) -> None:
    client = register(store)
    on = store.write(lambda tx: oauth_clients.set_tax_approval(tx, client.id, "We are the vendor.", "usr_1"))
    off = store.write(lambda tx: oauth_clients.set_tax_approval(tx, client.id, None, "usr_1"))
    assert (on.tax_approved, off.tax_approved) == (True, False)
    withdrawn, approved = store.read(audit.list_all)
    assert (approved.action, approved.detail) == (
        "client.tax_approved",
        {"name": "App", "attestation": "We are the vendor."},
    )
    assert (withdrawn.action, withdrawn.subject, withdrawn.org_id) == ("client.tax_withdrawn", client.id, None)


def test_an_unknown_client_is_not_found(store: MemoryStore) -> None:
    with pytest.raises(Problem) as revoking:
        store.write(lambda tx: oauth_clients.revoke(tx, "app_none", "operator"))
    with pytest.raises(Problem) as approving:
        store.write(lambda tx: oauth_clients.set_tax_approval(tx, "app_none", "declared", "operator"))
    assert (revoking.value.code, approving.value.code) == ("not_found", "not_found")
    assert store.read(audit.list_all) == []
    assert find(store, "app_none") is None


def test_lists_newest_first(store: MemoryStore) -> None:
    first = register(store)
    store.clock.advance(SECOND)
    second = register(store)
    assert store.read(oauth_clients.list_clients) == [second, first]


def test_notes_the_day_of_use_by_its_grants(store: MemoryStore) -> None:
    flow = Flow(store)
    grant_id, _ = flow.connect()

    def note() -> int:
        before = store.changed_rows()
        store.write(lambda tx: oauth_clients.note_use(tx, {grant_id, "key_of_another_kind"}))
        return store.changed_rows() - before

    assert (note(), note()) == (1, 0)
    found = find(store, flow.client.id)
    assert found is not None
    assert found.last_used == "2026-11-20"


# -- the sweep


def sweep(store: MemoryStore) -> int:
    return store.write(oauth_clients.sweep)


def test_sweeps_clients_that_nobody_came_to_use(store: MemoryStore) -> None:
    old, document_client = register(store), save(store, document())
    store.clock.advance(DAY)
    young = register(store)
    assert sweep(store) == 0
    store.clock.advance(1)
    assert sweep(store) == 2
    assert (find(store, old.id), find(store, document_client.id)) == (None, None)
    assert find(store, young.id) is not None


@pytest.mark.parametrize("kept_by", ["grant", "request", "approval", "revoked document"])
def test_the_sweep_keeps(store: MemoryStore, kept_by: str) -> None:
    flow = Flow(store)
    client_id = flow.client.id
    store.clock.advance(8 * DAY)
    match kept_by:
        case "grant":
            flow.connect()
        case "request":
            flow.pending_request()
        case "approval":
            store.write(lambda tx: oauth_clients.set_tax_approval(tx, client_id, "declared", "operator"))
        case "revoked document":
            client_id = save(store, document()).id
            store.write(lambda tx: oauth_clients.revoke(tx, client_id, "operator"))
            store.clock.advance(8 * DAY)
    sweep(store)
    assert find(store, client_id) is not None


def test_a_sweep_has_its_limit(store: MemoryStore) -> None:
    for _ in range(oauth_clients.SWEEP_ROWS + 1):
        register(store)
    store.clock.advance(8 * DAY)
    assert [sweep(store), sweep(store), sweep(store)] == [oauth_clients.SWEEP_ROWS, 1, 0]
