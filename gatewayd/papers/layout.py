"""A paper as its template prints it: texts and figures in their order, and nothing that is reckoned. Pure.

What the law asks of a VAT invoice stands in Domain C4.7, with where it is printed.
"""

import io
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

import segno.helpers

from gatewayd.papers import sentences
from gatewayd.papers.paper import BankDetails, Look, Paper, PaperAddress, PaperGroup, PaperLine, Party, is_nil

PLAIN_ACCENT: Final = "#1f3a5f"  # Chosen: a dark blue, which prints well without colour
_SYMBOLS: Final = {"GBP": "£", "EUR": "€", "USD": "$"}
_MONTHS: Final = ("January", "February", "March", "April", "May", "June", "July", "August", "September")
_YEAR: Final = (*_MONTHS, "October", "November", "December")
_TITLES: Final = {"invoice": "Invoice", "credit_note": "Credit note", "quote": "Quote"}
_TOTALS: Final = {"invoice": "Total to pay", "credit_note": "Total credit", "quote": "Total"}
_SEPA: Final = "EUR"
_WITHOUT_RATE: Final = ("exempt", "outside_scope", "margin_scheme")
_LEAST_SEPA: Final = Decimal("0.01")  # euros, of a credit transfer (EPC069-12)
_MOST_SEPA: Final = Decimal("999999999.99")


def of_paper(paper: Paper, country: dict[str, str]) -> dict[str, Any]:
    """What the template takes, as JSON. `country` has the names of countries by their codes."""
    is_vat = paper.seller.vat_number is not None
    title = " ".join(word for word in (_TITLES[paper.kind], paper.number) if word)
    return {
        "title": title,
        "date": [int(part) for part in paper.issue_date.split("-")],
        "accent": paper.look.accent or PLAIN_ACCENT,
        "mark": paper.mark,
        "kind": _kind(paper),
        "number": paper.number or "",
        "seller": seller_block(paper.seller, paper.look, country),
        "client": client_block(paper.client, paper.seller.country_code, country),
        "facts": list(_facts(paper)),
        "columns": _columns(paper),
        "lines": [_line(paper, line, is_vat=is_vat) for line in paper.lines],
        "vat": [_group(paper, group) for group in paper.groups] if is_vat else [],
        "sums": [*_sums(paper, is_vat=is_vat)],
        "sentences": sentences.of_paper(paper) if is_vat else [],
        "bank": [*_bank(paper)],
        "qr": transfer_code(paper),
        "texts": [*_texts(paper)],
        "footer": [*footer(paper.seller, paper.look, country)],
    }


def money(paper: Paper, amount: str) -> str:
    """An amount with thousands apart and the sign of its currency, or the code behind it."""
    return money_of(amount, paper.currency)


def money_of(amount: str, currency: str) -> str:
    sign, digits = ("−", amount[1:]) if amount.startswith("-") else ("", amount)
    whole, dot, fraction = digits.partition(".")
    text = f"{int(whole):,}{dot}{fraction}"
    symbol = _SYMBOLS.get(currency)
    return f"{sign}{symbol}{text}" if symbol else f"{sign}{text} {currency}"


def plain(amount: str) -> str:
    """An amount in a table whose currency stands elsewhere."""
    sign, digits = ("−", amount[1:]) if amount.startswith("-") else ("", amount)
    whole, dot, fraction = digits.partition(".")
    return f"{sign}{int(whole):,}{dot}{fraction}"


def day(date: str) -> str:
    """An ISO date as 7 November 2026."""
    year, month, number = date.split("-")
    return f"{int(number)} {_YEAR[int(month) - 1]} {year}"


def _kind(paper: Paper) -> str:
    title = _TITLES[paper.kind]
    return "VAT invoice" if paper.kind == "invoice" and paper.is_vat_invoice else title


def _address(address: PaperAddress | None, country: dict[str, str], home: str) -> list[str]:
    """Its lines; the country where it is another one than the seller's."""
    if address is None:
        return []
    town = " ".join(part for part in (address.town, address.postcode) if part)
    lines = [address.line1, address.line2 or "", town, address.county or ""]
    if address.country_code != home:
        lines.append(country.get(address.country_code, address.country_code))
    return [line for line in lines if line]


def seller_block(seller: Party, look: Look, country: dict[str, str]) -> dict[str, Any]:
    """Who sells, as the head of a paper has it."""
    lines = [seller.name] if look.trading_name else []
    lines += _address(seller.address, country, seller.country_code)
    lines += [seller.email or "", look.website or ""]
    if seller.vat_number:
        lines.append(f"VAT registration number {seller.vat_number}")
    return {"name": seller.name, "heading": look.trading_name or seller.name, "lines": [line for line in lines if line]}


def client_block(client: Party, home: str, country: dict[str, str]) -> dict[str, Any]:
    """To whom a paper goes; `home` is the seller's country."""
    lines = [client.contact_name or "", *_address(client.address, country, home)]
    if client.vat_number:
        lines.append(f"VAT number {client.vat_number}")
    return {"name": client.name, "lines": [line for line in lines if line]}


def _facts(paper: Paper) -> Iterator[list[str]]:
    yield ["Date of issue", day(paper.issue_date)]
    if paper.supply_date != paper.issue_date:
        yield ["Date of supply", day(paper.supply_date)]
    if paper.kind == "invoice":
        yield ["Pay by", day(paper.due_date)]
    if paper.kind == "quote":
        yield ["Holds until", day(paper.due_date)]
    if paper.credited is not None:
        yield ["Credits invoice", f"{paper.credited.number} of {day(paper.credited.issue_date)}"]
    if paper.reference:
        yield ["Reference", paper.reference]
    if paper.po_number:
        yield ["Your order", paper.po_number]


def _columns(paper: Paper) -> list[list[str]]:
    columns = [["Description", "wide"], ["Quantity", "right"], ["Unit price", "right"]]
    if any(not is_nil(line.discount) for line in paper.lines):
        columns.append(["Discount", "right"])
    if paper.seller.vat_number is not None:
        columns += [["VAT", "right"], ["Net", "right"]]
    else:
        columns.append(["Amount", "right"])
    columns[-1][0] += f" ({paper.currency})"
    return columns


def _line(paper: Paper, line: PaperLine, *, is_vat: bool) -> list[str]:
    quantity = f"{plain(line.quantity)} {line.unit}" if line.unit else plain(line.quantity)
    cells = [line.description, quantity, plain(_padded(line.unit_price, paper.exponent))]
    if any(not is_nil(each.discount) for each in paper.lines):
        cells.append("" if is_nil(line.discount) else f"{line.discount}%")
    if is_vat:
        cells.append(_rate(line.vat_code, line.rate))
    cells.append(plain(line.net))
    return cells


def _padded(price: str, digits: int) -> str:
    whole, _, fraction = price.partition(".")
    fraction = fraction.ljust(digits, "0")
    return f"{whole}.{fraction}" if fraction else whole


def _rate(code: str, rate: str) -> str:
    if code in _WITHOUT_RATE:
        return "—"
    return f"{rate}% RC" if code.startswith("reverse_charge_domestic") else f"{rate}%"


def _group(paper: Paper, group: PaperGroup) -> list[str]:
    """A row of the VAT summary. What the client accounts for is told in a sentence, and charged by nobody here."""
    rate = "—" if group.vat_code in _WITHOUT_RATE else f"{group.rate}%"
    vat = _padded("0", paper.exponent) if group.reverse_charge else group.vat
    return [sentences.LABELS[group.vat_code], rate, plain(group.net), plain(vat)]


def _sums(paper: Paper, *, is_vat: bool) -> Iterator[list[Any]]:
    """Label, figure, and whether it is what all comes to."""
    if not is_nil(paper.discount_total):
        what = "Discounts, VAT included" if paper.amounts_are == "inclusive" else "Discounts"
        yield [f"{what} (taken off above)", money(paper, paper.discount_total), False]
    if is_vat:
        yield ["Total without VAT", money(paper, paper.net_total), False]
        yield ["VAT", money(paper, paper.vat_total), False]
        if paper.vat_total_base is not None and paper.currency != paper.base_currency:
            vat = money_of(paper.vat_total_base, paper.base_currency)
            yield [f"VAT in {paper.base_currency} at {paper.fx_rate}", vat, False]
    if is_nil(paper.cis_deduction):
        yield [_TOTALS[paper.kind], money(paper, paper.gross_total), True]
        return
    yield ["Total with VAT" if is_vat else "Total", money(paper, paper.gross_total), False]
    yield [f"CIS deduction, {paper.cis_rate}% of labour", f"−{money(paper, paper.cis_deduction)}", False]
    yield [_TOTALS[paper.kind], money(paper, paper.payable), True]


def _bank(paper: Paper) -> Iterator[list[str]]:
    if paper.bank is not None and paper.kind == "invoice":
        yield from bank_rows(paper.bank, paper.number)


def bank_rows(bank: BankDetails, reference: str | None) -> Iterator[list[str]]:
    """The account to pay into; `reference` None: none is asked for."""
    for label, value in (
        ("Account name", bank.name),
        ("Sort code", None if bank.sort_code is None else "-".join(_pairs(bank.sort_code))),
        ("Account number", bank.account_number),
        ("IBAN", None if bank.iban is None else " ".join(_fours(bank.iban))),
        ("BIC", bank.bic),
        ("Payment reference", reference),
    ):
        if value:
            yield [label, value]


def _pairs(code: str) -> list[str]:
    return [code[index : index + 2] for index in range(0, len(code), 2)]


def _fours(code: str) -> list[str]:
    return [code[index : index + 4] for index in range(0, len(code), 4)]


def transfer_code(paper: Paper) -> str:
    """The QR code of a SEPA credit transfer (EPC069-12), as SVG; empty: none applies.

    It is of euros to an IBAN. Sterling has no such code that banks agree on, so that there is none (Decision 0042).
    """
    bank = paper.bank
    if bank is None or bank.iban is None or paper.number is None or not _may_be_scanned(paper):
        return ""
    name, amount = (bank.name or paper.seller.name)[:70], Decimal(paper.payable)
    code = segno.helpers.make_epc_qr(name=name, iban=bank.iban, amount=amount, text=paper.number, bic=bank.bic)
    drawn = io.BytesIO()
    code.save(drawn, kind="svg", xmldecl=False, border=0)
    return drawn.getvalue().decode()


def _may_be_scanned(paper: Paper) -> bool:
    if paper.kind != "invoice" or paper.mark or paper.currency != _SEPA:
        return False
    return _LEAST_SEPA <= Decimal(paper.payable) <= _MOST_SEPA


def _texts(paper: Paper) -> Iterator[list[str]]:
    if paper.terms:
        yield ["Terms", paper.terms]
    if paper.notes:
        yield ["Notes", paper.notes]


def footer(seller: Party, look: Look, country: dict[str, str]) -> Iterator[str]:
    """What a company or a firm says of itself: Companies Act 2006 s82 and s1202, SI 2015/17 reg. 24 and 25."""
    if seller.company_number:
        where = f" in {look.register}" if look.register else ""
        yield f"{seller.name}. Registered{where}, company number {seller.company_number}."
    if look.registered_office is not None:
        office = ", ".join(_address(look.registered_office, country, seller.country_code))
        yield f"Registered office: {office}."
    if look.owners:
        yield f"Owners: {look.owners}"
    if look.footer:
        yield from look.footer.split("\n")
