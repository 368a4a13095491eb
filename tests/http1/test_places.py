"""Who has a place at the door, and who goes for a newcomer."""

from dataclasses import dataclass

import pytest

from gatewayd.http1.networks import network_of
from gatewayd.http1.places import BUSY, KNOWN, STRANGER, Place, Places
from tests.http1.peers import RecordingLog


@dataclass
class Holder:
    """An occupant of a certain standing, idle since an instant."""

    standing: int
    phase_began: float = 0.0


def taken(places: Places, network: str | None, standing: int | None = STRANGER, since: float = 0.0) -> Place:
    """A newcomer's place; `standing` None: it is still at its handshake."""
    assert places.has_room()
    place = places.take(network)
    assert place is not None
    place.occupant = None if standing is None else Holder(standing, since)
    if standing in (KNOWN, BUSY):
        place.note_admitted()
    return place


def ended(*places: Place) -> list[bool]:
    return [place.scope.cancel_called for place in places]


def shares(limit: int) -> int:
    return Places(limit).share


def test_a_network_has_a_quarter_and_never_less_than_a_few() -> None:
    assert [shares(limit) for limit in (4096, 400, 64, 20, 3)] == [1024, 100, 16, 16, 3]


@pytest.mark.parametrize("standing", [None, STRANGER])
async def test_past_its_share_a_network_gives_its_oldest_stranger(standing: int | None) -> None:
    places = Places(400)
    neighbour = taken(places, "192.0.2.9")
    held = [taken(places, "192.0.2.1", standing) for _ in range(100)]
    taken(places, "192.0.2.1", standing)
    assert ended(neighbour, *held[:2]) == [False, True, False]
    assert (places.taken, places.ended) == (101, 1)


async def test_past_its_share_those_who_are_known_stay_but_for_a_quarter_that_strangers_have() -> None:
    places = Places(64)
    known = [taken(places, "192.0.2.1", KNOWN, since=20.0 - n) for n in range(11)]
    strangers = [taken(places, "192.0.2.1") for _ in range(5)]
    taken(places, "192.0.2.1")
    assert (ended(*strangers), any(ended(*known))) == ([True, False, False, False, False], False)
    taken(places, "192.0.2.1", BUSY)
    taken(places, "192.0.2.1")
    assert (ended(*strangers), ended(*known)) == ([True, True, False, False, False], [False] * 10 + [True])


async def test_a_network_that_uses_its_share_is_turned_away_and_the_others_are_not() -> None:
    places = Places(64)
    busy = [taken(places, "192.0.2.1", BUSY) for _ in range(16)]
    assert places.has_room()
    assert places.take("192.0.2.1") is None
    assert (places.turned_away, places.ended, places.taken) == (1, 0, 16)
    assert not any(ended(*busy))
    taken(places, "192.0.2.2")


async def test_when_all_are_taken_a_stranger_of_who_holds_most_goes() -> None:
    places = Places(32)
    few = taken(places, "192.0.2.1")
    known = [taken(places, "192.0.2.2", KNOWN) for _ in range(16)]
    many = [taken(places, "192.0.2.3") for _ in range(15)]
    taken(places, "192.0.2.4")
    assert ended(few, many[0], many[1]) == [False, True, False]
    assert not any(ended(*known))


async def test_when_nobody_is_a_stranger_the_longest_idle_of_who_holds_most_goes() -> None:
    places = Places(4)
    oldest = taken(places, "192.0.2.1", KNOWN, since=1.0)
    busy = taken(places, "192.0.2.2", BUSY)
    later, longer = (taken(places, "192.0.2.2", KNOWN, since=since) for since in (9.0, 5.0))
    taken(places, "192.0.2.3")
    assert ended(oldest, busy, later, longer) == [False, False, False, True]


async def test_newcomers_do_not_only_take_each_others_place() -> None:
    """Where those who are known hold all places and use few, as many as a quarter give theirs."""
    places = Places(40)
    known = [taken(places, f"192.0.2.{n}", KNOWN, since=n) for n in range(40)]
    newcomers = [taken(places, f"198.51.100.{n}") for n in range(12)]
    assert sum(ended(*known)) == 11
    assert sum(ended(*newcomers)) == 1
    assert ended(newcomers[0]) == [True]


async def test_a_trusted_proxy_has_no_share_and_gives_what_it_does_not_use() -> None:
    places = Places(40)
    bodies = [taken(places, None) for _ in range(27)]
    idle = taken(places, None, KNOWN)
    strangers = [taken(places, "192.0.2.1") for _ in range(11)]
    taken(places, None, BUSY)
    taken(places, None, BUSY)
    assert (sum(ended(*strangers)), ended(idle, bodies[0])) == (1, [False, False])
    taken(places, None, BUSY)
    assert (sum(ended(*strangers)), ended(idle, bodies[0])) == (1, [True, False])
    for _ in range(10):
        taken(places, None, BUSY)
    assert (sum(ended(*strangers)), ended(bodies[0])) == (11, [False])
    taken(places, None, BUSY)
    assert ended(bodies[0], bodies[1]) == [True, False]


async def test_with_everybody_busy_there_is_no_room_until_one_leaves() -> None:
    places = Places(2)
    first, _ = taken(places, "192.0.2.1", BUSY), taken(places, None, BUSY)
    assert not places.has_room()
    places.leave(first)
    places.leave(first)
    assert (places.has_room(), places.taken) == (True, 1)


async def test_a_place_that_was_given_away_is_not_left_again() -> None:
    places = Places(2)
    first = taken(places, "192.0.2.1")
    second, third = taken(places, "192.0.2.1"), taken(places, "192.0.2.1")
    places.leave(first)
    assert places.taken == 2
    places.leave(second)
    places.leave(third)
    assert places.taken == 0


async def test_who_was_admitted_when_its_place_was_gone_takes_none() -> None:
    places = Places(1)
    first = taken(places, "192.0.2.1")
    second = taken(places, "192.0.2.1")
    first.note_admitted()
    places.leave(first)
    assert places.taken == 1
    places.leave(second)
    assert (places.taken, places._strangers, places._known, places._stranger_count) == (0, {}, {}, 0)


async def test_a_shortage_is_told_at_once_and_then_at_most_once_a_minute() -> None:
    places, log = Places(1), RecordingLog()
    places.report(log, 5.0)
    assert log.warnings == []
    taken(places, "192.0.2.1")
    for now in (10.0, 11.0, 69.9):
        taken(places, "192.0.2.1")
        places.report(log, now)
    assert [(event, said["ended"], said["most_from"]) for event, said in log.warnings] == [
        ("connections_crowded", 1, "192.0.2.1")
    ]
    places.report(log, 70.0)
    places.report(log, 200.0)
    assert [said["ended"] for _, said in log.warnings] == [1, 2]


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
    ],
)
def test_a_subscriber_is_one_network(host: str, network: str) -> None:
    assert network_of(host) == network


@pytest.mark.parametrize("host", ["", "unix", "192.0.2", "2001:db8::g"])
def test_what_is_no_address_has_no_network(host: str) -> None:
    with pytest.raises(ValueError, match="no address"):
        network_of(host)
