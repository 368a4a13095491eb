"""The fields of an operation's request: as a form shows them, and as the form brings them back.

What a field is called, takes and means is said by the struct of the request; a page says which of them it shows, and in
what words where a person needs others. What comes back is judged by the operation alone: nothing is checked here.
"""

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, get_args

import msgspec
from werkzeug.datastructures import MultiDict

from gatewayd.console.components.shapes import Field, FieldKind, Option
from gatewayd.console.operations.row_names import Texts, below, name_in_row, rows_in, texts_of_rows
from gatewayd.contract import hints
from gatewayd.contract.sentences import Sentences, meaning_of
from gatewayd.errors import FieldError
from gatewayd.money import AMOUNT_PATTERN

LONG_TEXT: Final = 500
"""Chosen: of more characters than these a field has several lines."""
NEVER_ENTERED: Final = frozenset({"limit", "cursor", "updatedSince", "expectedVersion"})
_ASIDE: Final = re.compile(r"^(Null|Absent|True|False|Default)\b|`\w+`:")
"""A sentence for programs: of what has no words in a form."""
_BARE_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")
"""What a browser makes of a date and a time, which the form says are of UTC."""
_CAPITALS: Final = frozenset({"cis", "epc", "id", "isin", "llp", "nino", "paye", "url", "utr", "vat"})
"""Words that are written in capitals."""
_BOOLEANS: Final = (Option("", "Either"), Option("true", "Yes"), Option("false", "No"))


class Wording(NamedTuple):
    """How a page calls a field, where its name does not do. None: as the request has it.

    `one` is what a row is called, of a field that has several; `none` what it means to choose nothing.
    """

    label: str | None = None
    hint: str | None = None
    one: str = "row"
    none: str = ""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value of a request. `path` is where it lies, by names of the wire: `address.line1`.

    A list of structs has `inner` values of each, whose paths begin behind its own. `is_carried`: nobody enters it, and
    what is there goes along.
    """

    path: str
    hint: Any
    required: bool
    default: object
    sentence: str
    inner: "tuple[Leaf, ...]" = ()
    is_carried: bool = False

    @property
    def is_nullable(self) -> bool:
        """Whether null says that there is none."""
        return type(None) in get_args(self.hint)

    @property
    def kind(self) -> FieldKind:
        """How a person enters it."""
        if self.inner:
            return "rows"
        members = hints.members(self.hint)
        if hints.is_list(self.hint):
            return "choices" if hints.literals(hints.item_hint(self.hint)) else "textarea"
        if hints.literals(self.hint):
            return "select"
        if bool in members:
            return "checkbox"
        if hints.said(self.hint, "code") == "invalid_decimal":
            return "money" if hints.bound(self.hint, "pattern") == AMOUNT_PATTERN else "decimal"
        if datetime.datetime in members:
            return "instant"
        if datetime.date in members:
            return "date"
        if int in members:
            return "number"
        if hints.said(self.hint, "form") == "an e-mail address":
            return "email"
        if hints.json_schema(self.hint).get("format") == "uri":
            return "text"
        return "textarea" if (hints.bound(self.hint, "max_length") or 0) > LONG_TEXT else "text"


@dataclass(frozen=True, slots=True)
class RequestFields:
    """The fields of a request that a form or a filter has.

    `wording` is by path, and so are `options`: what may be picked where the request takes any text; those of a row are
    named without its number. `is_filter`: they narrow a list, nothing is required and yes or no may be left open.
    `proposed` are values that an empty form begins with; a struct of which nothing else is filled is none, such as an
    address with a country alone, and so is a row.
    """

    leaves: Sequence[Leaf]
    wording: Mapping[str, Wording] | None = None
    is_filter: bool = False
    proposed: Mapping[str, str] | None = None

    def shown(
        self,
        given: Texts,
        errors: Sequence[FieldError] = (),
        options: Mapping[str, Sequence[Option]] | None = None,
        focus: str = "",
    ) -> list[Field]:
        """Each field with what was given for it and what is wrong with that. `focus` names where one goes on."""
        return [self._shown(leaf, given, errors, options or {}, focus) for leaf in self.leaves]

    def elsewhere(self, errors: Sequence[FieldError]) -> list[FieldError]:
        """What is wrong with values that nobody enters here."""
        entered = [leaf.path for leaf in self.leaves if not leaf.is_carried]
        return [error for error in errors if not any(_is_of(error, path) for path in entered)]

    def given(self, form: MultiDict[str, str]) -> dict[str, Sequence[str]]:
        """What a form brings for its fields. Rows in which nothing is entered are left out, as in `values`."""
        brought: dict[str, Sequence[str]] = {}
        for leaf in self.leaves:
            if leaf.inner:
                brought.update(texts_of_rows(leaf.path, self._filled_rows(leaf, form.to_dict(flat=False))))
            else:
                brought[leaf.path] = form.getlist(leaf.path)
        return brought

    def values(self, form: MultiDict[str, str], *, clears: bool = False) -> dict[str, Any]:
        """What JSON has of the fields of a form. What is empty is left out, or null where the form `clears`."""
        return self._values(form.to_dict(flat=False), clears=clears)

    def _values(self, given: Texts, *, clears: bool = False) -> dict[str, Any]:
        values: dict[str, Any] = {}
        empty = self._empty_structs(given)
        for leaf in self.leaves:
            if leaf.path.rpartition(".")[0] in empty:
                continue
            if leaf.inner:
                rows = [self.of_row(leaf)._values(row) for row in self._filled_rows(leaf, given)]
                value: Any = rows or ([] if leaf.required else None)
            else:
                value = _value(leaf, [text for text in given.get(leaf.path, ()) if text.strip()])
            is_there = bool(rows_in(given, leaf.path)) if leaf.inner else leaf.path in given
            if value is None and not (clears and leaf.is_nullable and is_there):
                continue
            _put(values, leaf.path.split("."), value)
        return values

    def _empty_structs(self, given: Texts) -> set[str]:
        """The structs of which nothing is filled but what was proposed."""
        proposed = self.proposed or {}
        filled = {leaf.path: texts for leaf in self.leaves if any(texts := given.get(leaf.path, ()))}
        entered = {path.rpartition(".")[0] for path, texts in filled.items() if texts[0].strip() != proposed.get(path)}
        return {path.rpartition(".")[0] for path in proposed} - entered - {""}

    def of_row(self, leaf: Leaf) -> "RequestFields":
        """The fields of each row of a leaf that has several."""
        wording, proposed = below(self.wording or {}, leaf.path), below(self.proposed or {}, leaf.path)
        return RequestFields(leaf.inner, wording, proposed=proposed)

    def empty_row(self, leaf: Leaf) -> dict[str, Sequence[str]]:
        """What a new row begins with: every field of it, so that it is told from none."""
        proposed = self.of_row(leaf).proposed or {}
        return {each.path: _texts_of(proposed.get(each.path, each.default)) for each in leaf.inner}

    def _filled_rows(self, leaf: Leaf, given: Texts) -> list[dict[str, Sequence[str]]]:
        """The rows in which something is entered that a new one does not begin with."""
        new = self.empty_row(leaf)
        entered = [each.path for each in leaf.inner if not each.is_carried]
        rows = (
            {each.path: row.get(each.path, []) for each in leaf.inner} for row in rows_in(given, leaf.path).values()
        )
        return [row for row in rows if any(_filled(row[path]) not in ([], new[path]) for path in entered)]

    def query(self, given: MultiDict[str, str]) -> dict[str, list[str]]:
        """What a GET is asked with: the fields that are filled."""
        filled = ((leaf.path, [text for text in given.getlist(leaf.path) if text]) for leaf in self.leaves)
        return {path: texts for path, texts in filled if texts}

    def _shown(
        self,
        leaf: Leaf,
        given: Texts,
        errors: Sequence[FieldError],
        options: Mapping[str, Sequence[Option]],
        focus: str,
    ) -> Field:
        if leaf.inner:
            made = self._rows(leaf, given, errors, options, focus)
        else:
            made = self._field(leaf, given, errors, options.get(leaf.path))
        return replace(made, kind="carried" if leaf.is_carried else made.kind, autofocus=made.name == focus)

    def _rows(
        self,
        leaf: Leaf,
        given: Texts,
        errors: Sequence[FieldError],
        options: Mapping[str, Sequence[Option]],
        focus: str,
    ) -> Field:
        wording = (self.wording or {}).get(leaf.path, Wording())
        inner, found = self.of_row(leaf), list(rows_in(given, leaf.path).values())
        rows = [{**dict.fromkeys(self.empty_row(leaf), ()), **row} for row in found] or [self.empty_row(leaf)]
        offered, shown, said = below(options, leaf.path), [], []
        for number, row in enumerate(rows):
            start = name_in_row(leaf.path, number, "")
            wrong = _errors_of_row(errors, leaf.path, number)
            fields = inner.shown(row, wrong, offered, focus.removeprefix(start) if focus.startswith(start) else "")
            shown.append([replace(each, name=start + each.name) for each in fields])
            said += [f"{wording.one.capitalize()} {number + 1}: {each.message}" for each in inner.elsewhere(wrong)]
        return Field(
            name=leaf.path,
            label=words_of(leaf.path) if wording.label is None else wording.label,
            hint=leaf.sentence if wording.hint is None else wording.hint,
            error=" ".join([*(error.message for error in errors if error.path == leaf.path), *said]),
            kind=leaf.kind,
            rows=shown,
            one=wording.one,
            most=hints.bound(leaf.hint, "max_length"),
        )

    def _field(self, leaf: Leaf, given: Texts, errors: Sequence[FieldError], options: Sequence[Option] | None) -> Field:
        wording = (self.wording or {}).get(leaf.path, Wording())
        proposed = (self.proposed or {}).get(leaf.path, leaf.default)
        texts = given.get(leaf.path, [] if self.is_filter else _texts_of(proposed))
        made = Field(
            name=leaf.path,
            label=words_of(leaf.path) if wording.label is None else wording.label,
            hint=wording.hint if wording.hint is not None else ("" if self.is_filter else leaf.sentence),
            error=" ".join(error.message for error in errors if _is_of(error, leaf.path)),
            kind=leaf.kind,
            value="\n".join(texts) if leaf.kind == "textarea" else next(iter(texts), ""),
            values=tuple(texts),
            required=leaf.required and not self.is_filter and leaf.kind != "choices",
            none=wording.none,
            group=words_of(leaf.path.rpartition(".")[0]) if "." in leaf.path else "",
            most=None if hints.is_list(leaf.hint) else hints.bound(leaf.hint, "max_length"),
        )
        return self._with_options(leaf, made, options)

    def _with_options(self, leaf: Leaf, made: Field, options: Sequence[Option] | None) -> Field:
        if options is not None:
            kind: FieldKind = "choices" if hints.is_list(leaf.hint) else "select" if self.is_filter else "entity"
            return replace(made, kind=kind, options=options)
        literals = hints.literals(hints.item_hint(leaf.hint) or leaf.hint)
        named = [Option(str(value), words_of(str(value))) for value in literals]
        if made.kind == "select":
            none = [] if made.required else [Option("", made.none or ("Any" if self.is_filter else "None"))]
            return replace(made, options=[*none, *named])
        if made.kind == "choices" and self.is_filter:  # one of them: a bar has no room for more
            return replace(made, kind="select", options=[Option("", "Any"), *named])
        if made.kind == "checkbox" and self.is_filter:
            return replace(made, kind="select", options=_BOOLEANS)
        return replace(made, options=named)


def fields_of(
    request: type[msgspec.Struct],
    names: Sequence[str],
    sentences: Sentences,
    wording: Mapping[str, Wording] | None = None,
    *,
    is_filter: bool = False,
    carries: bool = False,
) -> RequestFields:
    """The fields with these names on the wire, in this order; of one that is a struct or a list of them, all that it
    has, or what is named behind a dot: `lines.description`.

    No names: all that a person enters. Lists in rows, and maps of structs, have no fields. `carries`: what a row has
    and is not named goes along. Raises `KeyError` for a name that the request does not have.
    """
    there = {each.encode_name: each for each in hints.fields_of(request) if not _is_map_of_structs(each.type)}
    chosen: dict[str, list[str]] = {}
    for name in names or [name for name in there if name not in NEVER_ENTERED]:
        first, _, rest = name.partition(".")
        chosen.setdefault(first, []).extend([rest] if rest else [])
    leaves: list[Leaf] = []
    for name, parts in chosen.items():
        found = list(_leaves(request, there[name], "", sentences))
        if not parts:
            leaves += found
        elif found[0].inner:
            leaves.append(replace(found[0], inner=_named(found[0].inner, parts, carries=carries)))
        else:
            leaves += _named(found, [f"{name}.{part}" for part in parts], carries=False)
    return RequestFields(leaves, wording, is_filter)


def texts_of(resource: Mapping[str, Any], leaves: Sequence[Leaf]) -> dict[str, Sequence[str]]:
    """What a form begins with that changes a resource: its values, as the wire has them."""
    found: dict[str, Sequence[str]] = {}
    for leaf in leaves:
        value = _at(resource, leaf.path.split("."))
        if leaf.inner:
            found.update(texts_of_rows(leaf.path, [texts_of(each, leaf.inner) for each in value or ()]))
        elif (texts := _texts_of(value)) or "." not in leaf.path:
            found[leaf.path] = texts
    return found


def words_of(name: str) -> str:
    """A name of the wire, or a value of a closed set, as people read it: `legalEntityId` is "Legal entity"."""
    last = name.rpartition(".")[2]
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[a-z])(?=[0-9])|_", " ", last.removesuffix("Id") or last).split()
    text = " ".join(part.upper() if part.lower() in _CAPITALS else part.lower() for part in parts)
    return text[:1].upper() + text[1:]


def _leaves(struct: Any, of: msgspec.structs.FieldInfo, prefix: str, sentences: Sentences) -> Iterator[Leaf]:
    path = prefix + of.encode_name
    inner = None if hints.is_list(of.type) else hints.struct_in(of.type)
    if inner is None:
        said = _for_people(sentences.of(struct, of) or meaning_of(of.type))
        row = hints.struct_in(hints.item_hint(of.type))
        fields = () if row is None else [each for each in hints.fields_of(row) if not _is_of_structs(each.type)]
        in_row = tuple(leaf for each in fields for leaf in _leaves(row, each, "", sentences))
        yield Leaf(path, of.type, of.required, of.default, said, in_row)
        return
    for each in hints.fields_of(inner):
        for leaf in _leaves(inner, each, f"{path}.", sentences):
            yield leaf if of.required else replace(leaf, required=False)


def _named(leaves: Sequence[Leaf], paths: Sequence[str], *, carries: bool) -> tuple[Leaf, ...]:
    """Those with these paths, or below them, in their order; then the others, where they go along."""
    named = [leaf for path in paths for leaf in leaves if leaf.path == path or leaf.path.startswith(f"{path}.")]
    if unknown := [path for path in paths if not any((leaf.path + ".").startswith(path + ".") for leaf in named)]:
        raise KeyError(*unknown)
    others = [replace(leaf, is_carried=True) for leaf in leaves if leaf not in named] if carries else []
    return (*named, *others)


def _is_map_of_structs(hint: Any) -> bool:
    value = hints.value_hint(hint)
    return value is not None and hints.struct_in(value) is not None


def _is_of_structs(hint: Any) -> bool:
    """Whether its values are lists or maps of structs."""
    item = hints.item_hint(hint)
    return _is_map_of_structs(hint) or (item is not None and hints.struct_in(item) is not None)


def _for_people(sentence: str) -> str:
    sentences = re.split(r"(?<=[.;]) ", sentence)
    text = " ".join(each for each in sentences if not _ASIDE.search(each)).rstrip(";")
    return re.sub(r"`([^`]*)`", lambda code: words_of(code[1]).lower() if "_" in code[1] else code[1], text)


def _value(leaf: Leaf, texts: Sequence[str]) -> Any:
    """What JSON has for what was entered; None: nothing was. What is no number stays text: the operation says so."""
    if leaf.kind == "checkbox":
        return texts == ["true"]
    if hints.is_list(leaf.hint):
        lines = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
        return lines or ([] if leaf.required else None)
    if not texts:
        return None
    text = texts[0].strip()
    if leaf.kind == "instant" and _BARE_INSTANT.fullmatch(text):
        return f"{text}Z" if text.count(":") == 2 else f"{text}:00Z"
    return int(text) if leaf.kind == "number" and re.fullmatch(r"-?\d{1,18}", text) else text


def _put(values: dict[str, Any], path: Sequence[str], value: Any) -> None:
    first, *rest = path
    if not rest:
        values[first] = value
    else:
        _put(values.setdefault(first, {}), rest, value)


def _at(resource: Any, path: Sequence[str]) -> Any:
    for name in path:
        resource = resource.get(name) if isinstance(resource, Mapping) else None
    return resource


def _texts_of(value: object) -> list[str]:
    if value is None or value is msgspec.UNSET or value is msgspec.NODEFAULT:
        return []
    if isinstance(value, bool):
        return ["true"] if value else []
    if isinstance(value, list | tuple):
        return [str(each) for each in value]
    return [str(value)]


def _filled(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if text.strip()]


def _errors_of_row(errors: Sequence[FieldError], path: str, number: int) -> list[FieldError]:
    """What is wrong in one row, by the names of the fields in it; empty where it is the row itself."""
    start = f"{path}[{number}]"
    of_row = [error for error in errors if error.path == start or error.path.startswith(f"{start}.")]
    return [replace(error, path=error.path.removeprefix(start).removeprefix(".")) for error in of_row]


def _is_of(error: FieldError, path: str) -> bool:
    return error.path == path or error.path.startswith((f"{path}[", f"{path}."))
