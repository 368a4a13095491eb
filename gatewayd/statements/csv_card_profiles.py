"""CSV exports of cards in Britain, by their headings, as `csv_profiles` has those of accounts."""

from gatewayd.statements.csv_profile import Profile
from gatewayd.statements.shapes import Mapping

_DAY_FIRST = "dd/mm/yyyy"

CARDS = (
    Profile(
        name="lloyds_card",
        bank="Lloyds, Halifax, Bank of Scotland or MBNA",
        headings=("Date", "Date entered", "Reference", "Description", "Amount"),
        mapping=Mapping(
            date="Date entered",
            value_date="Date",
            date_format=_DAY_FIRST,
            description=("Description",),
            amount="Amount",
            negate=True,
            transaction_id="Reference",
        ),
        source="github.com/firefly-iii/import-configurations gb/mbna 50adfe7",
        seen="2026-06",
    ),
    Profile(
        name="amex",
        bank="American Express",
        headings=("Date", "Description", "Amount", "Extended Details", "Appears On Your Statement As", "Reference"),
        mapping=Mapping(
            date="Date",
            date_format=_DAY_FIRST,
            description=("Description",),
            amount="Amount",
            negate=True,
            transaction_id="Reference",
        ),
        source="github.com/jmcameron/amex2qif README.md format 4; github.com/jbmilgrom/budget-interpreter src/amex",
        seen="2022-05",
    ),
    Profile(
        name="barclaycard_business",
        bank="Barclaycard Business",
        headings=(
            *("Account Number", "Transaction Date", "Merchant Name", "Amount", "Currency", "Original Amount"),
            *("Original Currency", "Conversion Rate", "Posted Date", "Transaction ID"),
        ),
        mapping=Mapping(
            date="Posted Date",
            value_date="Transaction Date",
            date_format=_DAY_FIRST,
            description=("Merchant Name",),
            amount="Amount",
            negate=True,
            currency="Currency",
            counterparty="Merchant Name",
            transaction_id="Transaction ID",
            original_amount="Original Amount",
            original_currency="Original Currency",
            account_number="Account Number",
        ),
        source="github.com/bank2ynab/bank2ynab bank2ynab.conf [UK Barclaycard Business Credit Card] 3fbdbc5",
        seen="2019-04",
    ),
    Profile(
        name="john_lewis",
        bank="John Lewis Partnership Card",
        headings=("Date Processed", "Description", "Amount"),
        mapping=Mapping(
            date="Date Processed",
            date_format=_DAY_FIRST,
            description=("Description",),
            amount="Amount",
            direction=3,  # CR, below no heading
            negate=True,
        ),
        source="github.com/bank2ynab/bank2ynab test/test-data/MS_JANE_SMITH_01-12-2019_14-12-2019.csv 3fbdbc5",
        seen="2019-12",
    ),
    Profile(
        name="tesco",
        bank="Tesco Bank",
        headings=("Transaction Date", "Posting Date", "Billing Amount", "Merchant", "Debit/Credit Flag", "SICMCC Code"),
        mapping=Mapping(
            date="Posting Date",
            value_date="Transaction Date",
            date_format=_DAY_FIRST,
            description=("Merchant",),
            amount="Billing Amount",
            direction="Debit/Credit Flag",
            negate=True,
            counterparty="Merchant",
            transaction_id="Reference Number",
            merchant_category_code="SICMCC Code",
        ),
        source="github.com/firefly-iii/import-configurations gb/tesco-bank 50adfe7 (order of the columns)",
        seen="2026-06",
    ),
    Profile(
        name="virgin_money_card",
        bank="Virgin Money",
        headings=(
            *("Transaction Date", "Posting Date", "Billing Amount", "Merchant", "Reference Number"),
            *("Debit or Credit", "SICMCC Code", "Status"),
        ),
        mapping=Mapping(
            date="Posting Date",
            value_date="Transaction Date",
            date_format=_DAY_FIRST,
            description=("Merchant",),
            amount="Billing Amount",
            direction="Debit or Credit",
            status="Status",
            counterparty="Merchant",
            transaction_id="Reference Number",
            merchant_category_code="SICMCC Code",
        ),
        source="github.com/seankhliao/mono cmd/cli/fin/convert.go 3c49617",
        seen="2026-04",
    ),
)
