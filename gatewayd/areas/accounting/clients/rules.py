"""The rules that the fields of a client follow. Pure."""

from collections.abc import Iterator

from msgspec.structs import replace

from gatewayd.areas.accounting import client_checks
from gatewayd.areas.accounting.clients.shapes import StoredClient
from gatewayd.errors import FieldError


def number_mistakes(client: StoredClient, prefix: str) -> Iterator[FieldError]:
    """What is wrong with a client's numbers in its country. `prefix` goes before the paths."""
    country = client.country_code
    if client.vat_number is not None and client_checks.vat_number(client.vat_number, country) is None:
        message = "This is not a VAT number of its country, such as GB123456782: check its digits."
        yield FieldError(f"{prefix}vatNumber", "invalid_vrn", message)
    if client.company_number is not None and client_checks.company_number(client.company_number, country) is None:
        yield FieldError(
            f"{prefix}companyNumber",
            "invalid_company_number",
            "Expected 8 digits, or 2 letters and 6 digits, such as SC123456.",
        )


def alias_mistakes(contractor: object, registered: object, prefix: str) -> Iterator[FieldError]:
    """What is wrong with `cisContractor` and its other name, `cisRegistered`, where a request gives both."""
    if isinstance(contractor, bool) and isinstance(registered, bool) and contractor != registered:
        message = "It is another name of `cisContractor`, which differs: give one."
        yield FieldError(f"{prefix}cisRegistered", "conflict", message)


def canonical(client: StoredClient) -> StoredClient:
    """The client with its numbers as they are kept; they are right."""
    country = client.country_code
    return replace(
        client,
        company_number=client.company_number and client_checks.company_number(client.company_number, country),
        vat_number=client.vat_number and client_checks.vat_number(client.vat_number, country),
    )
