"""Waits between attempts, and how long a server in trouble is left alone."""

import pytest

from gatewayd.clock import HOUR, MINUTE, SECOND, Instant
from gatewayd.config.keys import Mail
from gatewayd.mail import schedule
from gatewayd.mail.settings import (
    FIRST_PAUSE_SECONDS,
    FIRST_RETRY_SECONDS,
    RETRY_CAP_SECONDS,
    MailSettings,
    settings_from,
)
from tests.mail.harness import mail_settings

NOW = Instant(0)


def usual() -> MailSettings:
    return mail_settings(
        25,
        first_retry_seconds=FIRST_RETRY_SECONDS,
        retry_cap_seconds=RETRY_CAP_SECONDS,
        first_pause_seconds=FIRST_PAUSE_SECONDS,
    )


@pytest.mark.parametrize(
    ("attempts", "wait"),
    [(1, MINUTE), (2, 2 * MINUTE), (3, 4 * MINUTE), (8, 128 * MINUTE), (9, 4 * HOUR), (99, 4 * HOUR)],
)
def test_waits_double_up_to_four_hours(attempts: int, wait: int) -> None:
    assert schedule.next_attempt(usual(), attempts, NOW, 0.0) == wait
    assert wait < schedule.next_attempt(usual(), attempts, NOW, 0.99) < wait * 1.2


def test_two_days_have_some_twenty_attempts() -> None:
    """Four hours apart at the most: a greylisting server, which wants minutes, and one that was away for a day."""
    at, attempts = NOW, 1
    while (at := schedule.next_attempt(usual(), attempts, at, 0.0)) < usual().retried_for:
        attempts += 1
    assert 15 <= attempts <= 25


@pytest.mark.parametrize(("failures", "pause"), [(1, 5), (2, 10), (6, 160), (7, 300), (99, 300)])
def test_a_server_in_trouble_is_left_alone_for_longer_each_time(failures: int, pause: float) -> None:
    assert schedule.pause_seconds(usual(), failures, 0.0) == pause


@pytest.mark.parametrize(
    ("public_url", "greeting"),
    [
        ("https://books.example", "books.example"),
        ("http://127.0.0.1:8080", "[127.0.0.1]"),
        ("http://[::1]:8080", "[IPv6:::1]"),
    ],
)
def test_what_we_call_ourselves(public_url: str, greeting: str) -> None:
    settings = settings_from(Mail(host="mail.example", from_="a@b.example"), public_url)
    assert settings is not None
    assert settings.greeting == greeting
    assert settings.lease >= settings.attempt_seconds * SECOND


def test_an_empty_host_means_no_mail() -> None:
    assert settings_from(Mail(), "https://books.example") is None
