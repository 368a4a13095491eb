"""The books of a legal entity with one of everything, so that an organization can have those of two."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import Held
from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.store import WriteTx
from tests.contract.rows import BY_ID, send
from tests.ledger import bank_books
from tests.support.api import Reply, TestedApi

ORG = "org_a"
EARLY, LATE = "2026-04-20", "2026-10-20"
"""The two days on which something happens in the books."""


@dataclass
class Owner:
    """Whose books they are. `word` stands in each text, `pounds` are what each amount begins with."""

    word: str
    pounds: int
    ids: dict[str, str] = field(default_factory=dict)

    def amount(self, more: int = 0) -> str:
        return f"{self.pounds + more}.00"


async def keep_books(api: TestedApi, owner: Owner) -> None:
    """Enter one of everything for a legal entity, some of it on the early and some on the late day."""
    ids, word = owner.ids, owner.word
    ids["ent"] = await made(api, "legalEntity.createLegalEntity", name=f"{word} Person", type="individual")
    whose = {"legalEntityId": ids["ent"]}
    trade = {"type": "self_employment", "name": f"{word} trade", "commencementDate": "2024-05-01"}
    ids["biz"] = await made(api, "businesses.create", **whose, **trade)
    lets = {"type": "uk_property", "name": f"{word} lets", "commencementDate": "2024-05-01"}
    ids["lets"] = await made(api, "businesses.create", **whose, **lets)
    await _invoices(api, owner)
    await _bank(api, owner)
    await _property(api, owner)
    await _shares(api, owner)
    due = {"name": f"{word} insurance", "dueDate": "2026-12-01"}
    ids["obl"] = await made(api, "obligations.create", **whose, **due)
    periods = (await sent(api, "periods.list", **whose, businessId=ids["biz"])).json()["data"]
    ids["per"] = next(each["id"] for each in periods if each["startDate"] >= "2026-04-06")


async def _invoices(api: TestedApi, owner: Owner) -> None:
    ids = owner.ids
    ids["cli"] = await made(api, "accounting.createClient", name=f"{owner.word} client")
    for key, day in (("inv_early", EARLY), ("inv", LATE)):
        line = {"description": f"{owner.word} work", "unitPrice": owner.amount(), "vatCode": "outside_scope"}
        bill = {"clientId": ids["cli"], "status": "issued", "issueDate": day, "lines": [line]}
        whose = {"legalEntityId": ids["ent"], "businessId": ids["biz"]}
        ids[key] = await made(api, "accounting.createInvoice", **bill, **whose)


async def _bank(api: TestedApi, owner: Owner) -> None:
    ids = owner.ids
    account = {"legalEntityId": ids["ent"], "name": f"{owner.word} account", "institutionId": "inst_barclays"}
    account |= {"sortCode": "20-45-00", "accountNumber": f"319{owner.pounds:05}", "businessIds": [ids["biz"]]}
    ids["bac"] = await made(api, "banking.createAccount", **account)

    def lines(tx: WriteTx) -> None:
        for key, day in (("btx_early", EARLY), ("btx", LATE), ("btx_left", LATE)):
            words = {"date": day, "description": f"{owner.word} {key}", "match_key": f"{owner.word} {key}"}
            ids[key] = bank_books.insert_line(tx, ids["bac"], -owner.pounds * 100, **words)

    await api.store.write(lines, ORG)
    for key, line in (("alc_early", "btx_early"), ("alc", "btx")):
        part = {"category": "adminCosts", "businessId": ids["biz"], "description": f"{owner.word} costs"}
        reply = await sent(api, "banking.allocate", bankTransactionId=ids[line], parts=[part])
        ids[key] = reply.json()["allocations"][0]["id"]


async def _property(api: TestedApi, owner: Owner) -> None:
    ids, word = owner.ids, owner.word
    address = {"line1": f"1 {word} Street", "town": "Leeds", "postcode": "LS1 4DY", "countryCode": "GB"}
    house = {"name": f"{word} house", "address": address, "type": "house", "purchasePrice": owner.amount(1)}
    ids["prop"] = await made(api, "landlord.createProperty", businessId=ids["lets"], **house)
    its = {"propertyId": ids["prop"]}
    ids["unit"] = await made(api, "landlord.createPropertyUnit", **its, name=f"{word} room", type="room")
    ids["tnt"] = await made(api, "landlord.createTenant", kind="person", name=f"{word} tenant")
    let = {"tenantIds": [ids["tnt"]], "startDate": "2026-04-06", "rentAmount": owner.amount(), "unitId": ids["unit"]}
    ids["tcy"] = await made(api, "landlord.createTenancy", **its, **let, rentFrequency="monthly")
    for key, day in (("val_early", EARLY), ("val", LATE)):
        worth = {"valuationDate": day, "amount": owner.amount(2), "method": "agent", "source": f"{word} agent"}
        ids[key] = await made(api, "landlord.createPropertyValuation", **its, **worth)
    loan = {"lender": f"{word} bank", "type": "interest_only", "interestRate": "5", "startDate": "2025-04-06"}
    ids["mtg"] = await made(api, "landlord.createMortgage", **its, **loan, originalAmount=owner.amount(3))
    paper = {"type": "gas_safety", "issuedDate": EARLY, "reference": f"{word} 1", "cost": owner.amount()}
    ids["cert"] = await made(api, "landlord.createCertificate", **its, **paper)
    entry = {"category": "repairsAndMaintenance", "direction": "out", "amount": owner.amount()}
    for key, day in (("ent_early", EARLY), ("ent_late", LATE)):
        part = {**entry, "description": f"{word} paint", "propertyId": ids["prop"]}
        reply = await sent(api, "banking.allocate", parts=[part], date=day)
        ids[key] = reply.json()["allocations"][0]["id"]


async def _shares(api: TestedApi, owner: Owner) -> None:
    ids = owner.ids
    ids["prt"] = await made(api, "assets.createPortfolio", legalEntityId=ids["ent"], name=f"{owner.word} shares")
    broker = {"name": f"{owner.word} broker", "type": "brokerage", "currency": "GBP"}
    ids["acc"] = await made(api, "assets.createAccount", portfolioId=ids["prt"], **broker)
    share = {"isin": "GB00BH4HKS39", "name": "Vodafone Group"}
    deals = (("txn_early", EARLY, "buy", "2"), ("txn", LATE, "sell", "1"), ("txn_div", LATE, "dividend", ""))
    for key, day, kind, amount in deals:
        paid = (
            {"grossAmount": owner.amount()} if kind == "dividend" else {"quantity": amount, "unitPrice": owner.amount()}
        )
        which = {"instrument": share} if "ins" not in ids else {"instrumentId": ids["ins"]}
        deal = {"accountId": ids["acc"], "type": kind, "tradeDate": day, **which, **paid, "notes": owner.word}
        reply = await sent(api, "assets.createTransaction", **deal)
        ids[key], ids["ins"] = reply.json()["id"], reply.json()["instrumentId"]


async def made(api: TestedApi, operation_id: str, **values: Any) -> str:
    """The id of what is made."""
    return str((await sent(api, operation_id, **values)).json()["id"])


async def sent(api: TestedApi, operation_id: str, *, token: str = "good", **values: Any) -> Reply:
    """The answer to what has to be done."""
    reply = await send(api, BY_ID[operation_id], values, token=token)
    assert reply.status == 200, (operation_id, values, reply.body)
    return reply


def hold(api: TestedApi, token: str, *entities: str, first: str | None = None, last: str | None = None) -> Caller:
    """Give out a token of the organization that is held, with every scope."""
    held = Held(entities=frozenset(entities) or None, first=first, last=last)
    caller = msgspec.structs.replace(api.token(ORG, token, ALL_SCOPES), held=held)
    api.authenticator.callers[token] = caller
    return caller


def requests_of(ids: Mapping[str, str]) -> dict[str, list[dict[str, Any]]]:
    """What an accountant of a legal entity asks for, by operation: of each that is open to keys that are held, once at
    least.
    """
    whose, year = {"legalEntityId": ids["ent"]}, {"taxYear": "2026-27"}
    its = {"propertyId": ids["prop"]}
    return {
        "legalEntity.getLegalEntities": [{}, {"limit": 1}],
        "legalEntity.getLegalEntity": [{"id": ids["ent"]}],
        "legalEntity.listTaxYears": [{"id": ids["ent"]}],
        "legalEntity.listVatYears": [{"id": ids["ent"]}],
        "businesses.list": [{}, whose, {"limit": 1}],
        "businesses.get": [{"id": ids["biz"]}],
        "businesses.businessPnl": [{"id": ids["biz"], **year}, {"id": ids["lets"], **year, "explain": True}],
        "businesses.whatIf": [{"id": ids["biz"], **year, "basis": "accruals"}],
        "assets.listPortfolios": [{}, whose],
        "assets.getPortfolio": [{"id": ids["prt"]}],
        "assets.listAccounts": [{}, {"portfolioId": ids["prt"]}],
        "assets.getAccount": [{"id": ids["acc"]}],
        "assets.listTransactions": [{}, {"accountId": ids["acc"]}, {"limit": 1}, {"instrumentId": ids["ins"]}],
        "assets.getTransaction": [{"id": ids["txn"]}],
        "assets.listIncomeEvents": [{}, {"portfolioId": ids["prt"]}, {"instrumentId": ids["ins"], **year}],
        "assets.listPositions": [{}, whose, {"portfolioId": ids["prt"]}, {"accountId": ids["acc"]}],
        "assets.performance": [{"portfolioId": ids["prt"]}, {}],
        "assets.allocation": [{"portfolioId": ids["prt"]}, {}],
        "assets.listDisposals": [whose],
        "assets.capitalGains": [{**whose, **year}],
        "assets.exportCapitalGains": [{**whose, **year}],
        "assets.explainPosition": [{"instrumentId": ids["ins"]}, {"instrumentId": ids["ins"], "accountId": ids["acc"]}],
        "assets.gainForecast": [whose],
        "assets.comparePools": [whose],
        "assets.listCapitalLosses": [whose],
        "landlord.getDashboardSummary": [{}, whose, {"businessId": ids["lets"]}],
        "landlord.listTenancies": [{}, its],
        "landlord.getTenancy": [{"id": ids["tcy"]}],
        "landlord.listRentsDue": [{}, its, {"tenancyId": ids["tcy"], "limit": 1}],
        "landlord.listProperties": [{}, {"businessId": ids["lets"]}, {"q": "house"}],
        "landlord.getProperty": [
            {"id": ids["prop"]},
            {"id": ids["prop"], "include": ["units", "tenancies", "mortgages"]},
        ],
        "landlord.listPropertyUnits": [{}, its],
        "landlord.getPropertyUnit": [{"id": ids["unit"]}],
        "landlord.listPropertyValuations": [{}, its],
        "landlord.getPropertyValuation": [{"id": ids["val"]}],
        "landlord.listLinkedTransactions": [its, {"businessId": ids["lets"]}],
        "landlord.propertyPnl": [{"id": ids["prop"], **year}, {"propertyIds": [ids["prop"]], **year, "explain": True}],
        "landlord.getFinanceCostRelief": [{**whose, **year}],
        "landlord.getPropertyTaxReturn": [{**whose, **year}],
        "landlord.listMortgages": [{}, its],
        "landlord.getMortgage": [{"id": ids["mtg"]}],
        "landlord.listCertificates": [{}, its],
        "landlord.getCertificate": [{"id": ids["cert"]}],
        "accounting.listInvoices": [{}, {"limit": 1}, {"businessId": ids["biz"]}, {"status": "issued"}],
        "accounting.getInvoice": [{"invoiceId": ids["inv"]}],
        "banking.listAccounts": [{}, whose],
        "banking.getAccountDetails": [{"accountId": ids["bac"]}],
        "banking.getTransactions": [{"accountId": ids["bac"]}, {"accountId": ids["bac"], "limit": 1}],
        "banking.listTransactions": [{"accountId": ids["bac"]}, {"accountId": ids["bac"], "q": "btx"}],
        "banking.getTransaction": [{"transactionId": ids["btx"]}],
        "banking.getCoverage": [{"accountId": ids["bac"]}],
        "banking.listAllocations": [
            {"businessId": ids["biz"]},
            {"bankTransactionId": ids["btx"], "includeTotals": True},
            its,
        ],
        "banking.getAllocation": [{"allocationId": ids["alc"]}],
        "periods.list": [{}, {"businessId": ids["biz"]}, {"limit": 1}],
        "periods.get": [{"id": ids["per"]}],
        "obligations.list": [{}, {"businessId": ids["biz"]}, {"limit": 1}],
        "obligations.get": [{"id": ids["obl"]}],
    }
