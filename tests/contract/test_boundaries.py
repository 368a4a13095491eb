"""Every field of every row, just inside its bounds and just outside, through the decoder that requests go through.

What the bounds are is read from the description that is checked in, not from the structs that decode.
"""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import pytest

from gatewayd.contract.decoding import RequestDecoder
from gatewayd.errors import Problem
from tests.contract.boundaries import UNKNOWN, Json, Trial, sample, trials
from tests.contract.conftest import OpenCatalogue
from tests.contract.description import ROWS, DescribedRow
from tests.contract.rows import BY_ID, example, query_of, send
from tests.support.api import TestedApi

OF_HANDLERS = {
    "webhooks.create": {"url", "events"},
    "webhooks.update": {"url", "events"},
    "webhooks.sendTest": {"event"},
    "webhooks.listDeliveries": {"event"},
    "webhooks.recover": {"events"},
    "events.list": {"event"},
}
"""Fields of which the handler says what is wrong, with words of its own: the decoder takes them."""

each = pytest.mark.parametrize("operation_id", ROWS)


class Answer(NamedTuple):
    """How a trial was answered. `paths` are those in `errors[]`."""

    trial: Trial
    status: int
    paths: set[str]

    @property
    def is_right(self) -> bool:
        if self.trial.inside:
            return self.status == 200
        return self.status in (400, 422) and self.paths == {self.trial.path}

    def __str__(self) -> str:
        return f"{self.trial.path} {self.trial.why}: {self.status} {sorted(self.paths)}"


def decoded(row: DescribedRow, *, inside: bool) -> Iterator[Answer]:
    """What the decoder says to each trial of a row."""
    decoder = RequestDecoder(BY_ID[row.id])
    body = None if row.body is None else sample(row.body)
    for trial in trials(row.parameters, in_query=True):
        if trial.inside == inside and (body is None or trial.path != UNKNOWN):
            yield Answer(trial, *decode(decoder, row, trial.request, body))
    if row.body is not None:
        parameters = sample(row.parameters)
        for trial in trials(row.body, in_query=False):
            if trial.inside == inside:
                yield Answer(trial, *decode(decoder, row, parameters, trial.request))


def decode(decoder: RequestDecoder, row: DescribedRow, parameters: Json, body: Json | None) -> tuple[int, set[str]]:
    """The status and the paths in `errors[]` for what stands in path and query and what stands in the body."""
    in_path = {name: str(value) for name, value in parameters.items() if name in row.in_path}
    try:
        if body is not None:
            decoder.body(msgspec.json.encode(body), in_path)
        else:
            decoder.query(query_of({name: parameters[name] for name in parameters.keys() - in_path.keys()}), in_path)
    except Problem as problem:
        return problem.status, {error.path for error in problem.errors}
    return 200, set()


async def handle(api: TestedApi, ids: dict[str, str], operation_id: str, trial: Trial) -> Answer:
    """What the row says to its own example with the trial's field in it."""
    operation = BY_ID[operation_id]
    reply = await send(api, operation, {**example(operation, ids), trial.field: trial.request[trial.field]})
    return Answer(trial, reply.status, {error["path"] for error in reply.json().get("errors", ())})


@each
def test_a_value_inside_is_taken(operation_id: str) -> None:
    answers = decoded(ROWS[operation_id], inside=True)
    assert [str(answer) for answer in answers if not answer.is_right] == []


@each
async def test_a_value_outside_is_refused_with_its_path(open_catalogue: OpenCatalogue, operation_id: str) -> None:
    wrong = [answer for answer in decoded(ROWS[operation_id], inside=False) if not answer.is_right]
    of_handler = [a for a in wrong if a.status == 200 and a.trial.field in OF_HANDLERS.get(operation_id, ())]
    if of_handler:
        wrong = [answer for answer in wrong if answer not in of_handler]
        async with open_catalogue() as (api, ids):
            handled = [await handle(api, ids, operation_id, answer.trial) for answer in of_handler]
        wrong += [answer for answer in handled if not answer.is_right]
    assert [str(answer) for answer in wrong] == []
