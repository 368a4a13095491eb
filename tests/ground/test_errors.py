"""The closed set of errors."""

import pytest

from gatewayd.errors import (
    ERRORS,
    FIELD_CODES,
    FieldError,
    Problem,
    gathered,
    invalid,
    invalid_field,
    invalid_state,
    not_found,
    version_conflict,
)

_COMMON = {  # domain model 0.2, "Common errors"
    400: {"invalid_request", "unknown_parameter", "invalid_cursor", "invalid_json"},
    401: {"authentication_required", "invalid_token"},
    402: {"insufficient_credits"},
    403: {"insufficient_scope"},
    404: {"not_found"},
    405: {"method_not_allowed"},
    406: {"not_acceptable"},
    409: {"version_conflict", "idempotency_conflict", "already_exists", "invalid_state", "period_closed"},
    413: {"payload_too_large"},
    415: {"unsupported_media_type"},
    422: {"validation_failed"},
    429: {"rate_limited"},
    500: {"internal_error"},
    503: {"unavailable"},
}


@pytest.mark.parametrize("status", sorted(_COMMON))
def test_the_common_errors_have_their_status(status: int) -> None:
    assert {code for code, kind in ERRORS.items() if kind.status == status} >= _COMMON[status]


def test_every_error_is_one_of_http() -> None:
    assert all(400 <= kind.status < 600 and kind.title for kind in ERRORS.values())


def test_the_field_codes_of_the_domain_model_are_known() -> None:
    common = {"required", "invalid_format", "invalid_decimal", "out_of_range", "unknown_reference", "invalid_enum"}
    assert common | {"date_order", "currency_mismatch"} <= FIELD_CODES


def test_a_problem_knows_its_status_and_says_its_code() -> None:
    problem = Problem("rate_limited", "Wait.", headers=((b"retry-after", b"1"),))
    assert problem.status == 429
    assert str(problem) == "rate_limited: Wait."
    assert problem.extra == {}


def test_invalid_counts_the_other_fields() -> None:
    one, two = FieldError("a", "required", "Needed."), FieldError("b", "required", "Needed.")
    assert invalid(one).message == "a: Needed."
    assert invalid(one, two).message == "a: Needed. (1 more)"
    assert invalid(one, two).errors == (one, two)
    assert invalid_field("a", "required", "Needed.").errors == (one,)


def test_the_makers_give_what_clients_need() -> None:
    assert not_found("invoice").status == 404
    assert invalid_state("No.", "draft", ("issued",)).extra == {"currentState": "draft", "allowedStates": ["issued"]}
    assert version_conflict(1, 2).extra == {"currentVersion": 2}


def step(outcome: Problem | str) -> str:
    """What a step of a request comes to."""
    if isinstance(outcome, Problem):
        raise outcome
    return outcome


def test_what_a_step_finds_wrong_is_gathered() -> None:
    errors = [FieldError("a", "required", "Needed.")]
    assert gathered(errors, step, "done") == "done"
    assert gathered(errors, step, outcome=invalid_field("b", "date_order", "Too early.")) is None
    assert [error.path for error in errors] == ["a", "b"]


def test_another_problem_of_a_step_is_raised_behind_what_is_wrong_already() -> None:
    with pytest.raises(Problem) as alone:
        gathered([], step, not_found("invoice"))
    assert alone.value.code == "not_found"
    with pytest.raises(Problem) as behind:
        gathered([FieldError("a", "required", "Needed.")], step, not_found("invoice"))
    assert (behind.value.code, behind.value.errors[0].path) == ("validation_failed", "a")


def test_a_refusal_without_fields_is_not_gathered() -> None:
    with pytest.raises(Problem, match="It cannot be read"):
        gathered([], step, Problem("validation_failed", "It cannot be read."))


def test_a_field_that_two_steps_find_wrong_is_told_once() -> None:
    one = FieldError("a", "required", "Needed.")
    assert invalid(one, one).errors == (one,)
    assert invalid(one, one).message == "a: Needed."
