"""The country codes that are assigned: ISO 3166-1 alpha-2, as of ISO/TC 46 N1127 (29 February 2024).

What is not assigned is no country: `UK` is reserved for the United Kingdom, whose code is GB, `EL` is how VAT numbers
write Greece, and `XI`, before those of Northern Ireland, is a part of a number as well.
"""

from typing import Final

_ASSIGNED = """
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC
CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD
GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH
KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW
MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC
SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY
UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
"""
COUNTRIES: Final = frozenset(_ASSIGNED.split())
_MEMBERS = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK"
EUROPEAN_UNION: Final = frozenset(_MEMBERS.split())
"""The member states since 1 February 2020."""


def pattern() -> str:
    """What matches a code and nothing else, by first letters: a third as long as all of them side by side."""
    firsts = sorted({code[0] for code in COUNTRIES})
    seconds = ("".join(sorted(code[1] for code in COUNTRIES if code[0] == first)) for first in firsts)
    return f"^({'|'.join(f'{first}[{letters}]' for first, letters in zip(firsts, seconds, strict=True))})$"
