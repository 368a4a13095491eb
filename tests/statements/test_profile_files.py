"""The files of profiles: each is read strictly, and its profiles are told apart by name and headings."""

import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from msgspec import structs

from gatewayd.statements import profile_files
from gatewayd.statements.csv.plan import BY_HEADING, bank_profiles
from gatewayd.statements.csv.plan import Profile as BankProfile
from gatewayd.statements.csv.rows import folded
from gatewayd.statements.profile_files import FILES, profiles_in, texts_of
from gatewayd.statements.shapes import Mapping
from gatewayd.statements.trades.profiles import Field, broker_profiles
from gatewayd.statements.trades.profiles import Profile as BrokerProfile

KINDS: dict[str, type[BankProfile] | type[BrokerProfile]] = {"bank": BankProfile, "broker": BrokerProfile}
READ = [
    pytest.param(text, KINDS[kind], id=name)
    for kind, names in FILES.items()
    for name, text in zip(names, texts_of(kind), strict=True)
]
FOUND_IN_EACH_FILE = {"delimiter", "encoding", "header_row", "profile"}
PROFILE = """
[[profile]]
name = "dogger"
bank = "Dogger Bank"
source = "github.com/dogger/bank"
seen = "2026-11"
headings = ["Day", "What", "Sum"]

[profile.mapping]
date = "Day"
description = ["What"]
amount = "Sum"
"""
BROKER_PROFILE = """
[[profile]]
name = "fastnet"
broker = "Fastnet"
source = "github.com/fastnet/broker"
seen = "2026-11"
headings = ["Day", "What", "Sum"]

[profile.columns]
date = ["Day"]
price_currency = [{ behind = "Sum" }]
"""


def test_every_file_there_is_is_of_one_kind() -> None:
    there = [path.name for path in Path(profile_files.__file__).with_name("profiles").iterdir()]
    assert sorted(name for names in FILES.values() for name in names) == sorted(there)


@pytest.mark.parametrize(("text", "type_"), READ)
def test_each_file_is_read_whole_and_a_key_that_there_is_not_is_refused(
    text: str, type_: type[BankProfile] | type[BrokerProfile]
) -> None:
    told = [profile["name"] for profile in tomllib.loads(text)["profile"]]
    assert [profile.name for profile in profiles_in(text, type_)] == told
    columns = "[profile.mapping]" if type_ is BankProfile else "[profile.columns]"
    for table in ("[[profile]]", columns):
        for at in (found.end() for found in re.finditer(re.escape(table), text)):
            with pytest.raises(msgspec.ValidationError, match="colour"):
                profiles_in(f'{text[:at]}\ncolour = "blue"{text[at:]}', type_)


@pytest.mark.parametrize(
    ("text", "type_"), [(PROFILE, BankProfile), (BROKER_PROFILE, BrokerProfile)], ids=["bank", "broker"]
)
def test_what_a_profile_has_to_say_is_asked_for(text: str, type_: type[BankProfile] | type[BrokerProfile]) -> None:
    (read,) = profiles_in(text, type_)
    assert read.headings == ("Day", "What", "Sum")
    for key in ("name", "bank" if type_ is BankProfile else "broker", "source", "seen", "headings"):
        with pytest.raises(msgspec.ValidationError, match=f"missing required field `{key}`"):
            profiles_in(re.sub(rf"^{key} = .*\n", "", text, flags=re.MULTILINE), type_)


@pytest.mark.parametrize(
    ("text", "type_", "before", "after"),
    [
        (PROFILE, BankProfile, "[[profile]]", 'currency = "GBP"\n[[profile]]'),  # of no profile
        (PROFILE, BankProfile, "[[profile]]", "[[profiles]]"),
        (PROFILE, BankProfile, 'amount = "Sum"', 'amount = ["Sum"]'),
        (PROFILE, BankProfile, '["What"]', '"What"'),
        (BROKER_PROFILE, BrokerProfile, '["Day"]', '"Day"'),
        (BROKER_PROFILE, BrokerProfile, "behind", "before"),
        (BROKER_PROFILE, BrokerProfile, "[profile.columns]", 'signs = "often"\n[profile.columns]'),
    ],
)
def test_a_value_of_another_type_is_refused(
    text: str, type_: type[BankProfile] | type[BrokerProfile], before: str, after: str
) -> None:
    assert before in text
    with pytest.raises(msgspec.ValidationError):
        profiles_in(text.replace(before, after), type_)


def test_a_name_is_that_of_one_profile() -> None:
    names = [profile.name for profile in (*bank_profiles(), *broker_profiles())]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch("[a-z][a-z0-9_]*", name)] == []


@pytest.mark.parametrize("profiles", [bank_profiles(), broker_profiles()], ids=["bank", "broker"])
def test_headings_are_those_of_one_profile(profiles: tuple[BankProfile, ...] | tuple[BrokerProfile, ...]) -> None:
    claimed: dict[frozenset[str], str] = {}
    for profile in profiles:
        headings = frozenset(map(folded, profile.headings))
        assert len(headings) == len(profile.headings) > 2
        assert claimed.setdefault(headings, profile.name) == profile.name


def test_each_says_where_and_when_it_was_seen() -> None:
    for profile in (*bank_profiles(), *broker_profiles()):
        assert profile.source.startswith("github.com/")
        assert re.fullmatch(r"20[0-9]{2}-(0[1-9]|1[0-2])", profile.seen)


def test_a_column_is_a_heading_of_the_profile_or_one_that_not_all_its_files_have() -> None:
    for profile in bank_profiles():
        headings = {folded(heading) for heading in profile.headings}
        columns = structs.asdict(profile.mapping)
        assert columns["date"] is not None
        for name in {*Mapping.__struct_fields__} - BY_HEADING - FOUND_IN_EACH_FILE - {"date_format"}:
            if isinstance(columns[name], str):
                assert folded(columns[name]) in headings, (profile.name, name)
        assert any(folded(one) in headings for one in columns["description"]), profile.name


def test_no_profile_says_what_is_found_in_each_file() -> None:
    tables: list[dict[str, Any]] = [table for text in texts_of("bank") for table in tomllib.loads(text)["profile"]]
    assert [table["name"] for table in tables if FOUND_IN_EACH_FILE & table["mapping"].keys()] == []


def test_the_columns_of_a_broker_are_fields_of_a_mapping() -> None:
    assert {*get_args(Field)} < {*Mapping.__struct_fields__}
    assert [profile.name for profile in broker_profiles() if "date" not in profile.columns] == []
