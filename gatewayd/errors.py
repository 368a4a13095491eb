"""The closed set of errors of the API (domain model §0.2). `http/render.py` is the one place that writes them out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class ErrorKind(NamedTuple):
    """What never changes about an error: its HTTP status and its short title."""

    status: int
    title: str


ERRORS: Mapping[str, ErrorKind] = {
    "invalid_request": ErrorKind(400, "The request is malformed"),
    "invalid_json": ErrorKind(400, "The body is not valid JSON"),
    "unknown_parameter": ErrorKind(400, "A parameter or field is not known"),
    "invalid_cursor": ErrorKind(400, "The cursor does not belong to this list"),
    "fraud_headers_invalid": ErrorKind(400, "Fraud-prevention headers are missing or malformed"),
    "test_header_in_production": ErrorKind(400, "A test header was sent to the real tax authority"),
    "authentication_required": ErrorKind(401, "A credential is needed"),
    "invalid_token": ErrorKind(401, "The credential is not valid"),
    "insufficient_credits": ErrorKind(402, "There are not enough credits"),
    "insufficient_scope": ErrorKind(403, "The credential lacks a scope"),
    "organization_suspended": ErrorKind(403, "Nobody acts for the organization now"),
    "public_links_disabled": ErrorKind(403, "Public links are switched off"),
    "forbidden": ErrorKind(403, "The caller may not do this"),
    "not_found": ErrorKind(404, "There is no such thing"),
    "method_not_allowed": ErrorKind(405, "The method is not allowed here"),
    "not_acceptable": ErrorKind(406, "The answer is only available as JSON"),
    "already_exists": ErrorKind(409, "It exists already"),
    "checksum_mismatch": ErrorKind(409, "The bytes are not those that were meant"),
    "count_mismatch": ErrorKind(409, "It holds another number than was meant"),
    "currency_mismatch": ErrorKind(409, "An amount is in a currency without a rate of exchange"),
    "duplicate_content": ErrorKind(409, "These bytes are there already"),
    "folder_cycle": ErrorKind(409, "A folder cannot lie in itself"),
    "idempotency_conflict": ErrorKind(409, "The idempotency key was used with another request"),
    "invalid_state": ErrorKind(409, "The state does not allow this"),
    "limit_reached": ErrorKind(409, "A limit is reached"),
    "name_taken": ErrorKind(409, "The name is taken"),
    "not_uploaded": ErrorKind(409, "Its bytes are not there yet"),
    "number_taken": ErrorKind(409, "The number is taken"),
    "overlapping_tenancy": ErrorKind(409, "It is let to somebody else on some of these days"),
    "period_closed": ErrorKind(409, "The period is closed"),
    "possible_duplicate": ErrorKind(409, "It looks like one that exists"),
    "tax_not_connected": ErrorKind(409, "The organization is not connected to the tax authority"),
    "tax_reauthorisation_required": ErrorKind(409, "The tax authority wants the organization to authorise again"),
    "upload_expired": ErrorKind(409, "The upload was not made in time"),
    "upload_offset_mismatch": ErrorKind(409, "The upload stands elsewhere"),
    "upload_missing": ErrorKind(409, "The bytes are not there yet"),
    "version_conflict": ErrorKind(409, "It has changed meanwhile"),
    "cursor_expired": ErrorKind(410, "What changed since then is not known any more"),
    "gone": ErrorKind(410, "It is gone"),
    "tus_version_not_supported": ErrorKind(412, "The version of the upload protocol is not supported"),
    "payload_too_large": ErrorKind(413, "The body is too large"),
    "unsupported_media_type": ErrorKind(415, "The body has a form that is not taken"),
    "amount_mismatch": ErrorKind(422, "The amounts contradict each other"),
    "insufficient_quantity": ErrorKind(422, "More would leave than is held"),
    "no_thumbnail_for_type": ErrorKind(422, "There is no picture of a document of this type"),
    "validation_failed": ErrorKind(422, "Some values are not valid"),
    "part_checksum_mismatch": ErrorKind(460, "The bytes of the part are not those that were sent"),
    "misdirected_request": ErrorKind(421, "Nothing is served under that host's name"),
    "rate_limited": ErrorKind(429, "Too many requests"),
    "request_timeout": ErrorKind(408, "The request took too long to arrive"),
    "headers_too_large": ErrorKind(431, "The headers are too large"),
    "uri_too_long": ErrorKind(414, "The address is too long"),
    "not_implemented": ErrorKind(501, "The transfer coding is not supported"),
    "version_not_supported": ErrorKind(505, "The HTTP version is not supported"),
    "internal_error": ErrorKind(500, "Something went wrong on our side"),
    "unavailable": ErrorKind(503, "The service cannot answer now"),
    "tax_upstream_error": ErrorKind(502, "The tax service gave no answer that can be passed on"),
    "tax_not_configured": ErrorKind(503, "No tax service is configured here"),
    "tax_upstream_timeout": ErrorKind(504, "The tax service did not answer in time"),
}

COMMON_ERRORS = (
    "invalid_request",
    "invalid_json",
    "unknown_parameter",
    "authentication_required",
    "invalid_token",
    "insufficient_credits",
    "insufficient_scope",
    "organization_suspended",
    "forbidden",
    "not_found",
    "not_acceptable",
    "payload_too_large",
    "uri_too_long",
    "unsupported_media_type",
    "validation_failed",
    "rate_limited",
    "headers_too_large",
    "internal_error",
    "unavailable",
)
"""Codes that any operation may answer with, beside those of its row."""

FIELD_CODES = frozenset(
    {
        "required",
        "invalid_format",
        "invalid_decimal",
        "out_of_range",
        "unknown_reference",
        "unknown_parameter",
        "invalid_enum",
        "date_order",
        "currency_mismatch",
        "conflict",
        "invalid_company_number",
        "invalid_nino",
        "invalid_url",
        "invalid_utr",
        "invalid_vrn",
        "nino_required",
        "range_too_long",
        "reverse_charge_end_user",
        "reverse_charge_needs_vrn",
        "seller_address_required",
        "share_total",
        "unknown_event",
        "unreadable_file",
        "vat_not_registered",
        "vat_rate_invalid_on_date",
    }
)
"""Codes of single fields, in `errors[]` of a problem."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field that is wrong. `path` is dotted from the body's root: `lines[0].unitPrice`."""

    path: str
    code: str
    message: str


class Problem(Exception):
    """An error the caller is meant to read.

    `code` is a key of `ERRORS`; `extra` members are added to the answer (`currentState`, `allowedStates`);
    `headers` are sent with it.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        errors: tuple[FieldError, ...] = (),
        extra: Mapping[str, object] | None = None,
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.errors = errors
        self.extra = extra or {}
        self.headers = headers

    @property
    def status(self) -> int:
        """The HTTP status."""
        return ERRORS[self.code].status


def not_found(kind: str) -> Problem:
    """404: no such `kind` in the caller's organization; another organization's looks the same."""
    return Problem("not_found", f"There is no such {kind}.")


def invalid(*errors: FieldError) -> Problem:
    """422 with every field that is wrong, told once where two steps see the same."""
    each = tuple(dict.fromkeys(errors))
    more = f" ({len(each) - 1} more)" if len(each) > 1 else ""
    return Problem("validation_failed", f"{each[0].path}: {each[0].message}{more}", errors=each)


def invalid_field(path: str, code: str, message: str) -> Problem:
    """422 with one field that is wrong."""
    return invalid(FieldError(path, code, message))


def gathered(errors: list[FieldError], step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """What a step of a request comes to. Where it raises what is wrong with fields, they are added to `errors`: None.

    So steps that do not depend on each other are all looked at before a request is refused. Another problem is raised,
    behind the fields that are wrong already.
    """
    try:
        return step(*args, **kwargs)
    except Problem as problem:
        if problem.code == "validation_failed" and problem.errors:
            errors += problem.errors
            return None
        if errors:
            raise invalid(*errors) from None
        raise


def invalid_state(message: str, current: str, allowed: tuple[str, ...]) -> Problem:
    """409: a transition that the state machine does not have. `allowed` are the states in which it would be done.

    None are where something else stands in the way; the message then says what, and which operation mends it.
    """
    return Problem("invalid_state", message, extra={"currentState": current, "allowedStates": list(allowed)})


def either(values: Sequence[str]) -> str:
    """`draft`, `issued or sent`, `issued, sent or paid`: the values of which one will do."""
    return " or ".join(filter(None, (", ".join(values[:-1]), values[-1])))


def archived_already(kind: str, allowed: str = "active") -> Problem:
    """409: a `kind` that is archived is to be archived again; `allowed` is the state that it can come back to."""
    message = f"The {kind} is archived already: only one that is {allowed} can be archived."
    return invalid_state(message, "archived", (allowed,))


def with_article(kind: str) -> str:
    """`a lead`, `an invoice`."""
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"


def external_id_exists(kind: str, existing_id: str) -> Problem:
    """409: a `kind` with this externalId is there already."""
    message = (
        f"{with_article(kind).capitalize()} with this externalId exists: {existing_id}."
        " Use that one, or another externalId."
    )
    return Problem("already_exists", message, extra={"existingId": existing_id, "field": "externalId"})


def version_conflict(expected: int, actual: int) -> Problem:
    """409: `expectedVersion` is not the version stored."""
    return Problem(
        "version_conflict",
        f"Version {expected} was expected, but version {actual} is stored: read it again, then repeat the change.",
        extra={"currentVersion": actual},
    )
