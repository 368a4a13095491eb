"""Documents laid out in many ways from figures known before: what is true of them is what they were made of."""

import datetime
import random
from collections.abc import Callable
from decimal import Decimal

from tests.extraction.facts.corpus import Document

FIRMS = (
    ("Alder & Finch Ltd", "alderfinch.co.uk", "434031439"),
    ("Bluebell Catering Limited", "bluebellcatering.co.uk", "287134583"),
    ("Cobalt Networks LLP", "cobaltnetworks.com", "331607288"),
    ("Dunmore Timber Co Ltd", "dunmoretimber.co.uk", "742098178"),
    ("Everside Property Services", "everside.org.uk", "815332648"),
    ("Foxglove Printing", "foxgloveprint.co.uk", "204991701"),
    ("Granite City Fixings plc", "granitecity.com", "665014296"),
    ("J W Hollis & Sons", "jwhollis.co.uk", "921304804"),
)
CUSTOMERS = (
    ("Thistle Lettings Limited", "6 Park Row", "Bristol", "BS1 5LJ"),
    ("Bellwether Coffee Ltd", "3 Kirkgate", "Leeds", "LS2 7DJ"),
    ("Ms P Raman", "3 Clifton Park", "Bristol", "BS8 3HL"),
)
STREETS = (
    ("41 Quay Street", "Cardiff", "CF10 5EA"),
    ("Unit 7 Forge Lane", "Derby", "DE21 6AB"),
    ("9 Old Road", "Hove", "BN3 1AA"),
)
HOMES = (
    ("8 Whiteladies Road", "Bristol", "BS8 1PD"),
    ("27 Camden Crescent", "Bath", "BA1 5LN"),
    ("Flat 4, 12 Jesmond Vale", "Newcastle", "NE2 4RR"),
)
TOTALS = ("Total", "Amount due", "Total due", "Balance due", "Total inc VAT", "Grand total")
GAS_TITLES = ("LANDLORD GAS SAFETY RECORD", "Landlord/Home Owner Gas Safety Record", "CP12 Gas Safety Certificate")
PLACES = ("Property address", "Job address", "Installation address", "Site address")
NEXT_CHECKS = ("Next inspection due by", "Next gas safety check due", "Expiry date", "Next safety check due before")
ORDINALS = {1: "st", 21: "st", 31: "st", 2: "nd", 22: "nd", 3: "rd", 23: "rd"}
DATES: tuple[Callable[[datetime.date], str], ...] = (
    lambda d: f"{d:%d/%m/%Y}",
    lambda d: f"{d.day} {d:%B %Y}",
    lambda d: f"{d:%d-%b-%y}",
    lambda d: d.isoformat(),
    lambda d: f"{d.day}{ORDINALS.get(d.day, 'th')} {d:%b} {d:%Y}",
    lambda d: f"{d:%d.%m.%y}",
    lambda d: f"{d:%A} {d.day} {d:%B %Y}",
)


class Bill:
    """The figures of a bill or a receipt."""

    def __init__(self, chance: random.Random) -> None:
        self.firm, self.site, self.vat = chance.choice(FIRMS)
        self.customer, self.place = chance.choice(CUSTOMERS), chance.choice(STREETS)
        self.date = datetime.date(2025, 1, 5) + datetime.timedelta(days=chance.randrange(500))
        self.write = chance.choice(DATES)
        self.net = Decimal(chance.randrange(900, 900_000)) / 100
        self.tax = (self.net / 5).quantize(Decimal("0.01"))
        self.total = self.net + self.tax
        self.number = chance.choice(
            [
                f"INV-{chance.randrange(1000, 9999)}",
                f"{chance.randrange(10000, 99999)}",
                f"A{chance.randrange(100, 999)}/{self.date:%y}",
                f"{self.date:%Y}-{chance.randrange(10, 99):04}",
            ]
        )
        self.sign, self.currency = chance.choice([("£", "GBP"), ("£", "GBP"), ("€", "EUR")])

    def money(self, amount: Decimal) -> str:
        return f"{self.sign}{amount:,.2f}"

    def vat_shown(self, chance: random.Random) -> str:
        digits = self.vat
        return chance.choice(
            [f"GB{digits}", f"GB {digits[:3]} {digits[3:7]} {digits[7:]}", f"{digits[:3]} {digits[3:7]} {digits[7:]}"]
        )

    def truth(self, kind: str, *, reference: bool = True) -> dict[str, str | None]:
        told: dict[str, str | None] = {
            "kind": kind,
            "date": self.date.isoformat(),
            "total": f"{self.total:.2f}",
            "currency": self.currency,
            "counterparty": self.firm,
            "vatNumber": f"GB{self.vat}",
        }
        return {**told, "reference": self.number} if reference else told


def classic(bill: Bill, chance: random.Random) -> str:
    """Head, customer, table, sums to the right."""
    due = bill.date + datetime.timedelta(days=30)
    name, street, town, code = bill.customer
    return f"""{bill.firm}
{bill.place[0]}, {bill.place[1]} {bill.place[2]}
info@{bill.site}

{chance.choice(["INVOICE", "Tax Invoice", "VAT INVOICE", "Sales invoice"])}

{chance.choice(["Bill to", "Invoice to", "Customer"])}:
{name}
{street}
{town}
{code}

{chance.choice(["Invoice No", "Invoice number", "Invoice #", "Inv no."])}: {bill.number}
{chance.choice(["Invoice date", "Date of issue", "Date", "Tax point"])}: {bill.write(bill.date)}
{chance.choice(["Due date", "Payment due", "Please pay by"])}: {bill.write(due)}

Description               Qty      Amount
Work as agreed              1      {bill.net:,.2f}

{chance.choice(["Subtotal", "Net", "Total excl. VAT"])}         {bill.money(bill.net)}
VAT @ 20%        {bill.money(bill.tax)}
{chance.choice(TOTALS)}        {bill.money(bill.total)}

VAT registration number: {bill.vat_shown(chance)}
"""


def two_columns(bill: Bill, chance: random.Random) -> str:
    """Sender to the right, customer to the left, as many templates have it."""
    name, street, town, code = bill.customer
    return f"""INVOICE                                          {bill.firm}
                                                 {bill.place[0]}
{name:<40}         {bill.place[1]}
{street:<40}         {bill.place[2]}
{town:<40}         www.{bill.site}
{code:<40}         VAT No. {bill.vat_shown(chance)}

Date              Invoice number       Due
{bill.write(bill.date)}        {bill.number}             {bill.write(bill.date + datetime.timedelta(days=14))}

Services rendered                                {bill.net:,.2f}

                              Sub-total          {bill.net:,.2f}
                              VAT                {bill.tax:,.2f}
                              Total {bill.currency}          {bill.total:,.2f}
"""


def blocks(bill: Bill, chance: random.Random) -> str:
    """As a PDF gives it that was read block by block: labels first, then what stands beside them."""
    name, street, town, code = bill.customer
    return f"""{bill.firm}
{bill.place[0]}
{bill.place[1]}
{bill.place[2]}
VAT no {bill.vat_shown(chance)}
INVOICE
Invoice number
Invoice date
Payment due
{bill.number}
{bill.write(bill.date)}
{bill.write(bill.date + datetime.timedelta(days=21))}
Invoiced to
{name}
{street}
{town}
{code}
Professional fees {bill.net:,.2f}
Subtotal
VAT 20%
Total due
{bill.money(bill.net)}
{bill.money(bill.tax)}
{bill.money(bill.total)}
"""


def compact(bill: Bill, chance: random.Random) -> str:
    """One thing after the other, gaps lost, the firm's particulars at the foot."""
    return f"""Invoice {bill.number}
From: {bill.firm}
To: {bill.customer[0]}, {bill.customer[1]}, {bill.customer[3]}
Date: {bill.write(bill.date)} Due: {bill.write(bill.date + datetime.timedelta(days=7))}
Hours 12 Rate {bill.net / 12:.2f} Net {bill.net:,.2f}
VAT (20%) {bill.tax:,.2f}
Total payable: {bill.money(bill.total)}
Payment by BACS to 12-34-56 00112233, quoting {bill.number}
{bill.firm}, {bill.place[0]}, {bill.place[2]}. VAT {bill.vat_shown(chance)}
"""


def till(bill: Bill, chance: random.Random) -> str:
    """A till's slip."""
    return f"""{bill.firm.upper()}
{bill.place[0].upper()} {bill.place[1].upper()}
VAT REG {bill.vat_shown(chance)}
{bill.date:%d/%m/%y} 1{chance.randrange(10)}:{chance.randrange(10, 59)}  TILL {chance.randrange(1, 9)}
ITEM A             {bill.net / 2:.2f}
ITEM B             {bill.total - bill.net / 2:.2f}
{chance.choice(["TOTAL", "TOTAL TO PAY", "BALANCE DUE", "SALE TOTAL"])}   {bill.money(bill.total)}
{chance.choice(["VISA DEBIT", "MASTERCARD", "CARD"])}   {bill.money(bill.total)}
{chance.choice(["CUSTOMER COPY", "CHIP AND PIN", "CONTACTLESS"])}
THANK YOU FOR YOUR CUSTOM
"""


def paid(bill: Bill, chance: random.Random) -> str:
    """A receipt by mail."""
    return f"""{bill.firm}
Payment receipt
{chance.choice(["Receipt number", "Receipt no", "Receipt #"])}: {bill.number}
{chance.choice(["Date paid", "Payment date", "Paid on"])}: {bill.write(bill.date)}
Net amount {bill.money(bill.net)}
VAT {bill.money(bill.tax)}
{chance.choice(["Amount paid", "Total paid", "Total"])} {bill.money(bill.total)}
Paid by card ending 4471. Thank you for your order.
VAT number {bill.vat_shown(chance)}   help@{bill.site}
"""


def misread(text: str, chance: random.Random) -> str:
    """Some digits of dates and amounts as character recognition mistakes them; one in a line at most."""
    lines = []
    for line in text.split("\n"):
        places = [
            at for at, c in enumerate(line) if c in "01" and line[at - 1 : at] and line[at - 1] in "0123456789.,/£"
        ]
        is_plain = not any(word in line.upper() for word in ("INV", "RECEIPT", "QUOTING", "NO", "REG", "#", "VAT"))
        if places and is_plain and chance.random() < 0.6:
            at = chance.choice(places)
            line = line[:at] + {"0": "O", "1": "l"}[line[at]] + line[at + 1 :]
        lines.append(line)
    return "\n".join(lines)


def squeezed(text: str) -> str:
    """With one space for several, as texts are that come out of PDF."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


BILLS = (
    (classic, "invoice"),
    (two_columns, "invoice"),
    (blocks, "invoice"),
    (compact, "invoice"),
    (till, "receipt"),
    (paid, "receipt"),
)


def bills(count: int = 84, seed: int = 20260401) -> list[Document]:
    """Bills and receipts in turn of each layout; each third has noise, each other third of them no gaps."""
    found = []
    for n in range(count):
        chance = random.Random(seed + n)
        bill = Bill(chance)
        layout, kind = BILLS[n % len(BILLS)]
        text = layout(bill, chance)
        noise = n // len(BILLS) % 4
        if noise == 1:
            text = misread(text, chance)
        elif noise == 2 and layout is not two_columns:
            text = squeezed(text)
        found.append(Document(f"{layout.__name__}_{n}", text, bill.truth(kind, reference=layout is not till)))
    return found


def certificates(count: int = 36, seed: int = 7) -> list[Document]:
    """Gas safety records, electrical condition reports and energy performance certificates in turn."""
    makers = (gas_record, electrical_report, energy_certificate)
    return [makers[n % 3](n, random.Random(seed * 1000 + n)) for n in range(count)]


def gas_record(n: int, chance: random.Random) -> Document:
    """A landlord's gas safety record."""
    home, firm, write = chance.choice(HOMES), chance.choice(FIRMS)[0], chance.choice(DATES)
    issued = datetime.date(2025, 2, 3) + datetime.timedelta(days=chance.randrange(400))
    expiry = issued.replace(year=issued.year + 1)
    number, registration = f"{chance.randrange(10**6, 10**7)}", f"{chance.randrange(10**5, 10**6)}"
    passed = chance.random() < 0.7
    text = f"""{chance.choice(GAS_TITLES)}
{chance.choice(["Certificate number", "Record No", "Serial No", "Certificate ref"])}: {number}
{chance.choice(["Company", "Trading name", "Gas Safe registered business"])}: {firm}
Gas Safe Reg No: {registration}
{chance.choice(PLACES)}: {home[0]}, {home[1]} {home[2]}
{chance.choice(["Date of inspection", "Inspection date", "Date of check", "Issue date"])}: {write(issued)}
{chance.choice(NEXT_CHECKS)}: {write(expiry)}
Boiler   Vaillant   {chance.choice(["Safe to use", "Appliance safe"])}: {"Yes" if passed else "No"}
"""
    return Document(
        f"gas_{n}",
        text,
        {
            "kind": "certificate",
            "date": issued.isoformat(),
            "counterparty": firm,
            "reference": number,
            "total": None,
            "certificate.type": "gas_safety",
            "certificate.issuedDate": issued.isoformat(),
            "certificate.expiryDate": expiry.isoformat(),
            "certificate.result": "pass" if passed else "fail",
            "certificate.postcode": home[2],
            "certificate.issuerRegistration": registration,
            "certificate.address": f"{home[0]}, {home[1]} {home[2]}",
        },
    )


def electrical_report(n: int, chance: random.Random) -> Document:
    """An electrical installation condition report."""
    home, firm, write = chance.choice(HOMES), chance.choice(FIRMS)[0], chance.choice(DATES)
    issued = datetime.date(2024, 3, 1) + datetime.timedelta(days=chance.randrange(600))
    expiry = issued.replace(year=issued.year + 5) - datetime.timedelta(days=1)
    passed, number = chance.random() < 0.6, f"EICR{chance.randrange(1000, 99999)}"
    text = f"""Electrical Installation Condition Report
{chance.choice(["Report number", "Report reference", "Certificate No"])} {number}
Contractor: {firm}
Client: {chance.choice(CUSTOMERS)[0]}
{chance.choice(["Installation address", "Address of the installation", "Property address"])}:
{home[0]}
{home[1]}
{home[2]}
{chance.choice(["Date of inspection", "Inspection date", "Date of report"])}: {write(issued)}
Overall assessment of the installation: {"SATISFACTORY" if passed else "UNSATISFACTORY"}
{chance.choice(["Next inspection due", "Next inspection by", "To be further inspected and tested by"])}: {write(expiry)}
"""
    return Document(
        f"eicr_{n}",
        text,
        {
            "kind": "certificate",
            "date": issued.isoformat(),
            "counterparty": firm,
            "reference": number,
            "total": None,
            "certificate.type": "eicr",
            "certificate.issuedDate": issued.isoformat(),
            "certificate.expiryDate": expiry.isoformat(),
            "certificate.result": "pass" if passed else "fail",
            "certificate.postcode": home[2],
        },
    )


def energy_certificate(n: int, chance: random.Random) -> Document:
    """An energy performance certificate, as the public register prints it."""
    home, band = chance.choice(HOMES), chance.choice("ABCDEFG")
    issued = datetime.date(2016, 3, 1) + datetime.timedelta(days=chance.randrange(3500))
    until = issued.replace(year=issued.year + 10) - datetime.timedelta(days=1)
    number = "-".join(f"{chance.randrange(10_000):04}" for _ in range(5))
    text = f"""Energy performance certificate (EPC)
{home[0]}
{home[1].upper()}
{home[2]}
Energy rating
{band}
Valid until: {until.day} {until:%B %Y}
Certificate number: {number}
Property type: Ground-floor flat
Total floor area 61 square metres
The property's current energy rating is {band}. It has the potential to be {chance.choice("ABC")}.
Date of assessment {issued.day} {issued:%B %Y}
Date of certificate {issued.day} {issued:%B %Y}
"""
    return Document(
        f"epc_{n}",
        text,
        {
            "kind": "certificate",
            "date": issued.isoformat(),
            "reference": number,
            "total": None,
            "certificate.type": "epc",
            "certificate.issuedDate": issued.isoformat(),
            "certificate.expiryDate": until.isoformat(),
            "certificate.rating": band,
            "certificate.result": None,
            "certificate.postcode": home[2],
        },
    )
