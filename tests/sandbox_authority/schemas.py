"""JSON Schemas of the authority's answers, from the field names that it publishes (domain model §D1)."""

from typing import Any

Schema = dict[str, Any]

DATE: Schema = {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
MOMENT: Schema = {"type": "string", "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"}
TAX_YEAR: Schema = {"type": "string", "pattern": "^2[0-9]{3}-[0-9]{2}$"}
UUID: Schema = {
    "type": "string",
    "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
}
MONEY: Schema = {"type": "number", "minimum": -9999999999999.99, "maximum": 9999999999999.99}
POUNDS: Schema = {"type": "number", "minimum": -9999999999999, "maximum": 9999999999999, "multipleOf": 1}
BUSINESS_ID: Schema = {"type": "string", "pattern": "^X[a-zA-Z0-9]IS[0-9]{11}$"}
BUSINESS_TYPE: Schema = {"enum": ["self-employment", "uk-property", "foreign-property"]}
OPEN_OR_FULFILLED: Schema = {"enum": ["open", "fulfilled"]}
TEXT: Schema = {"type": "string", "minLength": 1}


def shape(needed: Schema, optional: Schema | None = None) -> Schema:
    """An object of exactly these fields."""
    properties = {**needed, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(needed), "additionalProperties": False}


def rows(of: Schema) -> Schema:
    """A list that is not empty."""
    return {"type": "array", "items": of, "minItems": 1}


def or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


# -- VAT (MTD) 1.0

VAT_OBLIGATION = shape(
    {
        "start": DATE,
        "end": DATE,
        "due": DATE,
        "status": {"enum": ["O", "F"]},
        "periodKey": {"type": "string", "pattern": "^[#0-9A-Z]{4}$"},
    },
    {"received": DATE},
)
VAT_OBLIGATIONS = shape({"obligations": rows(VAT_OBLIGATION)})
VAT_LIABILITIES = shape(
    {
        "liabilities": rows(
            shape(
                {"type": {"type": "string", "minLength": 1, "maxLength": 30}, "originalAmount": MONEY},
                {"taxPeriod": shape({"from": DATE, "to": DATE}), "outstandingAmount": MONEY, "due": DATE},
            )
        )
    }
)
VAT_PAYMENTS = shape({"payments": rows(shape({"amount": MONEY}, {"received": DATE}))})
VAT_RETURN = shape(
    {
        "periodKey": {"type": "string", "pattern": "^[#0-9A-Z]{4}$"},
        "vatDueSales": MONEY,
        "vatDueAcquisitions": MONEY,
        "totalVatDue": MONEY,
        "vatReclaimedCurrPeriod": MONEY,
        "netVatDue": {"type": "number", "minimum": 0, "maximum": 99999999999.99},
        "totalValueSalesExVAT": POUNDS,
        "totalValuePurchasesExVAT": POUNDS,
        "totalValueGoodsSuppliedExVAT": POUNDS,
        "totalAcquisitionsExVAT": POUNDS,
    }
)

# -- Self Assessment Individual Details 2.0

ITSA_STATUS = {
    "enum": [
        "No Status",
        "MTD Mandated",
        "MTD Voluntary",
        "Annual",
        "Digitally Exempt",
        "Dormant",
        "MTD Exempt",
    ]
}
ITSA_STATUSES = shape(
    {
        "itsaStatuses": rows(
            shape(
                {
                    "taxYear": TAX_YEAR,
                    "itsaStatusDetails": rows(
                        shape(
                            {"submittedOn": MOMENT, "status": ITSA_STATUS, "statusReason": TEXT},
                            {"businessIncome2YearsPrior": {"type": "number", "minimum": 0}},
                        )
                    ),
                }
            )
        )
    }
)

# -- Obligations 3.0

OBLIGATION_DETAIL = shape(
    {"periodStartDate": DATE, "periodEndDate": DATE, "dueDate": DATE, "status": OPEN_OR_FULFILLED},
    {"receivedDate": DATE},
)
ITSA_OBLIGATIONS = shape(
    {
        "obligations": rows(
            shape(
                {
                    "typeOfBusiness": BUSINESS_TYPE,
                    "businessId": BUSINESS_ID,
                    "obligationDetails": rows(OBLIGATION_DETAIL),
                }
            )
        )
    }
)
FINAL_DECLARATIONS = shape({"obligations": rows(OBLIGATION_DETAIL)})

# -- Individual Calculations 8.0

_LISTED = {"calculationId": UUID, "calculationTimestamp": MOMENT}
_OUTCOME = {
    "calculationTrigger": {"enum": ["attended", "class2NICEvent", "unattended", "cesaSAReturn"]},
    "calculationOutcome": {"enum": ["PROCESSED", "ERROR", "REJECTED"]},
}
_THREE_TYPES = {"enum": ["in-year", "intent-to-finalise", "final-declaration"]}
_FIVE_TYPES = {"enum": [*_THREE_TYPES["enum"], "intent-to-amend", "confirm-amendment"]}
CALCULATIONS_UNTIL_2022 = shape(
    {
        "calculations": rows(
            shape(
                {**_LISTED, "calculationType": {"enum": ["in-year", "final-declaration"]}},
                {
                    "requestedBy": {"enum": ["customer", "hmrc", "agent"]},
                    "taxYear": TAX_YEAR,
                    "totalIncomeTaxAndNicsDue": MONEY,
                    "finalDeclaration": {"type": "boolean"},
                },
            )
        )
    }
)
CALCULATIONS_UNTIL_2024 = shape(
    {"calculations": rows(shape({**_LISTED, **_OUTCOME, "calculationType": _THREE_TYPES}, {"liabilityAmount": MONEY}))}
)
CALCULATIONS = shape(
    {
        "calculations": rows(
            shape(
                {**_LISTED, **_OUTCOME, "calculationType": _FIVE_TYPES},
                {"liabilityAmount": MONEY, "fromDate": DATE, "toDate": DATE},
            )
        )
    }
)

_RETRIEVED = {
    "calculationId": {**TEXT, "pattern": "^([0-9]{8}|" + UUID["pattern"][1:-1] + ")$"},
    "taxYear": TAX_YEAR,
    "requestedBy": {"enum": ["customer", "hmrc", "agent"]},
    "calculationReason": TEXT,
    "calculationType": {
        "enum": ["in-year", "intent-to-finalise", "declare-finalisation", "intent-to-amend", "confirm-amendment"]
    },
    "periodFrom": DATE,
    "periodTo": DATE,
}
_MOMENTS = {"requestedTimestamp": MOMENT, "calculationTimestamp": MOMENT}
METADATA = shape(_RETRIEVED, _MOMENTS)
METADATA_UNTIL_2024 = shape(
    {**_RETRIEVED, "intentToSubmitFinalDeclaration": {"type": "boolean"}, "finalDeclaration": {"type": "boolean"}},
    _MOMENTS,
)
_BUSINESS_SOURCE = shape(
    {"incomeSourceId": TEXT, "incomeSourceType": BUSINESS_TYPE, "source": {"const": "MTD-SA"}},
    {
        "accountingPeriodStartDate": DATE,
        "accountingPeriodEndDate": DATE,
        "latestPeriodEndDate": DATE,
        "latestReceivedDateTime": MOMENT,
    },
)
INPUTS = shape(
    {
        "personalInformation": shape({"identifier": TEXT, "taxRegime": {"enum": ["uk", "scotland", "wales"]}}),
        "incomeSources": shape({"businessIncomeSources": rows(_BUSINESS_SOURCE)}),
    }
)
_BAND = {
    "name": {"enum": ["basic-rate", "intermediate-rate"]},
    "rate": MONEY,
    "bandLimit": POUNDS,
    "apportionedBandLimit": POUNDS,
    "income": POUNDS,
    "taxAmount": MONEY,
}
_INCOME = shape(
    {
        "incomeReceived": POUNDS,
        "allowancesAllocated": POUNDS,
        "taxableIncome": POUNDS,
        "incomeTaxAmount": MONEY,
        "taxBands": rows(shape(_BAND)),
    }
)
_INCOME_TAX = shape(
    {
        "totalIncomeReceivedFromAllSources": POUNDS,
        "totalAllowancesAndDeductions": POUNDS,
        "totalTaxableIncome": POUNDS,
        "incomeTaxCharged": MONEY,
    },
    {"payPensionsProfit": _INCOME, "savingsAndGains": _INCOME, "dividends": _INCOME, "totalIncomeTaxDue": MONEY},
)
_NIC_BAND = shape({"name": {"const": "basic-rate"}, "rate": MONEY, "income": POUNDS, "amount": MONEY})
_NICS = shape({"class4Nics": shape({"totalAmount": MONEY, "nic4Bands": rows(_NIC_BAND)}), "totalNic": MONEY})
_PROFIT = shape(
    {"incomeSourceId": TEXT, "incomeSourceType": BUSINESS_TYPE},
    {"totalIncome": MONEY, "totalExpenses": MONEY, "netProfit": MONEY, "taxableProfit": POUNDS},
)
_SAVINGS = shape(
    {
        "totalChargeableSavingsAndGains": POUNDS,
        "totalUkSavingsAndGains": POUNDS,
        "ukSavingsAndGainsIncome": rows(
            shape({"incomeSourceType": {"const": "uk-savings-and-gains"}, "grossIncome": MONEY})
        ),
    }
)
CALCULATION_CONTENT = shape(
    {
        "allowancesAndDeductions": shape({"personalAllowance": POUNDS}),
        "businessProfitAndLoss": rows(_PROFIT),
        "incomeSummaryTotals": shape({}, {"totalSelfEmploymentProfit": POUNDS, "totalPropertyProfit": POUNDS}),
        "taxCalculation": shape(
            {"incomeTax": _INCOME_TAX, "totalIncomeTaxAndNicsDue": MONEY},
            {"nics": _NICS, "totalIncomeTaxNicsCharged": MONEY},
        ),
    },
    {
        "savingsAndGainsIncome": _SAVINGS,
        "dividendsIncome": shape({"totalChargeableDividends": POUNDS, "totalUkDividends": POUNDS}),
        "giftAid": shape({"grossGiftAidPayments": POUNDS, "rate": MONEY, "giftAidTax": MONEY}),
    },
)
_MESSAGES = rows(shape({"id": TEXT, "text": TEXT}))
MESSAGES = shape({}, {"info": _MESSAGES, "warnings": _MESSAGES, "errors": _MESSAGES})


def retrieved(metadata: Schema) -> Schema:
    """One calculation, with the metadata of its tax year."""
    return shape({"metadata": metadata, "inputs": INPUTS}, {"calculation": CALCULATION_CONTENT, "messages": MESSAGES})


# -- Self Assessment Accounts 4.0, Business Details 2.0

BALANCE = shape(
    {
        "balanceDetails": shape(
            {
                "payableAmount": MONEY,
                "pendingChargeDueAmount": MONEY,
                "overdueAmount": MONEY,
                "totalBalance": MONEY,
                "bcdBalancePerYear": rows(shape({"taxYear": TAX_YEAR, "bcdAmount": MONEY})),
            },
            {"payableDueDate": DATE, "pendingChargeDueDate": DATE},
        )
    }
)
_ANY_BUSINESS_TYPE = {"enum": [*BUSINESS_TYPE["enum"], "property-unspecified"]}
_BUSINESS = {"typeOfBusiness": _ANY_BUSINESS_TYPE, "businessId": BUSINESS_ID}
_TRADE = {
    "tradingType": {"type": "string", "minLength": 1, "maxLength": 35},
    "tradingName": {"type": "string", "maxLength": 105},
}
BUSINESSES = shape({"listOfBusinesses": rows(shape(_BUSINESS, _TRADE))})
_INDICATOR = {"enum": ["A", "Q"]}
BUSINESS = shape(
    _BUSINESS,
    {
        **_TRADE,
        "yearOfMigration": {"type": "string", "pattern": "^[0-9]{4}$"},
        "firstAccountingPeriodStartDate": DATE,
        "firstAccountingPeriodEndDate": DATE,
        "latencyDetails": shape(
            {
                "latencyEndDate": DATE,
                "taxYear1": TAX_YEAR,
                "latencyIndicator1": _INDICATOR,
                "taxYear2": TAX_YEAR,
                "latencyIndicator2": _INDICATOR,
            }
        ),
        "accountingPeriods": rows(shape({"start": DATE, "end": DATE})),
        "quarterlyTypeChoice": shape(
            {"quarterlyPeriodType": {"enum": ["standard", "calendar"]}, "taxYearOfChoice": TAX_YEAR}
        ),
        "commencementDate": DATE,
        "cessationDate": DATE,
        **{f"businessAddressLine{n}": {"type": "string"} for n in ("One", "Two", "Three", "Four")},
        "businessAddressPostcode": {"type": "string"},
        "businessAddressCountryCode": {"type": "string"},
    },
)

# -- composed (domain model §D1)

_PART = {
    "source": TEXT,
    "status": {"enum": ["ok", "not_found", "failed"]},
    "code": {"type": ["string", "null"]},
    "httpStatus": {"type": ["integer", "null"]},
    "fetchedAt": MOMENT,
}
TAX_YEARS = shape(
    {
        "taxYears": rows(
            shape(
                {
                    "taxYear": TAX_YEAR,
                    "startDate": DATE,
                    "endDate": DATE,
                    "itsaStatus": or_null(ITSA_STATUS),
                    "quarterly": or_null(
                        shape({state: {"type": "integer"} for state in ("open", "fulfilled", "overdue")})
                    ),
                    "finalDeclaration": or_null(
                        shape({"dueDate": DATE, "status": OPEN_OR_FULFILLED, "receivedDate": or_null(DATE)})
                    ),
                }
            )
        ),
        "parts": rows(shape({**_PART, "taxYear": or_null(TAX_YEAR)})),
    }
)
_SUMMARY_OBLIGATION = shape(
    {
        "typeOfBusiness": or_null(BUSINESS_TYPE),
        "businessId": or_null(BUSINESS_ID),
        "periodStartDate": DATE,
        "periodEndDate": DATE,
        "dueDate": DATE,
        "status": OPEN_OR_FULFILLED,
        "receivedDate": or_null(DATE),
    }
)
FILING_SUMMARY = shape(
    {
        "taxYear": TAX_YEAR,
        "itsaStatus": or_null(ITSA_STATUS),
        "obligations": {"type": "array", "items": _SUMMARY_OBLIGATION},
        "latestCalculation": or_null(
            shape({"id": UUID, "type": _FIVE_TYPES, "timestamp": MOMENT, "liabilityAmount": MONEY})
        ),
        "balance": or_null(shape({"payable": MONEY, "overdue": MONEY, "nextDue": DATE})),
        "parts": rows(shape(_PART)),
    }
)
