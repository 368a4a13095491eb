"""The description that is checked in, `docs/openapi.json`: what tests take for true of a row."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from tests.contract.generate import FILE

JSON = "application/json"

Json = dict[str, Any]


DESCRIPTION: Json = msgspec.json.decode(FILE.read_bytes())


class DescribedRow(NamedTuple):
    """One operation of the file."""

    method: str
    path: str
    item: Json

    @property
    def id(self) -> str:
        return str(self.item["operationId"])

    @property
    def in_path(self) -> list[str]:
        return [parameter["name"] for parameter in self.item["parameters"] if parameter["in"] == "path"]

    @property
    def answer(self) -> Json:
        """The JSON Schema of the 200 answer, standing alone."""
        return standing_alone(self.item["responses"]["200"]["content"][JSON]["schema"])

    @property
    def body(self) -> Json | None:
        """The JSON Schema of the body, standing alone; None where the request is a query, with a file beside it too."""
        content = self.item.get("requestBody", {}).get("content", {})
        return standing_alone(content[JSON]["schema"]) if JSON in content else None

    @property
    def parameters(self) -> Json:
        """The JSON Schema of what stands in path and query, as one object, standing alone."""
        parameters = [parameter for parameter in self.item["parameters"] if parameter["in"] != "header"]
        return standing_alone(
            {
                "type": "object",
                "properties": {parameter["name"]: parameter["schema"] for parameter in parameters},
                "required": [parameter["name"] for parameter in parameters if parameter["required"]],
                "additionalProperties": False,
            }
        )

    @property
    def request(self) -> Json:
        """The body where there is one, else the parameters."""
        return self.body or self.parameters


def standing_alone(schema: Mapping[str, Any]) -> Json:
    """A schema of the document that its references can be followed from; itself it is none."""
    components = DESCRIPTION["components"]
    name = schema.get("$ref", "").rpartition("/")[2]
    return {**(components["schemas"][name] if name else schema), "components": components}


def _rows() -> Iterator[DescribedRow]:
    for template, item in DESCRIPTION["paths"].items():
        for method, row in item.items():
            yield DescribedRow(method.upper(), re.sub(r"{(\w+)}", r":\1", template), row)


ROWS = {row.id: row for row in _rows()}
