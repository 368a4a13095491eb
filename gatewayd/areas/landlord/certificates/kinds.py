"""The kinds of certificates (Domain B4): how long each holds, what it is of, and who asks for it. Pure."""

import datetime
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from gatewayd.clock import months_later
from gatewayd.ledger.certificate_shapes import CertificateType
from gatewayd.ledger.dates.months import DAY, following

Basis = Literal["law", "practice", "own"]
"""Who asks for it: the law, good practice, or nobody but the owner."""

RENEWAL_MONTHS: Final = 2
"""How early a gas safety check may be made without losing days (SI 1998/2451 reg 36A)."""


class Kind(NamedTuple):
    """One line of the table.

    `months` None: it has no end of its own. `applies` says to people what it is needed for. `of_tenancy`: each tenancy
    has one of its own. `by_title`: there may be several at once, which their titles tell apart. `on_day`: it is due
    again on the same day of the month; otherwise it holds to the eve of that day.
    """

    months: int | None
    applies: str
    basis: Basis
    source: str
    of_tenancy: bool = False
    by_title: bool = False
    on_day: bool = False


KINDS: Final[Mapping[CertificateType, Kind]] = {
    # What is checked within 12 months is in time on the day of the month of the check before (HSE L56, 305).
    "gas_safety": Kind(12, "gas supply", "law", "SI 1998/2451 reg 36", on_day=True),
    # "5 years beginning with the day" of the inspection: WSI 2022/6 reg 6, the strictest of the four.
    "eicr": Kind(60, "homes that are let", "law", "SI 2020/312; WSI 2022/6; 2006 asp 1 s19A; communities-ni"),
    "epc": Kind(120, "whatever is let", "law", "SI 2012/3118; NISR 2008/170 reg 8"),
    "hmo_licence": Kind(60, "licensing mandatory_hmo", "law", "Housing Act 2004 s68"),
    "additional_licence": Kind(60, "licensing additional_hmo", "law", "Housing Act 2004 s68"),
    "selective_licence": Kind(60, "licensing selective", "law", "Housing Act 2004 s91"),
    "fire_risk_assessment": Kind(12, "hmo, block", "practice", "Domain B4"),
    "legionella_assessment": Kind(24, "whatever is let", "practice", "Domain B4"),
    "pat": Kind(12, "furnished", "practice", "Domain B4"),
    "smoke_co_check": Kind(None, "each start of a tenancy", "law", "SI 2015/1693", of_tenancy=True),
    "emergency_lighting": Kind(12, "hmo", "practice", "Domain B4"),
    "fire_alarm": Kind(6, "hmo", "practice", "Domain B4"),
    "landlord_insurance": Kind(12, "nothing", "own", "Domain B4"),
    "buildings_insurance": Kind(12, "nothing", "own", "Domain B4"),
    "deposit_protection": Kind(None, "deposits", "law", "Housing Act 2004 s213", of_tenancy=True),
    "right_to_rent": Kind(None, "tenants", "law", "Immigration Act 2014 s22", of_tenancy=True, by_title=True),
    "landlord_registration": Kind(36, "jurisdiction scotland, northern_ireland", "law", "2004 asp 8 s83; nidirect"),
    "rent_smart_wales": Kind(60, "jurisdiction wales", "law", "2014 anaw 7 s4"),
    "prs_database": Kind(None, "jurisdiction england, once it opens", "law", "Domain B4"),
    "mees_exemption": Kind(60, "epc F or G", "law", "SI 2015/962 reg 36"),
    "other": Kind(None, "nothing", "own", "Domain B4", by_title=True),
}


def default_expiry(type_: CertificateType, issued: str, former_expiry: str | None) -> str | None:
    """The last day on which a certificate holds that was issued on an ISO date; None: it has no end.

    `former_expiry` is that of the one before it, if any: a gas safety check in the last 2 months of the former one is
    as good as one on its last day.
    """
    kind = KINDS[type_]
    if kind.months is None:
        return None
    day = datetime.date.fromisoformat(issued)
    if not kind.on_day:
        return (following(day, kind.months) - DAY).isoformat()
    if former_expiry is not None:
        deadline = datetime.date.fromisoformat(former_expiry)
        if months_later(deadline, -RENEWAL_MONTHS) < day <= deadline:
            day = deadline
    return months_later(day, kind.months).isoformat()
