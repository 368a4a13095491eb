"""Each credential that was used is due once a day, and again only on the next."""

from gatewayd.clock import DAY, Instant
from gatewayd.identity.tokens.authentication import CredentialUse

NOON = Instant(20_000 * DAY + DAY // 2)
NEXT_NOON = Instant(NOON + DAY)


def test_is_due_until_it_is_written() -> None:
    use = CredentialUse()
    use.note("key_1")
    use.note("key_1")
    assert use.due(NOON) == {"key_1"}
    use.note("key_2")
    assert use.due(NOON) == {"key_1", "key_2"}


def test_is_due_once_a_day() -> None:
    use = CredentialUse()
    use.note("key_1")
    use.written(use.due(NOON))
    use.note("key_1")
    use.note("key_2")
    assert use.due(NOON) == {"key_2"}
    use.note("key_1")
    assert use.due(NEXT_NOON) == {"key_1", "key_2"}


def test_what_was_not_used_on_a_day_is_not_due_on_it() -> None:
    use = CredentialUse()
    use.note("key_1")
    use.written(use.due(NOON))
    use.note("key_1")
    assert use.due(NOON) == frozenset()
    assert use.due(NEXT_NOON) == frozenset()


def test_a_use_between_the_rounds_around_midnight_is_due() -> None:
    use = CredentialUse()
    use.note("key_1")
    use.written(use.due(NOON))
    assert use.due(NOON) == frozenset()
    use.note("key_1")
    assert use.due(NEXT_NOON) == {"key_1"}
