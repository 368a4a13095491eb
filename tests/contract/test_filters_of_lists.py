"""Whatever a row bears that somebody would look for it by is a filter of its list, or stands here with why it is none.

What is looked for are ids, members with a closed set of values, and days and instants.
"""

import re
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from tests.contract.rows import BY_ID
from tests.contract.test_reading_by_id import LISTS

Reasons = Mapping[str, str]
"""Members, with blanks between them, by why no filter asks for them."""

GOES_BY: Final = {
    "assets.listTransactions": "tradeDate",
    "assets.listPrices": "date",
    "assets.listExchangeRates": "date",
    "assets.listIncomeEvents": "payDate",
    "assets.listDisposals": "date",
    "landlord.listRentsDue": "dueDate",
    "landlord.listPropertyValuations": "valuationDate",
    "landlord.listLinkedTransactions": "date",
    "accounting.listJourneys": "date",
    "banking.getTransactions": "date",
    "banking.listTransactions": "date",
    "banking.listAllocations": "date",
    "accounting.listClientPayments": "date",
    "billing.getLedger": "occurredAt",
    "periods.list": "endDate",
}
"""The one day of rows by which a list goes, which `fromDate` and `toDate` ask for."""
OTHERWISE_NAMED: Final = {
    ("landlord.listPropertyUnits", "occupancy"): "status",
    ("webhooks.listDeliveries", "subscriptionId"): "id",
}
"""What a filter of another name asks for."""
_CHANGES: Final = "when something was made or has changed: the list goes by the one, and `updatedSince` by the other"
_STATE: Final = "a state says it, which is a filter"
_FEW: Final = "there are few of them: all fit on a page or two"
_FEW_OF_A_CLIENT: Final = "a client has few, and `status` has those that wait for somebody"
_ONE_READS: Final = "the other is read by its id, and its row names this one"
_OF_ONE_RUN: Final = "the rows of one file, which are read whole"
_DOCUMENTS: Final = "some of the documents that `vault.listDocuments` filters by it"
_ABOUT_MONEY: Final = "it says how a figure came about"
_ADMITTED: Final = "no day on which anything is to be done, and whoever keeps a copy has it there"
_WARNED: Final = "deadlines of it are obligations, which are listed by their day"
_NO_INDEX: Final = "there may be a million, and no index has them by it"

EVERYWHERE: Final[Reasons] = {
    _CHANGES: "createdAt updatedAt",
    _STATE: "archivedAt closedAt closedDate redeemedDate deletedAt voidedAt sentAt viewedAt paidDate revokedAt",
}
WHOLE: Final = {
    **dict.fromkeys(
        ("legalEntity.getLegalEntities", "businesses.list", "assets.listPortfolios", "assets.listAccounts"), _FEW
    ),
    **dict.fromkeys(("legalEntity.listTaxYears", "legalEntity.listVatYears", "banking.listAccounts"), _FEW),
    **dict.fromkeys(("banking.listInstitutions", "webhooks.list", "billing.getPlans", "billing.listGrants"), _FEW),
    **dict.fromkeys(("organizations.list", "access.list", "vault.listLinks", "vault.listParseAttempts"), _FEW),
    "billing.getOperationCosts": _FEW,
    "accounting.listQuotes": _FEW_OF_A_CLIENT,
    "accounting.listRecurring": _FEW_OF_A_CLIENT,
    **dict.fromkeys(("assets.listImportRows", "banking.listImportRows"), _OF_ONE_RUN),
    **dict.fromkeys(("vault.getStarredDocuments", "vault.listTrash", "vault.getRecentDocuments"), _DOCUMENTS),
    **dict.fromkeys(("vault.getFolderDocuments", "vault.getOrganizationDocuments"), _DOCUMENTS),
}
"""Lists that need no more filters than they have."""
_OF_BANK_LINES: Final = {
    "`date` is the one that counts": "bookingDate valueDate",
    "the bank's own, by which its lines are told apart when they come again": "endToEndId fitId",
    "what the bank calls it, by which nobody keeps books": "type source",
}
_OF_IMPORTS: Final = {
    "an account's files are few": "kind source format fromDate toDate",
    _STATE: "appliedAt revertedAt",
    "whoever sends the file again is answered it": "firstImportedAt",
}
OF_LISTS: Final[Mapping[str, Reasons]] = {
    "assets.listTransactions": {
        "the trade date is what tax and every list go by": "settlementDate exDate",
        _ABOUT_MONEY: "fxRateSource fxRateDate",
        _ONE_READS: "fromInstrumentId counterAccountId linkedTransactionId reversesTransactionId reversedById",
    },
    "assets.listInstruments": {
        "`assets.searchInstruments` finds one by any identifier": "assetSubClass",
        "prices have a list of their own": "lastPriceDate priceSource",
    },
    "assets.listPrices": {_ABOUT_MONEY: "source"},
    "assets.listExchangeRates": {_ABOUT_MONEY: "source"},
    "assets.listIncomeEvents": {
        _ONE_READS: "transactionId",
        "the day of payment is what tax goes by": "exDate",
        "`kind` decides it": "ukCategory",
    },
    "assets.listPositions": {
        "they come by instrument, and `assets.explainPosition` has one": "instrumentId",
        _ABOUT_MONEY: "priceDate fxRateDate fxRateSource poolScope",
        "an account has one, and each with one has positions of its own": "taxWrapper",
        _ADMITTED: "firstAcquiredDate",
    },
    "assets.listDisposals": {_ABOUT_MONEY: "treatment section", _ADMITTED: "finalAfterDate"},
    "assets.explainPosition": {"one position, which is explained from its first day on": "date transactionIds"},
    "landlord.listTenants": {"nobody looks for who was erased": "anonymisedAt"},
    "landlord.listTenancies": {
        "it follows from the law and the day, and stands nowhere": "type convertedFrom monthlySinceDate",
        "`asOfDate` asks for those of a day": "startDate endedDate",
        _WARNED: "endDate termEndDate noticeExpiryDate",
        "`status` notice has them": "noticeServedDate noticeBy noticeKind",
        _ADMITTED: "rentFrequency rentQuarterDays",
    },
    "landlord.listRentsDue": {
        "a tenancy has one unit, and names it": "unitId",
        "they follow from the due date": "periodStartDate periodEndDate",
        _ONE_READS: "allocationIds",
    },
    "landlord.listProperties": {
        _ADMITTED: "tenure leaseExpiryDate furnished acquisitionDate disposalDate licensing currentValueDate",
        "the tax authority's, of a property abroad": "foreignPropertyId",
    },
    "landlord.listPropertyUnits": {_ADMITTED: "rentFrequency"},
    "landlord.listPropertyValuations": {_ADMITTED: "confidence"},
    "landlord.listMortgages": {_ADMITTED: "startDate balanceDate ercUntilDate"},
    "landlord.listCertificates": {
        _ADMITTED: "issuedDate result rating servedDate remedialDoneDate",
        "a report with faults that nobody mended is `expired` from that day on": "remedialDueDate",
        _ONE_READS: "supersededById",
    },
    "accounting.listInvoices": {
        "it was issued here or brought in": "origin",
        "VAT goes by it, and people by the days of issue and of payment": "supplyDate",
        _ABOUT_MONEY: "amountsAre vatRounding cisRate fxRateSource fxRateDate",
        "an account that is printed": "bankAccountId",
        _ONE_READS: "pdfDocumentId",
    },
    "accounting.listBills": {
        _ABOUT_MONEY: "amountsAre fxRateSource fxRateDate",
        _ONE_READS: "documentIds",
    },
    "accounting.listJourneys": {_ONE_READS: "allocationId"},
    "accounting.listClients": {_ADMITTED: "kind defaultVatTreatment"},
    "banking.getTransactions": _OF_BANK_LINES,
    "banking.listTransactions": _OF_BANK_LINES,
    "banking.listImports": _OF_IMPORTS,
    "assets.listImports": _OF_IMPORTS,
    "banking.listAllocations": {
        _NO_INDEX: "importId vatCode purpose interestSource documentDate",
        "it has businesses, and `businessId` asks for each": "legalEntityId",
        "`bankTransactionId` asks for what came of a bank line": "sourceType sourceId",
        _ONE_READS: "counterpartId documentIds",
    },
    "landlord.listLinkedTransactions": {
        _NO_INDEX: "importId vatCode purpose interestSource documentDate",
        "it has businesses, and `businessId` asks for each": "legalEntityId",
        "`banking.listAllocations` asks for it": "sourceType sourceId invoiceId billId matchedBy ruleId",
        _ONE_READS: "counterpartId documentIds",
    },
    "banking.listProposals": {"the list goes by it": "date"},
    "vault.listDocuments": {_ADMITTED: "archiveUntilDate lastAccessedAt"},
    "vault.listProposals": {"proposals wait to be decided, and are few": "date documentKind dueDate supplierId"},
    "periods.list": {
        "`toDate` asks for it": "startDate",
        "deadlines are obligations, which are listed by their day": "filingDueDate",
        _STATE: "lockedThroughDate",
        "`obligations.list` has `periodId`": "obligationIds",
    },
    "obligations.list": {
        "`periodId` asks for it": "periodStartDate periodEndDate",
        "`dueDate` is what counts": "predictedDueDate confidence",
        "when the authority was asked": "lastCheckedAt",
        _STATE: "receivedDate fulfilledAt",
    },
    "billing.getLedger": {
        "an entry is booked when it occurs, or soon after": "bookedAt",
        "`billing.listGrants` says what became of each": "grantId",
        "`externalId` finds what was brought in": "importId",
    },
    "accounting.listMails": {_STATE: "nextAttemptAt completedAt"},
    "webhooks.listDeliveries": {
        "attempts are in the row": "lastAttemptAt nextAttemptAt completedAt",
        _ONE_READS: "originalId",
    },
}
"""What no filter asks for, list by list."""


def has_closed_set(kind: Any) -> bool:
    """Whether a type is one of a few words, or null or absent."""
    if typing.get_origin(kind) is list:
        return False
    return typing.get_origin(kind) is Literal or any(has_closed_set(part) for part in typing.get_args(kind))


def looked_for(item: type[msgspec.Struct]) -> Iterator[str]:
    """The members of a row by which somebody would look for it."""
    for field in msgspec.structs.fields(item):
        name = field.encode_name
        if name != "id" and (re.search(r"(Id|Ids|Date|At)$|^date$", name) or has_closed_set(field.type)):
            yield name


def is_filter(listing: str, member: str) -> bool:
    """Whether a request of the list asks for it: by its name, by one of several, by the ends of a range."""
    names = {field.encode_name for field in msgspec.structs.fields(BY_ID[listing].request)}
    ranges = {f"{member.removesuffix('At')}{end}" for end in ("From", "To", "Before")}
    if {member, member.removesuffix("s"), OTHERWISE_NAMED.get((listing, member)), *ranges} & names:
        return True
    return GOES_BY.get(listing) == member and {"fromDate", "toDate"} <= names


def excused(listing: str) -> set[str]:
    return {name for names in OF_LISTS.get(listing, {}).values() for name in names.split()}


def test_what_a_row_bears_is_a_filter_or_stands_here_with_why_not() -> None:
    everywhere = {name for names in EVERYWHERE.values() for name in names.split()}
    lacking = {
        listing: {name for name in looked_for(item) if name not in everywhere and not is_filter(listing, name)}
        for listing, item in LISTS.items()
    }
    found = {listing: lacking[listing] - excused(listing) for listing in LISTS if listing not in WHOLE}
    assert {listing: names for listing, names in found.items() if names} == {}
    stale = {listing: excused(listing) - lacking[listing] for listing in OF_LISTS}
    assert {listing: names for listing, names in stale.items() if names} == {}
    assert not WHOLE.keys() & OF_LISTS.keys()


def test_nothing_is_excused_that_no_list_has() -> None:
    assert {*WHOLE, *OF_LISTS, *GOES_BY} <= LISTS.keys()
    for listing, member in OTHERWISE_NAMED:
        assert member in {field.encode_name for field in msgspec.structs.fields(LISTS[listing])}
