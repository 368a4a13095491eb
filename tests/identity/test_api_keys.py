"""API keys: made, listed, rotated, revoked, approved for tax, and noted as used."""

import msgspec
import pytest

from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.clock import DAY, HOUR, MINUTE, Instant, to_wire
from gatewayd.contract.holding import Held
from gatewayd.contract.scopes import FULL_ACCESS, KEY_SCOPES
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.identity.key_format import checksum_ok, hash_key
from gatewayd.identity.keys import api_keys
from gatewayd.identity.keys.api_keys import ApiKey, CreatedKey, NewKey
from gatewayd.identity.keys.key_restrictions import effective_scopes
from gatewayd.identity.people import memberships
from tests.support.store import START, MemoryStore, make_caller

RANDOM = bytes(range(32))
OTHER_RANDOM = bytes(32)


def make(store: MemoryStore, org_id: str, new: NewKey, random: bytes = RANDOM) -> CreatedKey:
    return store.write(lambda tx: api_keys.create(tx, new, random, "operator"), org_id)


def rotate(store: MemoryStore, org_id: str, key_id: str, overlap: int, random: bytes = OTHER_RANDOM) -> CreatedKey:
    return store.write(lambda tx: api_keys.rotate(tx, key_id, overlap, random, "operator"), org_id)


def get(store: MemoryStore, org_id: str, key_id: str) -> ApiKey:
    return store.read(lambda tx: api_keys.get(tx, key_id), org_id)


def refusal(caught: pytest.ExceptionInfo[Problem]) -> tuple[str, ...]:
    return (caught.value.code, *(error.path for error in caught.value.errors))


def test_a_key_is_shown_once_and_stored_as_its_hash(store: MemoryStore) -> None:
    org_id = store.org()
    user_id = store.user(org_id)
    made = make(store, org_id, NewKey(name=" CI ", user_id=user_id, scopes=("webhooks:read", "accounting:read")))
    assert checksum_ok(made.key)
    assert made.scopes == ["accounting:read", "webhooks:read"]
    assert made.key not in repr(made)
    assert store.read(lambda tx: tx.value("SELECT hash FROM api_keys")) == hash_key(made.key)
    assert made.key.encode() not in store.stored()
    shown = get(store, org_id, made.id)
    assert shown == ApiKey(
        id=made.id,
        org_id=org_id,
        user_id=user_id,
        name="CI",
        hint=made.key[:10] + "…",
        scopes=["accounting:read", "webhooks:read"],
        full_access=False,
        effective_scopes=["accounting:read", "webhooks:read"],
        tax_approved=False,
        networks=[],
        expires_at=None,
        last_used=None,
        revoked_at=None,
        replaced_by=None,
        created_at=START,
        role=None,
        held_entities=None,
        held_from=None,
        held_to=None,
    )
    entry = store.read(audit.list_entries, org_id)[0]
    assert (entry.action, entry.subject, entry.actor) == ("key.created", made.id, "operator")
    assert entry.detail == {"name": "CI", "scopes": ["accounting:read", "webhooks:read"]}


def test_no_scopes_is_legacy_full_access_and_says_so(store: MemoryStore) -> None:
    org_id = store.org()
    made = make(store, org_id, NewKey(name="old", user_id=store.user(org_id)))
    shown = get(store, org_id, made.id)
    assert (made.scopes, shown.full_access) == ([], True)
    assert set(shown.effective_scopes) == FULL_ACCESS


@pytest.mark.parametrize(
    ("scopes", "approved", "opens"),
    [
        ("", False, FULL_ACCESS),
        ("", True, KEY_SCOPES),
        ("tax:read", False, frozenset()),
        ("tax:read", True, {"tax:read"}),
        ("accounting:read tax:read tax:write", False, {"accounting:read"}),
        ("accounting:read", True, {"accounting:read"}),
    ],
)
def test_what_scopes_open(scopes: str, approved: bool, opens: frozenset[str]) -> None:
    assert effective_scopes(scopes, approved) == opens


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"name": " "}, "name"),
        ({"scopes": ("accounting:read", "openid")}, "scopes"),
        ({"scopes": ("everything",)}, "scopes"),
        ({"networks": ("10.0.0.1/8",)}, "networks"),
        ({"networks": ("home",)}, "networks"),
        ({"networks": ("10.0.0.0/8",) * 33}, "networks"),
        ({"expires_at": START}, "expiresAt"),
        ({"user_id": "usr_none"}, "userId"),
    ],
)
def test_refuses_and_keeps_nothing(store: MemoryStore, change: dict[str, object], path: str) -> None:
    org_id = store.org()
    new = msgspec.structs.replace(NewKey(name="CI", user_id=store.user(org_id)), **change)
    with pytest.raises(Problem) as caught:
        make(store, org_id, new)
    assert refusal(caught) == ("validation_failed", path)
    assert store.read(api_keys.list_all) == []
    assert store.read(audit.list_all) == []


def test_the_creator_must_be_a_member_here(store: MemoryStore) -> None:
    acme, beta = store.org("Acme"), store.org("Beta")
    ann = store.user(acme)
    with pytest.raises(Problem) as caught:
        make(store, beta, NewKey(name="CI", user_id=ann))
    assert refusal(caught) == ("validation_failed", "userId")


def test_takes_what_is_just_within_the_limits(store: MemoryStore) -> None:
    org_id = store.org()
    new = NewKey(
        name="CI",
        user_id=store.user(org_id),
        networks=tuple(f"10.0.{n}.0/24" for n in range(32)),
        expires_at=Instant(START + 1),
    )
    shown = get(store, org_id, make(store, org_id, new).id)
    assert (len(shown.networks), shown.expires_at) == (32, START + 1)


def test_networks_are_kept_in_canonical_form(store: MemoryStore) -> None:
    org_id = store.org()
    new = NewKey(name="CI", user_id=store.user(org_id), networks=("192.0.2.7", "2001:DB8::/32"))
    assert get(store, org_id, make(store, org_id, new).id).networks == ["192.0.2.7/32", "2001:db8::/32"]


def test_lists_newest_first_and_of_one_organization(store: MemoryStore) -> None:
    acme, beta = store.org("Acme"), store.org("Beta")
    first = make(store, acme, NewKey(name="1", user_id=store.user(acme)), bytes([1]) * 32)
    second = make(store, acme, NewKey(name="2", user_id=store.user(acme)), bytes([2]) * 32)
    third = make(store, beta, NewKey(name="3", user_id=store.user(beta)), bytes([3]) * 32)
    assert [key.id for key in store.read(api_keys.list_keys, acme)] == [second.id, first.id]
    assert [key.id for key in store.read(api_keys.list_all)] == [third.id, second.id, first.id]
    assert store.read(lambda tx: api_keys.organization_of(tx, third.id)) == beta
    with pytest.raises(Problem) as caught:
        store.read(lambda tx: api_keys.organization_of(tx, "key_none"))
    assert refusal(caught) == ("not_found",)


def test_who_has_access_to_taxes_and_who_chose_it(store: MemoryStore) -> None:
    acme, beta = store.org("Acme"), store.org("Beta")
    ann, bob = store.user(acme), store.user(beta)
    later = Instant(START + HOUR)

    def key(number: int, org_id: str, *scopes: str, expires_at: Instant | None = None) -> str:
        new = NewKey(name="K", user_id=ann if org_id == acme else bob, scopes=scopes, expires_at=expires_at)
        return make(store, org_id, new, bytes([number]) * 32).id

    def approve(key_id: str, org_id: str) -> str:
        store.write(lambda tx: api_keys.set_tax_approval(tx, key_id, "declared", "operator"), org_id)
        return key_id

    approved = [approve(key(1, acme, "tax:read", expires_at=Instant(later + 1)), acme), approve(key(2, beta), beta)]
    chosen = [key(3, acme, "accounting:read", "tax:write"), key(4, beta, "tax:read")]
    key(5, acme, "accounting:read")
    key(6, acme)
    for ended in (approve(key(7, acme, "tax:read"), acme), key(8, acme, "tax:read")):
        store.write(lambda tx, ended=ended: api_keys.revoke(tx, ended, "operator"), acme)
    approve(key(9, acme, "tax:read", expires_at=later), acme)
    key(10, acme, "tax:read", expires_at=later)
    store.clock.advance(HOUR)
    assert [each.id for each in store.read(api_keys.list_tax_approved)] == approved
    assert [each.id for each in store.read(api_keys.list_tax_chosen)] == chosen


def test_revokes_now_once_and_on_record(store: MemoryStore) -> None:
    org_id = store.org()
    made = make(store, org_id, NewKey(name="CI", user_id=store.user(org_id)))
    store.clock.advance(HOUR)
    revoked = store.write(lambda tx: api_keys.revoke(tx, made.id, "usr_1"), org_id)
    store.clock.advance(HOUR)
    again = store.write(lambda tx: api_keys.revoke(tx, made.id, "usr_2"), org_id)
    assert revoked.revoked_at == START + HOUR
    assert again == revoked
    entries = store.read(audit.list_entries, org_id)
    assert [(entry.action, entry.actor) for entry in entries] == [("key.revoked", "usr_1"), ("key.created", "operator")]


def test_another_organizations_key_is_not_found(store: MemoryStore) -> None:
    acme, beta = store.org("Acme"), store.org("Beta")
    made = make(store, acme, NewKey(name="CI", user_id=store.user(acme)))
    before = get(store, acme, made.id)
    with pytest.raises(Problem) as reading:
        get(store, beta, made.id)
    with pytest.raises(Problem) as revoking:
        store.write(lambda tx: api_keys.revoke(tx, made.id, "operator"), beta)
    with pytest.raises(Problem) as rotating:
        rotate(store, beta, made.id, HOUR)
    with pytest.raises(Problem) as approving:
        store.write(lambda tx: api_keys.set_tax_approval(tx, made.id, "declared", "operator"), beta)
    assert {refusal(each) for each in (reading, revoking, rotating, approving)} == {("not_found",)}
    assert get(store, acme, made.id) == before


def test_rotation_keeps_the_settings_and_ends_the_old_key(store: MemoryStore) -> None:
    org_id = store.org()
    new = NewKey(
        name="CI",
        user_id=store.user(org_id),
        scopes=("tax:read",),
        networks=("10.0.0.0/8",),
        expires_at=Instant(START + DAY),
    )
    old = make(store, org_id, new)
    store.write(lambda tx: api_keys.set_tax_approval(tx, old.id, "declared", "operator"), org_id)
    store.clock.advance(HOUR)
    successor = rotate(store, org_id, old.id, 2 * HOUR)
    ended, fresh = get(store, org_id, old.id), get(store, org_id, successor.id)
    assert (ended.expires_at, ended.replaced_by) == (START + 3 * HOUR, successor.id)
    assert (fresh.name, fresh.scopes, fresh.networks, fresh.tax_approved) == ("CI", ["tax:read"], ["10.0.0.0/8"], True)
    assert (fresh.expires_at, fresh.replaced_by) == (START + HOUR + DAY, None)
    assert successor.key != old.key
    entry = store.read(audit.list_entries, org_id)[0]
    assert (entry.action, entry.subject) == ("key.rotated", old.id)
    assert entry.detail == {"replacedBy": successor.id, "worksUntil": to_wire(Instant(START + 3 * HOUR))}


def test_the_overlap_never_lengthens_the_old_key(store: MemoryStore) -> None:
    org_id = store.org()
    old = make(store, org_id, NewKey(name="CI", user_id=store.user(org_id), expires_at=Instant(START + HOUR)))
    rotate(store, org_id, old.id, DAY)
    assert get(store, org_id, old.id).expires_at == START + HOUR
    assert store.read(audit.list_entries, org_id)[0].detail["worksUntil"] == to_wire(Instant(START + HOUR))


@pytest.mark.parametrize("state", ["revoked", "rotated", "expired", "left"])
def test_a_dead_key_is_not_rotated(store: MemoryStore, state: str) -> None:
    org_id = store.org()
    store.user(org_id)
    user_id = store.user(org_id)
    old = make(store, org_id, NewKey(name="CI", user_id=user_id, expires_at=Instant(START + HOUR)))
    match state:
        case "revoked":
            store.write(lambda tx: api_keys.revoke(tx, old.id, "operator"), org_id)
        case "rotated":
            rotate(store, org_id, old.id, HOUR, bytes([9]) * 32)
        case "expired":
            store.clock.advance(HOUR)
        case "left":
            store.write(lambda tx: memberships.remove(tx, user_id, "operator"), org_id)
    before = store.read(api_keys.list_all)
    with pytest.raises(Problem) as caught:
        rotate(store, org_id, old.id, HOUR)
    assert refusal(caught) == ("invalid_state",)
    assert store.read(api_keys.list_all) == before


@pytest.mark.parametrize("overlap", [0, 30 * DAY])
def test_a_key_that_never_expired_goes_on_for_the_overlap(store: MemoryStore, overlap: int) -> None:
    org_id = store.org()
    old = make(store, org_id, NewKey(name="CI", user_id=store.user(org_id)))
    successor = rotate(store, org_id, old.id, overlap)
    assert get(store, org_id, old.id).expires_at == START + overlap
    assert get(store, org_id, successor.id).expires_at is None


@pytest.mark.parametrize("overlap", [-1, 30 * DAY + 1])
def test_the_overlap_has_bounds(store: MemoryStore, overlap: int) -> None:
    org_id = store.org()
    old = make(store, org_id, NewKey(name="CI", user_id=store.user(org_id)))
    with pytest.raises(Problem) as caught:
        rotate(store, org_id, old.id, overlap)
    assert refusal(caught) == ("validation_failed", "overlap")
    assert caught.value.errors[0].message == "At most 30 days."


def test_tax_approval_on_and_off(store: MemoryStore) -> None:
    org_id = store.org()
    made = make(store, org_id, NewKey(name="CI", user_id=store.user(org_id), scopes=("accounting:read", "tax:write")))
    on = store.write(lambda tx: api_keys.set_tax_approval(tx, made.id, "We are the vendor.", "usr_admin"), org_id)
    off = store.write(lambda tx: api_keys.set_tax_approval(tx, made.id, None, "usr_admin"), org_id)
    assert (on.tax_approved, on.effective_scopes) == (True, ["accounting:read", "tax:write"])
    assert (off.tax_approved, off.effective_scopes) == (False, ["accounting:read"])
    withdrawn, approved = store.read(audit.list_entries, org_id)[:2]
    assert (approved.action, approved.detail) == ("key.tax_approved", {"attestation": "We are the vendor."})
    assert (withdrawn.action, withdrawn.actor) == ("key.tax_withdrawn", "usr_admin")


def test_notes_the_day_of_use_once(store: MemoryStore) -> None:
    org_id = store.org()
    used = make(store, org_id, NewKey(name="1", user_id=store.user(org_id)))
    unused = make(store, org_id, NewKey(name="2", user_id=store.user(org_id)), OTHER_RANDOM)

    def note() -> int:
        before = store.changed_rows()
        store.write(lambda tx: api_keys.note_use(tx, {used.id, "grt_of_another_kind"}))
        return store.changed_rows() - before

    assert note() == 1
    store.clock.advance(14 * HOUR + 30 * MINUTE - 1)
    assert note() == 0
    assert get(store, org_id, used.id).last_used == "2026-11-20"
    store.clock.advance(1)
    assert note() == 1
    assert get(store, org_id, used.id).last_used == "2026-11-21"
    assert get(store, org_id, unused.id).last_used is None


# -- keys of the organization


@pytest.mark.parametrize("role", ["admin", "member"])
def test_a_key_of_the_organization_says_so_and_who_made_it(store: MemoryStore, role: api_keys.KeyRole) -> None:
    org_id = store.org()
    user_id = store.user(org_id, "admin")
    made = make(store, org_id, NewKey(name="Till", user_id=user_id, scopes=("vault:read",), role=role))
    shown = get(store, org_id, made.id)
    assert (shown.role, shown.user_id) == (role, user_id)
    (act,) = store.read(audit.list_entries, org_id)
    assert act.detail == {"name": "Till", "scopes": ["vault:read"], "role": role}


def test_a_member_makes_none_of_the_organization(store: MemoryStore) -> None:
    org_id = store.org()
    store.user(org_id)
    new = NewKey(name="Till", user_id=store.user(org_id, "member"), scopes=("vault:read",), role="member")
    with pytest.raises(Problem) as caught:
        make(store, org_id, new)
    assert caught.value.code == "forbidden"
    assert store.read(api_keys.list_all) == []


def test_a_key_of_the_organization_has_scopes(store: MemoryStore) -> None:
    """Full access is what the maker can do, and this key is not the maker's."""
    org_id = store.org()
    with pytest.raises(Problem) as caught:
        make(store, org_id, NewKey(name="Till", user_id=store.user(org_id), role="admin"))
    assert refusal(caught) == ("validation_failed", "scopes")


def test_a_key_of_the_organization_is_rotated_when_its_maker_has_left(store: MemoryStore) -> None:
    org_id = store.org()
    store.user(org_id)
    user_id = store.user(org_id)
    made = make(store, org_id, NewKey(name="Till", user_id=user_id, scopes=("vault:read",), role="member"))
    store.write(lambda tx: memberships.remove(tx, user_id, "operator"), org_id)
    second = get(store, org_id, rotate(store, org_id, made.id, HOUR).id)
    assert (second.role, second.user_id, second.scopes) == ("member", user_id, ["vault:read"])


# -- held to legal entities and days


def entity(store: MemoryStore, org_id: str, name: str = "Ann Oak") -> str:
    wanted = CreateLegalEntity(name=name, type="individual")
    return store.write(lambda tx: create_legal_entity(tx, make_caller(org_id), wanted), org_id).id


def test_a_key_is_held_to_legal_entities_and_days_and_so_is_its_successor(store: MemoryStore) -> None:
    org_id = store.org()
    ann, ben = entity(store, org_id), entity(store, org_id, "Ben Oak")
    held = Held(entities=frozenset({ann, ben}), first="2026-04-06", last="2027-04-05")
    new = NewKey(name="Accountant", user_id=store.user(org_id), scopes=("accounting:read",), held=held)
    made = make(store, org_id, new)
    entry = store.read(audit.list_entries, org_id)[0]
    assert entry.detail is not None
    assert {name: entry.detail[name] for name in ("heldEntities", "heldFrom", "heldTo")} == {
        "heldEntities": sorted([ann, ben]),
        "heldFrom": "2026-04-06",
        "heldTo": "2027-04-05",
    }
    for key_id in (made.id, rotate(store, org_id, made.id, HOUR).id):
        shown = get(store, org_id, key_id)
        assert shown.held_entities == sorted([ann, ben])
        assert (shown.held_from, shown.held_to) == ("2026-04-06", "2027-04-05")
        assert shown in store.read(api_keys.list_keys, org_id)


@pytest.mark.parametrize(
    "held",
    [
        Held(entities=None, first="2026-04-06", last=None),
        Held(entities=None, first=None, last="2026-04-06"),
        Held(entities=None, first="2026-04-06", last="2026-04-06"),
    ],
)
def test_a_key_is_held_to_days_alone(store: MemoryStore, held: Held) -> None:
    org_id = store.org()
    new = NewKey(name="Accountant", user_id=store.user(org_id), scopes=("accounting:read",), held=held)
    shown = get(store, org_id, make(store, org_id, new).id)
    assert (shown.held_entities, shown.held_from, shown.held_to) == (None, held.first, held.last)


@pytest.mark.parametrize(
    ("scopes", "entities", "days", "path"),
    [
        (("accounting:read",), {"ent_none"}, (None, None), "heldEntities"),
        (("accounting:read",), set(), (None, None), "heldEntities"),
        (("accounting:read",), {f"ent_{number}" for number in range(21)}, (None, None), "heldEntities"),
        (("accounting:read",), None, ("2026-04-06", "2026-04-05"), "heldTo"),
        (("accounting:read", "accounting:write"), None, ("2026-04-06", None), "scopes"),
        (("accounting:read", "tax:read"), None, ("2026-04-06", None), "scopes"),
        ((), None, ("2026-04-06", None), "scopes"),
    ],
)
def test_a_key_is_held_to_what_there_is_and_reads_alone(
    store: MemoryStore,
    scopes: tuple[str, ...],
    entities: set[str] | None,
    days: tuple[str | None, str | None],
    path: str,
) -> None:
    org_id = store.org()
    held = Held(entities=None if entities is None else frozenset(entities), first=days[0], last=days[1])
    with pytest.raises(Problem) as caught:
        make(store, org_id, NewKey(name="CI", user_id=store.user(org_id), scopes=scopes, held=held))
    assert (caught.value.code, caught.value.errors[0].path) == ("validation_failed", path)
    assert store.read(api_keys.list_all) == []


def test_a_key_is_not_held_to_what_is_another_organizations(store: MemoryStore) -> None:
    acme, beta = store.org("Acme"), store.org("Beta")
    held = Held(entities=frozenset({entity(store, beta)}), first=None, last=None)
    with pytest.raises(Problem) as caught:
        make(store, acme, NewKey(name="CI", user_id=store.user(acme), scopes=("accounting:read",), held=held))
    assert refusal(caught) == ("validation_failed", "heldEntities")
