"""Sentences about a value that is wrong, for people: what would be right, what was given, what may have been meant.

They are made from the field's type: its bounds, its example, and the `form` that stands in the `extra` of a pattern.
"""

import datetime
import json
import re
from collections.abc import Collection, Iterator
from difflib import SequenceMatcher, get_close_matches
from typing import Any, Final

import msgspec

from gatewayd.contract import hints

_SHOWN: Final = 40  # characters of a value that is said back
_COMPARED: Final = 64  # the longest that is compared with what there is
_WORD: Final = 4  # characters of a name that may be the beginning or the end of another
_ALIKE: Final = 0.6  # from 0 to 1: how much a word of a name is like the one that was meant
_LISTED: Final = 12  # the most names of fields that a sentence lists
_SECRET: Final = re.compile(
    r"password|passphrase|secret|token|credential|key$|otp$|utr$|nino$|vrn$|sortcode|accountnumber|iban$|birth"
)
_FRACTION: Final = re.compile(r"\\\.\[0-9\]\{1,([0-9]+)\}")
_UK_DATE: Final = re.compile(r"([0-3]?[0-9])[/.-]([01]?[0-9])[/.-]([0-9]{4})", re.ASCII)
_LOOSE_DATE: Final = re.compile(r"([0-9]{4})[/.-]?([01]?[0-9])[/.-]?([0-3]?[0-9])(?:[T ].*)?", re.ASCII)
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_TRUTHS: Final = {
    "yes": True,
    "1": True,
    "on": True,
    "true": True,
    "no": False,
    "0": False,
    "off": False,
    "false": False,
}


def is_secret(path: str) -> bool:
    """Whether the value of a field, by its path in a request, is never said back."""
    return _SECRET.search(path.rpartition(".")[2].partition("[")[0].lower()) is not None


def wrong(value: Any, hint: Any, path: str) -> str:
    """That a value is not what a field takes."""
    if isinstance(value, str) and datetime.date in hints.members(hint) and _DAY.fullmatch(value):
        return f"There is no {value} in the calendar. Expected a date such as 2026-11-20."
    meant = "" if is_secret(path) else _suggestion(value, hint)
    return f"Expected {expectation(hint, value)}{_given(value, hint, path)}.{meant}"


def out_of_range(value: Any, hint: Any, path: str) -> str:
    """That a number, or the length of a text or a list, is out of a field's bounds."""
    if {int, float}.isdisjoint(hints.members(hint)) and isinstance(value, str | list):
        if is_secret(path):
            return f"Expected {_sized(hint, value)}."
        count = f"{len(value)} {'was' if len(value) == 1 else 'were'}" if value else "none were"
        return f"Expected {_sized(hint, value)}; {count} given."
    if hints.bound(hint, "le") is None and len(str(value)) > 18:
        return "Expected a whole number of at most 18 digits."
    if isinstance(value, str) and not is_secret(path):
        return f"Expected {expectation(hint)}; {_cut(value)} was given."  # a number of a query
    return wrong(value, hint, path)


def missing(hint: Any, noun: str) -> str:
    """That a field or parameter is not there."""
    return f"This {noun} is required. Expected {expectation(hint)}."


def unknown(path: str, name: str, noun: str, meant: str | None, known: Collection[str]) -> str:
    """That there is no such field or parameter. `meant` is the name that comes close to it."""
    where = path.removesuffix(name) + _cut(name) if name.isprintable() else ascii(_cut(name))
    if meant is not None:
        return f"Unknown {noun} `{where}`. Did you mean `{meant}`?"
    if not known:
        return f"Unknown {noun} `{where}`. None is taken here."
    listed = f" Known here: {', '.join(known)}." if len(known) <= _LISTED else ""
    return f"Unknown {noun} `{where}`.{listed}"


def closest(name: str, known: Collection[str], likeness: float = 0.7) -> str | None:
    """The one of `known` that was probably meant; None: none comes close. `likeness` is from 0 to 1."""
    if len(name) > _COMPARED:
        return None
    plain = {_plain(candidate): candidate for candidate in known}
    wanted = _plain(name)
    matches = get_close_matches(wanted, plain, 1, likeness)
    if not matches and len(wanted) >= _WORD:
        matches = [candidate for candidate in plain if candidate.startswith(wanted) or candidate.endswith(wanted)]
    return next((plain[match] for match in matches if not _is_another(name, plain[match])), None)


def _is_another(name: str, candidate: str) -> bool:
    """Whether one word of several is quite another: `closedDate` is no `openedDate`, and `minAmount` no `maxAmount`."""
    ours, theirs = _words(name), _words(candidate)
    if not len(ours) == len(theirs) > 1:
        return False
    return any(SequenceMatcher(None, a, b).ratio() < _ALIKE for a, b in zip(ours, theirs, strict=True))


def _words(name: str) -> list[str]:
    """The words of a name in either style: `dueDate` and `due_date`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[ _-]", " ", name).lower().split()


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").casefold()


def expectation(hint: Any, value: Any = None) -> str:
    """What a field takes, to stand after "Expected". `value` is what was given where that changes the words."""
    allowed = hints.literals(hint)
    if allowed:
        return f"one of: {', '.join(map(str, allowed))}"
    if hints.said(hint, "code") == "invalid_decimal":
        return _decimal(hint, value)
    return _either([_kind(member, hint) for member in hints.members(hint)])


def _kind(member: Any, hint: Any) -> str:
    if member is int:
        return f"a whole number{_bounds(hint)}"
    if member is float:
        return f"a number{_bounds(hint)}"
    if member is bool:
        return "true or false"
    if member is str:
        return _text(hint)
    if member is datetime.date:
        return f"a date such as {hints.example(hint) or '2026-11-20'}"
    if member is datetime.datetime:
        return f"a time with its zone, such as {hints.example(hint) or '2026-11-20T09:30:00Z'}"
    if hints.is_list(member):
        return _sized(hint, [])
    struct = hints.struct_in(member)
    fields = hints.fields_of(struct) if struct else ()
    needed = [f"`{f.encode_name}`" for f in fields if f.required]
    if needed or not 0 < len(fields) <= _LISTED:
        return f"an object with {_and(needed)}" if needed else "an object"
    return f"an object with one or more of {', '.join(f.encode_name for f in fields)}"


def _decimal(hint: Any, value: Any) -> str:
    sample = hints.example(hint)
    if isinstance(value, str):
        digits = _FRACTION.search(hints.bound(hint, "pattern") or "")
        limit = f" of at most {digits[1]} digits after the point" if digits and _has_more(value, digits[1]) else ""
        return f"a decimal number{limit}, such as {sample}"
    return f'a decimal number in quotation marks, such as "{sample}"'


def _has_more(value: str, digits: str) -> bool:
    whole, _, fraction = value.partition(".")
    return len(fraction) > int(digits) and fraction.isdigit() and whole.removeprefix("-").isdigit()


def _text(hint: Any) -> str:
    form, sample, pattern = hints.said(hint, "form"), hints.example(hint), hints.bound(hint, "pattern")
    if form is not None:
        return f"{form}, such as {sample}" if sample is not None and len(sample) <= _SHOWN else str(form)
    such = "" if sample is None else f", such as {sample}"
    return _sized(hint, "") + (", not only spaces" if pattern == r"\S" else "") + such


def _sized(hint: Any, value: str | list[Any]) -> str:
    """Text or a list with how long it may be."""
    kind, unit = ("text", "characters") if isinstance(value, str) else ("a list", "items")
    least, most = hints.bound(hint, "min_length") or 0, hints.bound(hint, "max_length")
    if most is None:
        return f"{kind} of at least {_counted(least, unit)}" if least else kind
    if least == most:
        return f"{kind} of exactly {_counted(most, unit)}"
    return f"{kind} of {least} to {most} {unit}" if least else f"{kind} of at most {_counted(most, unit)}"


def _counted(count: int, unit: str) -> str:
    return f"1 {unit.removesuffix('s')}" if count == 1 else f"{count} {unit}"


def _bounds(hint: Any) -> str:
    least, most = hints.bound(hint, "ge"), hints.bound(hint, "le")
    if least is not None and most is not None:
        return f" from {least} to {most}"
    if most is not None:
        return f" of at most {most}"
    return f" of at least {least}" if least is not None else ""


def _given(value: Any, hint: Any, path: str) -> str:
    """What was given, as the end of a sentence; nothing where it may be secret."""
    if is_secret(path) and not (value is None or isinstance(value, list | dict)):
        return ""
    if value is None:
        return "; null was given"
    if isinstance(value, bool):
        return f"; {'true' if value else 'false'} was given"
    if isinstance(value, int | float):
        number = "" if {int, float} & {*hints.members(hint)} else "the number "
        return f"; {number}{_cut(str(value))} was given"
    if isinstance(value, str):
        return f"; {quoted(value)} was given" if value else "; empty text was given"
    return f"; {'a list' if isinstance(value, list) else 'an object'} was given"


def quoted(text: str) -> str:
    """A text as it is said back: in quotation marks, cut where it is long."""
    short = _cut(text)
    return f'"{short}"' if short.isprintable() else json.dumps(short, ensure_ascii=True)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _suggestion(value: Any, hint: Any) -> str:
    """A sentence with what may have been meant; empty where nothing comes close."""
    if not isinstance(value, str) or len(value) > _COMPARED:
        return ""
    allowed = [str(literal) for literal in hints.literals(hint)]
    if allowed:
        meant = closest(value, allowed)
        return "" if meant is None else f" Did you mean {meant}?"
    for candidate in _repaired(value, hints.members(hint)):
        if candidate == value:
            continue
        try:
            msgspec.convert(candidate, hint, strict=False)
        except msgspec.ValidationError:
            continue
        return f" Did you mean {json.dumps(candidate) if isinstance(candidate, bool) else candidate}?"
    return ""


def _repaired(text: str, members: tuple[Any, ...]) -> Iterator[Any]:
    """What a text becomes by mending what people often get wrong."""
    bare = text.strip()
    if bool in members and bare.lower() in _TRUTHS:
        yield _TRUTHS[bare.lower()]
    elif datetime.date in members:
        if match := _LOOSE_DATE.fullmatch(bare):
            yield f"{match[1]}-{match[2]:0>2}-{match[3]:0>2}"
        elif match := _UK_DATE.fullmatch(bare):  # Chosen: day before month, as the British write it
            yield f"{match[3]}-{match[2]:0>2}-{match[1]:0>2}"
    elif datetime.datetime in members:
        yield from (f"{bare}Z", f"{bare.replace(' ', 'T')}Z", f"{bare}T00:00:00Z")
    elif int in members:
        digits = bare.removesuffix(".0").replace(",", "")
        if digits.removeprefix("-").isdecimal():
            yield int(digits)
    elif str in members and bare:
        tight = re.sub(r"[\s,£$€%']", "", bare)
        yield from ("GB" if bare.upper() == "UK" else bare, bare.upper(), bare.lower(), tight, tight.upper())
        yield bare.replace("/", "-")


def _and(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _either(words: list[str]) -> str:
    return " or ".join(dict.fromkeys(words)) or "nothing but null"
