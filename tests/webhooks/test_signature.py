"""Both dialects against published vectors and against the receivers' own packages."""

import base64
import time
from datetime import UTC, datetime

import pytest
import standardwebhooks
import stripe
import svix.webhooks
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.webhooks.signature import (
    SignatureError,
    confidential_texts,
    new_secret,
    secret_prefix,
    service_signature,
    signed_headers,
    standard_signature,
    verify,
)

NEW = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OLD = "whsec_" + base64.b64encode(bytes(range(32, 64))).decode()
BODY = '{"id":"dlv_1","event":"lead.created","data":{"source":"größe"},"sentAt":"2026-01-01T00:00:00Z"}'.encode()


def reason(header: str, body: bytes = BODY, secret: str = NEW, *, now: int = 1000) -> str:
    with pytest.raises(SignatureError) as caught:
        verify(header, body, secret, now=now)
    assert str(caught.value) == caught.value.reason
    return caught.value.reason


def test_the_published_standard_webhooks_vector() -> None:
    signature = standard_signature(
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
    )
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_worked_example_of_the_service_dialect() -> None:
    # printf '1700000000.{"event":"lead.created"}' | openssl dgst -sha256 -hmac whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
    header = service_signature(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], 1_700_000_000, b'{"event":"lead.created"}')
    assert header == "t=1700000000,v1=2d918d852eb07d2e4d5e3c75cb43a4e7058f3e05d17ebd2f35d975a0ab5400a9"


def test_the_service_dialect_is_the_stripe_scheme_over_the_whole_secret() -> None:
    theirs = stripe.WebhookSignature.generate_signature_header(BODY.decode(), NEW, 1_700_000_000)
    assert service_signature([NEW], 1_700_000_000, BODY) == theirs


@pytest.mark.parametrize("secrets", [[NEW], [NEW, OLD], [OLD, NEW]])
def test_receivers_packages_accept_a_fresh_delivery(secrets: list[str]) -> None:
    headers = dict(signed_headers(secrets, "dlv_1", int(time.time()), BODY))
    for secret in secrets:
        assert stripe.WebhookSignature.verify_header(BODY, headers["X-Service-Signature"], secret, 300)
        assert standardwebhooks.Webhook(secret).verify(BODY, headers)["id"] == "dlv_1"
        svix.webhooks.Webhook(secret).verify(BODY, headers)
        verify(headers["X-Service-Signature"], BODY, secret, now=int(time.time()))


@pytest.mark.parametrize(("body", "secret"), [(BODY + b" ", NEW), (BODY, OLD)])
def test_receivers_packages_refuse_another_body_or_secret(body: bytes, secret: str) -> None:
    headers = dict(signed_headers([NEW], "dlv_1", int(time.time()), BODY))
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.WebhookSignature.verify_header(body, headers["X-Service-Signature"], secret, 300)
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(secret).verify(body, headers)
    with pytest.raises(svix.webhooks.WebhookVerificationError):
        svix.webhooks.Webhook(secret).verify(body, headers)
    assert reason(headers["X-Service-Signature"], body, secret, now=int(time.time())) == "mismatch"


def test_301_seconds_old_is_refused_by_all() -> None:
    now = int(time.time())
    headers = dict(signed_headers([NEW], "dlv_1", now - 301, BODY))
    with pytest.raises(stripe.SignatureVerificationError, match="tolerance"):
        stripe.WebhookSignature.verify_header(BODY, headers["X-Service-Signature"], NEW, 300)
    with pytest.raises(standardwebhooks.WebhookVerificationError, match="too old"):
        standardwebhooks.Webhook(NEW).verify(BODY, headers)
    assert reason(headers["X-Service-Signature"], now=now) == "expired"


@pytest.mark.parametrize(("now", "accepted"), [(700, True), (699, False), (1000, True), (1300, True), (1301, False)])
def test_the_tolerance_is_300_seconds_either_way(now: int, accepted: bool) -> None:
    header = service_signature([NEW], 1000, BODY)
    if accepted:
        verify(header, BODY, NEW, now=now)
    else:
        assert reason(header, now=now) == "expired"


def test_rotation_signs_new_first_old_last() -> None:
    new, old = service_signature([NEW], 1000, BODY), service_signature([OLD], 1000, BODY)
    assert service_signature([NEW, OLD], 1000, BODY) == new + "," + old.removeprefix("t=1000,")
    standard = standard_signature([NEW, OLD], "dlv_1", 1000, BODY).split(" ")
    assert standard == [standard_signature([one], "dlv_1", 1000, BODY) for one in (NEW, OLD)]


def test_the_standard_dialect_agrees_with_the_package_signing() -> None:
    instant = datetime.fromtimestamp(1_700_000_000, UTC)
    theirs = standardwebhooks.Webhook(NEW).sign("dlv_1", instant, BODY.decode())
    assert standard_signature([NEW], "dlv_1", 1_700_000_000, BODY) == theirs


@pytest.mark.parametrize(
    "header",
    [
        "",
        "t=1000",
        "v1=abc",
        "t=1000,v1=",
        "t=,v1=abc",
        "t=-1000,v1=abc",
        "t=1e3,v1=abc",
        "t=١٠٠٠,v1=abc",
        "t=1000,t=2000,v1=abc",
        "t=" + "9" * 13 + ",v1=abc",
        "t=" + "9" * 5000 + ",v1=abc",
        "t:1000,v1:abc",
        "nonsense",
    ],
)
def test_malformed_headers(header: str) -> None:
    assert reason(header) == "malformed"


def test_a_time_of_twelve_digits_is_one() -> None:
    assert reason("t=" + "9" * 12 + ",v1=abc") == "expired"


def test_each_secret_and_each_signature_is_confidential_by_itself() -> None:
    headers = signed_headers([NEW, OLD], "dlv_1", 1000, BODY)
    service = dict(headers)["X-Service-Signature"].removeprefix("t=1000,v1=").split(",v1=")
    standard = dict(headers)["webhook-signature"].removeprefix("v1,").split(" v1,")
    assert confidential_texts([NEW, OLD], headers) == [NEW[6:], OLD[6:], *service, *standard]
    assert [len(service), len(standard)] == [2, 2]


@pytest.mark.parametrize("signature", ["abc", "ü" * 64, "0" * 64, "0" * 65])
def test_wrong_signatures(signature: str) -> None:
    assert reason(f"t=1000,v1={signature}") == "mismatch"


def test_hex_is_lower_case_and_only_that() -> None:
    header = service_signature([NEW], 1000, BODY)
    assert header == header.lower()
    assert reason("t=1000,v1=" + header.partition("v1=")[2].upper()) == "mismatch"


def test_unknown_schemes_and_spaces_are_passed_over() -> None:
    header = service_signature([NEW], 1000, BODY).replace(",", ", v0=123 , ")
    verify(header, BODY, NEW, now=1000)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_header_text_breaks_the_verifier(header: str) -> None:
    assert reason(header) in {"malformed", "expired", "mismatch"}


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(min_value=0, max_value=2**40 // 10), st.binary(min_size=32, max_size=32))
def test_what_is_signed_verifies(body: bytes, timestamp: int, key: bytes) -> None:
    secret = new_secret(lambda _: key)
    verify(service_signature([OLD, secret], timestamp, body), body, secret, now=timestamp)


def test_secrets() -> None:
    asked: list[int] = []

    def zeros(count: int) -> bytes:
        asked.append(count)
        return bytes(count)

    secret = new_secret(zeros)
    assert secret == "whsec_" + "A" * 43 + "="
    assert asked == [32]
    assert secret_prefix(secret) == "whsec_AAAA"


@pytest.mark.parametrize(
    ("secret", "message"),
    [("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "starts with whsec_"), ("whsec_???", r"base64|Non-base64|padding")],
)
def test_a_secret_of_another_form_is_an_error(secret: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        standard_signature([secret], "dlv_1", 1000, BODY)
