"""CSV exports of firms that take payments and hold what came in, by their headings, as `csv_profiles` has banks'.

What moved in their account is the net amount: fees are taken from it at once.
"""

from gatewayd.statements.csv_profile import Profile
from gatewayd.statements.shapes import Mapping

WALLETS = (
    Profile(
        name="paypal",
        bank="PayPal",
        headings=("Date", "Name", "Type", "Status", "Currency", "Gross", "Fee", "Net", "Transaction ID"),
        mapping=Mapping(  # without the balance, which counts what is pending as well
            date="Date",  # in the order of the country, which the dates show
            description=("Name", "Type", "Item Title"),
            amount="Net",
            currency="Currency",
            counterparty="Name",
            type="Type",
            status="Status",
            transaction_id="Transaction ID",
        ),
        source="github.com/simonmichael/hledger examples/csv/other/paypal-custom.csv f986e21; "
        "github.com/nils-werner/beancount-paypal tests/testdata/test_e2e input.csv 12f991d",
        seen="2025-10",
    ),
    Profile(
        name="stripe",
        bank="Stripe",
        headings=("id", "Type", "Source", "Amount", "Fee", "Net", "Currency", "Created (UTC)", "Available On (UTC)"),
        mapping=Mapping(
            date="Created (UTC)",
            value_date="Available On (UTC)",
            description=("Description", "Type"),
            amount="Net",
            currency="Currency",
            type="Type",
            reference="Source",
            transaction_id="id",
        ),
        source="github.com/nordbergm/stripe2ofx README.md, in its fork by jotaodiceu (balance_history.csv)",
        seen="2026-09",
    ),
    Profile(
        name="stripe_report",
        bank="Stripe",
        headings=(
            *("balance_transaction_id", "created_utc", "available_on_utc", "currency", "gross", "fee", "net"),
            "reporting_category",
        ),
        mapping=Mapping(
            date="created_utc",
            value_date="available_on_utc",
            description=("description", "reporting_category"),
            amount="net",
            currency="currency",
            type="reporting_category",
            transaction_id="balance_transaction_id",
        ),
        source="github.com/simonmichael/hledger examples/csv/other/stripe.csv f986e21",
        seen="2020-01",
    ),
)
