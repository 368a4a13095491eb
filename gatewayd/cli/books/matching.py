"""What `gatewayd allocation match` does: proposals page by page, and those that are sure enough done."""

from collections.abc import Mapping
from typing import Any

from gatewayd.cli.run_operation import Perform, operation_of

Json = dict[str, Any]
_PAGE = 100
_TWO_CURRENCIES = "A transfer between two currencies is for people to match: look at its rate."


async def matched(perform: Perform, of: Mapping[str, object], limit: int, least_score: int | None) -> list[Json]:
    """At most `limit` bank transactions with their proposals; the best of each is done from `least_score` on.

    Each gets `applied`, the proposal that was done or null, and `refusal`, why it could not be done.
    """
    from gatewayd.areas.banking import AREA

    operation = operation_of(AREA, "banking.listProposals")
    lines: list[Json] = []
    cursor = None
    while True:
        values = {**of, "limit": min(_PAGE, limit - len(lines)), "cursor": cursor}
        page = await perform(operation, values)
        for line in page["data"]:
            lines.append({**line, **await _applied(perform, line, least_score)})
        cursor = page["nextCursor"]
        if cursor is None or len(lines) == limit:
            return lines


def cells(line: Json) -> tuple[str, ...]:
    """A bank transaction as a row of a table."""
    best = line["proposals"][0] if line["proposals"] else {"score": "", "reason": ""}
    done = "yes" if line["applied"] else line["refusal"] or ""
    names = ("bankTransactionId", "date", "unallocatedAmount", "currency", "description")
    return (*(str(line[name]) for name in names), str(best["score"]), best["reason"], done)


async def _applied(perform: Perform, line: Json, least_score: int | None) -> Json:
    from gatewayd.errors import Problem

    best = line["proposals"][0] if line["proposals"] else None
    if best is None or least_score is None or best["score"] < least_score:
        return {"applied": None, "refusal": None}
    if best["impliedRate"] is not None:
        return {"applied": None, "refusal": _TWO_CURRENCIES}
    try:
        await _do(perform, line["bankTransactionId"], best)
    except Problem as problem:  # its other end, the invoice or the bill went with a line before it
        return {"applied": None, "refusal": problem.message}
    return {"applied": best, "refusal": None}


async def _do(perform: Perform, line_id: str, proposal: Json) -> None:
    """Do what is proposed for a bank transaction. Raises `Problem` as the operation does."""
    from gatewayd.areas.accounting import AREA as ACCOUNTING
    from gatewayd.areas.banking import AREA as BANKING

    values: dict[str, object] = {"bankTransactionId": line_id}
    if proposal["invoiceId"] is not None:
        values |= {"invoiceId": proposal["invoiceId"], "amount": proposal["amount"]}
        await perform(operation_of(ACCOUNTING, "accounting.recordPayment"), values)
    elif proposal["billId"] is not None:
        values |= {"billId": proposal["billId"], "amount": proposal["amount"]}
        await perform(operation_of(ACCOUNTING, "accounting.recordBillPayment"), values)
    elif proposal["counterpartId"] is not None:
        values |= {"counterpartId": proposal["counterpartId"]}
        await perform(operation_of(BANKING, "banking.matchTransfer"), values)
    elif proposal["parts"] is not None:
        values["parts"] = [_without_none(part) for part in proposal["parts"]]
        await perform(operation_of(BANKING, "banking.allocate"), values)
    else:
        values["parts"] = [{**_without_none(proposal["allocation"]), "amount": proposal["amount"]}]
        await perform(operation_of(BANKING, "banking.allocate"), values)


def _without_none(part: Json) -> Json:
    return {name: value for name, value in part.items() if value is not None}
