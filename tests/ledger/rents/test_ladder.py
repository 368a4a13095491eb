"""Which money paid which rent: worked by hand, and beside pennies laid out one by one."""

from hypothesis import given
from hypothesis import strategies as st

from gatewayd.ledger.rents import ladder
from gatewayd.ledger.rents.ladder import Payment
from gatewayd.ledger.rents.schedule import Due

JANUARY = Due("2026-01-01", "2026-01-31", 950_00)
FEBRUARY = Due("2026-02-01", "2026-02-28", 950_00)
MARCH = Due("2026-03-01", "2026-03-31", 950_00)
MONTHS = (JANUARY, FEBRUARY, MARCH)


def paid(id_: str, amount: int) -> Payment:
    return Payment(id_, "2026-01-01", amount)


def settled(*payments: Payment, before: int = 0) -> list[tuple[int, list[str]]]:
    return [(rung.received, rung.allocation_ids) for rung in ladder.settle(MONTHS, payments, before)]


def test_each_rent_by_its_own_payment() -> None:
    assert settled(paid("a", 950_00), paid("b", 950_00)) == [(950_00, ["a"]), (950_00, ["b"]), (0, [])]


def test_a_payment_for_two_and_a_rent_in_two_parts() -> None:
    found = settled(paid("a", 1000_00), paid("b", 500_00), paid("c", 900_00))
    assert found == [(950_00, ["a"]), (950_00, ["a", "b", "c"]), (500_00, ["c"])]


def test_what_is_outstanding() -> None:
    (rung, *_) = ladder.settle(MONTHS, [paid("a", 900_00)])
    assert rung.outstanding == 50_00


def test_what_was_given_back_came_last() -> None:
    given_back = settled(paid("a", 950_00), paid("b", 1000_00), paid("c", -100_00))
    assert given_back == [(950_00, ["a"]), (900_00, ["b"]), (0, [])]
    all_of_it = settled(paid("a", 950_00), paid("b", -1000_00), paid("c", 200_00))
    assert all_of_it == [(150_00, ["c"]), (0, []), (0, [])]


def test_earlier_rents_take_theirs_first() -> None:
    assert settled(paid("a", 950_00), paid("b", 950_00), before=1000_00) == [(900_00, ["b"]), (0, []), (0, [])]


def test_a_rent_of_nothing_is_paid_by_nobody() -> None:
    (rung,) = ladder.settle([Due("2026-01-01", "2026-01-31", 0)], [paid("a", 1)])
    assert (rung.received, rung.allocation_ids, rung.outstanding) == (0, [], 0)


@given(
    st.lists(st.integers(0, 20), max_size=6),
    st.lists(st.integers(-20, 20).filter(bool), max_size=8),
    st.integers(0, 30),
)
def test_it_is_what_laying_out_pennies_gives(amounts: list[int], payments: list[int], before: int) -> None:
    pennies: list[int] = []
    missing = 0
    for number, amount in enumerate(payments):
        for _ in range(abs(amount)):
            if amount < 0:
                if pennies:
                    pennies.pop()
                else:
                    missing += 1
            elif missing:
                missing -= 1
            else:
                pennies.append(number)
    pennies = pennies[before:]
    expected = []
    for amount in amounts:
        mine, pennies = pennies[:amount], pennies[amount:]
        expected.append((len(mine), [str(number) for number in sorted(set(mine))]))
    dues = [Due("2026-01-01", "2026-01-31", amount) for amount in amounts]
    rungs = ladder.settle(dues, [paid(str(number), amount) for number, amount in enumerate(payments)], before)
    assert [(rung.received, rung.allocation_ids) for rung in rungs] == expected
