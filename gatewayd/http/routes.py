"""From a method and a path to a row."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from gatewayd.contract.operation import Operation
from gatewayd.performing.prepared import PreparedOperation, prepare

_COMPARED: Final = 128  # the longest path that is compared with those there are
_PREFIXES: Final = frozenset({"api", "rpc", "v1", "v2"})
MOUNTS = ("/api/rpc", "")  # the webhook guide writes paths without the mount (Spec §4)


@dataclass(frozen=True, slots=True)
class Route:
    """One way to reach a row: its own path or the RPC-style alias."""

    prepared: PreparedOperation
    method: str
    path: str
    in_body: bool

    @property
    def operation(self) -> Operation:
        """The row."""
        return self.prepared.operation

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the path parameters, in the order of their values."""
        return self.prepared.operation.parameters


@dataclass(slots=True)
class _Node:
    """One segment of the paths with parameters."""

    literal: "dict[str, _Node]" = field(default_factory=dict)
    parameter: "_Node | None" = None
    routes: dict[str, Route] = field(default_factory=dict)


class Routes:
    """Every route of a catalogue. Literal segments go before parameters."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._fixed: dict[str, dict[str, Route]] = {}
        self._root = _Node()
        self._templates: dict[int, list[list[str]]] = {}
        self._lists: dict[str, str] = {}
        for operation in operations:
            prepared = prepare(operation)
            template = operation.path.split("/")[1:]
            self._templates.setdefault(len(template), []).append(template)
            if operation.method == "GET" and not operation.parameters:
                self._lists.setdefault(_listed(operation), operation.path)
            for method, path in _addresses(operation):
                in_body = method in ("POST", "PATCH") and not operation.takes_file
                self._add(Route(prepared, method, path, in_body))

    def find(self, path: str) -> tuple[Mapping[str, Route], Sequence[str]]:
        """The routes of a path by method, and the values of its parameters; no routes where the path is unknown."""
        fixed = self._fixed.get(path)
        if fixed is not None:
            return fixed, ()
        for mount in MOUNTS:
            if path.startswith(mount + "/"):
                values: list[str] = []
                node = _walk(self._root, path[len(mount) + 1 :].split("/"), 0, values)
                if node is not None:
                    return node.routes, values
        return _NO_ROUTES, ()

    def nearest(self, path: str) -> str | None:
        """The path that was probably meant, its parameters in braces; None: none comes close.

        It differs in a beginning such as `/v1`, in the case of letters, or in one segment, or is the name of what an
        operation lists: `/tenancies`.
        """
        if len(path) > _COMPARED:
            return None
        segments = path.strip("/").lower().split("/")
        while segments and segments[0] in _PREFIXES:
            del segments[0]
        near = [(_unlike(segments, template), template) for template in self._templates.get(len(segments), ())]
        for unlike, template in near:
            if not unlike:
                return _shown(template)
        for index, segment in enumerate(segments):
            words = {template[index].lower(): template for unlike, template in near if unlike == [index]}
            if matches := get_close_matches(segment, words, 1, 0.7):
                return _shown(words[matches[0]])
        if len(segments) == 1 and (matches := get_close_matches(_bare(segments[0]), self._lists, 1, 0.8)):
            return self._lists[matches[0]]
        return None

    def _add(self, route: Route) -> None:
        if ":" not in route.path:
            for mount in MOUNTS:
                self._fixed.setdefault(mount + route.path, {})[route.method] = route
            return
        node = self._root
        for segment in route.path.split("/")[1:]:
            if segment.startswith(":"):
                node.parameter = node.parameter or _Node()
                node = node.parameter
            else:
                node = node.literal.setdefault(segment, _Node())
        node.routes[route.method] = route


_NO_ROUTES: Mapping[str, Route] = {}


def _listed(operation: Operation) -> str:
    """What an operation lists, as it may be looked for at a path of its own: `tenancies`, `legalentities`."""
    area, _, action = operation.id.partition(".")
    return _bare(area if action == "list" else action.removeprefix("list").removeprefix("get"))


def _bare(segment: str) -> str:
    return segment.replace("-", "").replace("_", "").lower()


def _unlike(segments: list[str], template: list[str]) -> list[int]:
    """Where a path has another segment than a template, in any letter case."""
    pairs = enumerate(zip(segments, template, strict=True))
    return [index for index, (segment, word) in pairs if word[0] != ":" and segment != word.lower()]


def _shown(template: list[str]) -> str:
    return "".join(f"/{{{word[1:]}}}" if word[0] == ":" else f"/{word}" for word in template)


def _walk(node: _Node, segments: list[str], index: int, values: list[str]) -> _Node | None:
    if index == len(segments):
        return node if node.routes else None
    segment = segments[index]
    literal = node.literal.get(segment)
    end = _walk(literal, segments, index + 1, values) if literal is not None else None
    if end is not None or node.parameter is None or not segment:
        return end
    values.append(segment)
    end = _walk(node.parameter, segments, index + 1, values)
    if end is None:
        values.pop()
    return end


def _addresses(operation: Operation) -> Iterator[tuple[str, str]]:
    """Method and path of the row itself, then of its RPC-style alias."""
    yield operation.method, operation.path
    if operation.alias != operation.path:
        yield from ((method, operation.alias) for method in operation.alias_methods)
