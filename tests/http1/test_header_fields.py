"""Header fields read as a whole."""

import pytest

from gatewayd.http1.header_fields import RepeatedField, joined


def test_the_values_of_one_name_are_joined_in_their_order() -> None:
    fields = [(b"accept", b"a"), (b"cookie", b"c=1"), (b"accept", b""), (b"host", b"h"), (b"cookie", b"d=2")]
    assert joined(fields) == {b"accept": b"a, ", b"cookie": b"c=1; d=2", b"host": b"h"}


def test_a_field_that_holds_one_value_has_one() -> None:
    assert joined([(b"dpop", b"x"), (b"accept", b"a")], {b"dpop"}) == {b"dpop": b"x", b"accept": b"a"}
    with pytest.raises(RepeatedField) as caught:
        joined([(b"dpop", b"x"), (b"dpop", b"x")], {b"dpop"})
    assert caught.value.name == "dpop"
