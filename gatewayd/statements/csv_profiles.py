"""CSV exports of banks in Britain, by their headings. Each has its source; one without is not added (Domain E).

A file is a profile's when it has all of its headings, in whatever order and among whatever others.
"""

from gatewayd.statements.csv_card_profiles import CARDS
from gatewayd.statements.csv_profile import Profile
from gatewayd.statements.csv_wallet_profiles import WALLETS
from gatewayd.statements.shapes import Mapping

_DAY_FIRST = "dd/mm/yyyy"

_ACCOUNTS = (
    Profile(
        name="barclays",
        bank="Barclays",
        headings=("Number", "Date", "Account", "Amount", "Subcategory", "Memo"),
        mapping=Mapping(
            date="Date",
            date_format=_DAY_FIRST,
            amount="Amount",
            description=("Memo",),
            type="Subcategory",
            account_number="Account",
        ),
        source="github.com/firefly-iii/import-configurations gb/barclays 50adfe7; "
        "github.com/MatthewJohn/Firefly-iii-CSV-Converter convert.py 966018f",
        seen="2026-06",
    ),
    Profile(
        name="lloyds",
        bank="Lloyds, Halifax, Bank of Scotland or TSB",
        headings=(
            *("Transaction Date", "Transaction Type", "Sort Code", "Account Number", "Transaction Description"),
            *("Debit Amount", "Credit Amount", "Balance"),
        ),
        mapping=Mapping(
            date="Transaction Date",
            date_format=_DAY_FIRST,  # of TSB the year stands first, which a date shows itself
            description=("Transaction Description",),
            paid_in="Credit Amount",
            paid_out="Debit Amount",
            balance="Balance",
            type="Transaction Type",
            sort_code="Sort Code",
            account_number="Account Number",
        ),
        source="github.com/Metasaura/ofxstatement-lloyds tests/sample-statement.csv bd7491d; "
        "github.com/firefly-iii/import-configurations gb/lloyds, gb/halifax 50adfe7",
        seen="2026-02",
    ),
    Profile(
        name="natwest",
        bank="NatWest, Royal Bank of Scotland or Ulster Bank",
        headings=("Date", "Type", "Description", "Value", "Balance", "Account Name", "Account Number"),
        mapping=Mapping(
            date="Date",
            date_format=_DAY_FIRST,
            description=("Description",),
            amount="Value",
            balance="Balance",
            type="Type",
            account_name="Account Name",
            account_number="Account Number",
        ),
        source="github.com/Joshibbotson/bank-statement-parse src/types/NatwestStatement.ts 90fa8bf; "
        "github.com/joesingo/bank-statements bank.py 8a24513",
        seen="2024-01",
    ),
    Profile(
        name="nationwide",
        bank="Nationwide",
        headings=("Date", "Transaction type", "Description", "Paid out", "Paid in", "Balance"),
        mapping=Mapping(
            date="Date",
            date_format=_DAY_FIRST,
            description=("Transaction type", "Description"),
            paid_in="Paid in",
            paid_out="Paid out",
            balance="Balance",
            type="Transaction type",
        ),
        source="github.com/WillOnGit/nationwide-transaction-parser fixtures/test-statement.csv 50cb871",
        seen="2026-01",
    ),
    Profile(
        name="midata",
        bank="HSBC, Nationwide, Santander and others that offer midata",
        headings=("Date", "Type", "Merchant/Description", "Debit/Credit", "Balance"),
        mapping=Mapping(
            date="Date",
            date_format=_DAY_FIRST,
            description=("Merchant/Description",),
            amount="Debit/Credit",
            balance="Balance",
            type="Type",
        ),
        source="github.com/WillOnGit/nationwide-transaction-parser fixtures/test-midata.csv 50cb871; "
        "github.com/joesingo/bank-statements bank.py 8a24513 (HSBC; Santander with semicolons)",
        seen="2026-01",
    ),
    Profile(
        name="hsbc",
        bank="HSBC",
        headings=("Date", "Type", "Description", "Paid out", "Paid in", "Balance"),
        mapping=Mapping(
            date="Date",
            date_format=_DAY_FIRST,
            description=("Description",),
            paid_in="Paid in",
            paid_out="Paid out",
            balance="Balance",
            type="Type",
        ),
        source="github.com/olehsvyrydov/selfemploy-uk HsbcCsvParser 2abdf85",
        seen="2026-08",
    ),
    Profile(
        name="monzo",
        bank="Monzo",
        headings=("Transaction ID", "Date", "Type", "Name", "Amount", "Currency", "Local amount", "Local currency"),
        mapping=Mapping(
            date="Date",
            date_format=_DAY_FIRST,
            description=("Name", "Description"),
            amount="Amount",
            currency="Currency",
            counterparty="Name",
            reference="Notes and #tags",
            type="Type",
            transaction_id="Transaction ID",
            original_amount="Local amount",
            original_currency="Local currency",
        ),
        source="github.com/olehsvyrydov/selfemploy-uk MonzoCsvParser 2abdf85; "
        "github.com/firefly-iii/import-configurations gb/monzo 50adfe7",
        seen="2026-08",
    ),
    Profile(
        name="monzo_2018",
        bank="Monzo",
        headings=("id", "created", "amount", "currency", "local_amount", "local_currency", "description", "notes"),
        mapping=Mapping(
            date="created",
            date_format="yyyy-mm-dd",
            description=("description", "notes"),
            amount="amount",
            currency="currency",
            transaction_id="id",
            original_amount="local_amount",
            original_currency="local_currency",
        ),
        source="github.com/bank2ynab/bank2ynab test/test-data/MonzoDataExport_February2018 3fbdbc5",
        seen="2018-02",
    ),
    Profile(
        name="starling",
        bank="Starling",
        headings=("Date", "Counter Party", "Reference", "Type", "Amount (GBP)", "Balance (GBP)"),
        mapping=Mapping(
            date="Date",
            date_format=_DAY_FIRST,
            description=("Counter Party", "Reference"),
            amount="Amount (GBP)",
            balance="Balance (GBP)",
            counterparty="Counter Party",
            reference="Reference",
            type="Type",
        ),
        source="github.com/reubano/csv2ofx csv2ofx/mappings/starling.py 675a441; "
        "github.com/firefly-iii/import-configurations gb/starling 50adfe7",
        seen="2026-03",
    ),
    Profile(
        name="revolut",
        bank="Revolut",
        headings=(
            *("Type", "Product", "Started Date", "Completed Date", "Description", "Amount", "Fee", "Currency"),
            *("State", "Balance"),
        ),
        mapping=Mapping(
            date="Completed Date",
            value_date="Started Date",
            date_format="yyyy-mm-dd",
            description=("Description",),
            amount="Amount",
            fee="Fee",
            currency="Currency",
            balance="Balance",
            type="Type",
            status="State",
            account_name="Product",
        ),
        source="github.com/mlaitinen/ofxstatement-revolut tests/samples/2022-january.csv 18d04cb; "
        "github.com/olehsvyrydov/selfemploy-uk RevolutCsvParser 2abdf85",
        seen="2026-08",
    ),
    Profile(
        name="wise",
        bank="Wise",
        headings=("TransferWise ID", "Date", "Amount", "Currency", "Description", "Payment Reference"),
        mapping=Mapping(
            date="Date",
            date_format=_DAY_FIRST,
            description=("Description",),
            amount="Amount",
            currency="Currency",
            balance="Running Balance",
            reference="Payment Reference",
            counterparty_account="Payee Account Number",
            transaction_id="TransferWise ID",
        ),
        source="github.com/kedder/ofxstatement-transferwise tests/sample-statement.csv a43ada5; "
        "github.com/archont00/ofxstatement-wise plugin.py 7c4e1d5",
        seen="2026-05",
    ),
    Profile(
        name="cooperative",
        bank="The Co-operative Bank or smile",
        headings=("Date", "Description", "Type", "Money In", "Money Out", "Balance"),
        mapping=Mapping(
            date="Date",
            date_format=_DAY_FIRST,
            description=("Description",),
            paid_in="Money In",
            paid_out="Money Out",
            balance="Balance",
            type="Type",
        ),
        source="github.com/bank2ynab/bank2ynab bank2ynab.conf [UK Co-operative Bank] 3fbdbc5 (order of the columns)",
        seen="2024-04",
    ),
    Profile(
        name="metro",
        bank="Metro Bank",
        headings=("Date", "Transaction type", "Description", "Money out", "Money in", "Balance"),
        mapping=Mapping(
            date="Date",
            date_format=_DAY_FIRST,
            description=("Description",),
            paid_in="Money in",
            paid_out="Money out",
            balance="Balance",
            type="Transaction type",
        ),
        source="github.com/olehsvyrydov/selfemploy-uk MetroBankCsvParser 2abdf85",
        seen="2026-08",
    ),
    Profile(
        name="tide",
        bank="Tide",
        headings=("Timestamp", "Reference", "Amount", "Cleared balance"),
        mapping=Mapping(
            date="Timestamp",
            date_format="yyyy-mm-dd",
            description=("Reference",),
            amount="Amount",
            balance="Cleared balance",
            reference="Reference",
        ),
        source="github.com/piersolenski/crunchtime index.js 231cf9c",
        seen="2018-12",
    ),
)
PROFILES = _ACCOUNTS + CARDS + WALLETS
