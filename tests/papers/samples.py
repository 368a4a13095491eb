"""Papers of which a test changes what it is about."""

from msgspec.structs import replace

from gatewayd.papers.paper import BankDetails, Credited, Look, Paper, PaperAddress, PaperGroup, PaperLine, Party

LEEDS = PaperAddress(
    line1="12a Oak Street", line2=None, town="Leeds", county=None, postcode="LS1 4DY", country_code="GB"
)
WHARF = PaperAddress(
    line1="Canal Wharf", line2="Unit 5", town="Manchester", county=None, postcode="M1 2AB", country_code="GB"
)
ACCOUNT = BankDetails(name="Oak & Son Kitchens Ltd", sort_code="204500", account_number="31926819", iban=None, bic=None)
EURO_ACCOUNT = BankDetails(
    name="Oak & Son Kitchens Ltd", sort_code=None, account_number=None, iban="GB33BUKB20201555555555", bic="BUKBGB22"
)
SELLER = Party(
    key="ent_1",
    name="Oak & Son Kitchens Ltd",
    contact_name=None,
    address=LEEDS,
    country_code="GB",
    vat_number="GB577215622",
    company_number="13579246",
    email="accounts@oakandson.example",
)
CLIENT = Party(
    key="cli_1",
    name="Canal Wharf Management Ltd",
    contact_name="Jo Smith",
    address=WHARF,
    country_code="GB",
    vat_number="GB980780684",
    company_number=None,
    email="ap@canal.example",
)


def line(position: int = 1, **fields: object) -> PaperLine:
    """7.5 hours at 85.00 and 20%: 637.50, and 127.50 of VAT, by hand."""
    plain = PaperLine(
        position=position,
        description=f"Joinery of oak boards, part {position}",
        quantity="7.5",
        unit="hours",
        unit_price="85",
        discount="0",
        vat_code="standard",
        rate="20",
        net="637.50",
        vat="127.50",
        gross="765.00",
        cis_labour=False,
    )
    return replace(plain, **fields)


def paper(count: int = 1, **fields: object) -> Paper:
    """An invoice of so many such lines."""
    plain = Paper(
        kind="invoice",
        mark="",
        number="INV-000042",
        issue_date="2026-11-20",
        supply_date="2026-11-18",
        due_date="2026-12-20",
        currency="GBP",
        base_currency="GBP",
        exponent=2,
        fx_rate=None,
        amounts_are="exclusive",
        seller=SELLER,
        client=CLIENT,
        lines=[line(position) for position in range(1, count + 1)],
        groups=[group("standard", "20", f"{637.5 * count:.2f}", f"{127.5 * count:.2f}")],
        net_total=f"{637.5 * count:.2f}",
        vat_total=f"{127.5 * count:.2f}",
        gross_total=f"{765 * count:.2f}",
        discount_total="0.00",
        reverse_charge_vat="0.00",
        vat_total_base=None,
        cis_deduction="0.00",
        cis_rate=None,
        payable=f"{765 * count:.2f}",
        reference="Flat 5",
        po_number="PO-77",
        notes="Thank you for your custom.",
        terms="30 days net.\nStatutory interest on late payment.",
        bank=ACCOUNT,
        credited=None,
        look=Look(register="England and Wales", registered_office=LEEDS, footer="Makers of kitchens since 1987"),
    )
    return replace(plain, **fields)


def group(code: str, rate: str, net: str, vat: str, *, reverse_charge: bool = False) -> PaperGroup:
    return PaperGroup(vat_code=code, rate=rate, net=net, vat=vat, reverse_charge=reverse_charge)


def free_of_vat(code: str, rate: str = "0", accounted: str = "0.00", **fields: object) -> Paper:
    """637.50 on which the seller charges no VAT, of which the client may account for some."""
    return paper(
        lines=[line(vat_code=code, rate=rate, vat="0.00", gross="637.50")],
        groups=[group(code, rate, "637.50", accounted, reverse_charge=accounted != "0.00")],
        vat_total="0.00",
        reverse_charge_vat=accounted,
        gross_total="637.50",
        payable="637.50",
        **fields,
    )


CREDIT_NOTE = {"kind": "credit_note", "credited": Credited(number="INV-000041", issue_date="2026-11-01")}
EUROS = {
    "currency": "EUR",
    "vat_total_base": "110.11",
    "fx_rate": "0.8636",
    "bank": EURO_ACCOUNT,
}
UNDER_CIS = {"cis_deduction": "127.50", "cis_rate": 20, "payable": "637.50"}
UNREGISTERED = replace(SELLER, vat_number=None, company_number=None)
CASES = {
    "one line": paper(),
    "40 lines": paper(40),
    "credit note": paper(**CREDIT_NOTE),
    "under CIS": paper(**UNDER_CIS),
    "in euros": paper(**EUROS),
    "domestic reverse charge": free_of_vat("reverse_charge_domestic_standard", "20", "127.50"),
    "services overseas": free_of_vat("reverse_charge_services_overseas"),
    "services overseas to nobody known": free_of_vat(
        "reverse_charge_services_overseas", client=replace(CLIENT, vat_number=None)
    ),
    "export": free_of_vat("export_goods_zero"),
    "goods from NI": free_of_vat(
        "ni_eu_goods_zero", client=replace(CLIENT, vat_number="DE136695976", country_code="DE")
    ),
    "goods from NI to nobody known": free_of_vat("ni_eu_goods_zero", client=replace(CLIENT, vat_number=None)),
    "zero rate": free_of_vat("zero"),
    "exempt": free_of_vat("exempt"),
    "outside the scope": free_of_vat("outside_scope"),
    "margin scheme": free_of_vat("margin_scheme"),
    "not registered": free_of_vat("outside_scope", seller=UNREGISTERED),
    "without an account": paper(bank=None),
    "without references": paper(reference=None, po_number=None, notes=None, terms=None),
    "without an address of the client": paper(client=replace(CLIENT, address=None)),
}
