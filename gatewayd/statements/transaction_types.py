"""What kind of transaction the words and codes of formats and banks mean (Domain B6)."""

from collections.abc import Mapping

from gatewayd.statements.shapes import TransactionType

OFX_TYPES: Mapping[str, TransactionType] = {  # TRNTYPE of OFX; the rest says a direction alone
    "INT": "interest",
    "FEE": "fee",
    "SRVCHG": "fee",
    "ATM": "cash",
    "POS": "card",
    "XFER": "transfer",
    "CHECK": "cheque",
    "CASH": "cash",
    "DIRECTDEP": "bacs",
    "DIRECTDEBIT": "direct_debit",
    "REPEATPMT": "standing_order",
}

MT940_TYPES: Mapping[str, TransactionType] = {  # the codes of field 61, subfield 6, of SWIFT's MT940
    "CHG": "fee",
    "BRF": "fee",
    "COM": "fee",
    "INT": "interest",
    "CHK": "cheque",
    "DDT": "direct_debit",
    "STO": "standing_order",
    "TRF": "transfer",
    "MSC": "other",
    "CLR": "cash",
    "BNK": "other",
}

ISO_FAMILIES: Mapping[str, TransactionType] = {  # domain-family[-subfamily] of ISO 20022's bank transaction codes
    "PMNT-IDDT": "direct_debit",
    "PMNT-RDDT": "direct_debit",
    "PMNT-CCRD": "card",
    "PMNT-MCRD": "card",
    "PMNT-CNTR": "cash",
    "PMNT-CCRD-CWDL": "cash",
    "PMNT-MCRD-CWDL": "cash",
    "PMNT-ICHQ": "cheque",
    "PMNT-RCHQ": "cheque",
    "PMNT-ICDT": "transfer",
    "PMNT-RCDT": "transfer",
    "PMNT-IRCT": "transfer",
    "PMNT-RRCT": "transfer",
    "PMNT-ICDT-STDO": "standing_order",
    "PMNT-RCDT-STDO": "standing_order",
    "PMNT-IRCT-STDO": "standing_order",
    "PMNT-ICDT-CHRG": "fee",
    "PMNT-MDOP-CHRG": "fee",
    "ACMT-MDOP-CHRG": "fee",
    "ACMT-MCOP-CHRG": "fee",
    "ACMT-MCOP-INTR": "interest",
    "ACMT-MDOP-INTR": "interest",
    "PMNT-MCOP-INTR": "interest",
    "LDAS-CSLN-INTR": "interest",
}
_CHARGES, _INTEREST = frozenset({"CHRG", "COMM", "COMT", "FEES"}), frozenset({"INTR"})

WORDS: Mapping[str, TransactionType] = {
    # Codes of British current accounts: those of Lloyds' group, NatWest, HSBC and Nationwide, as their lists have them.
    "fpi": "faster_payment",
    "fpo": "faster_payment",
    "fp": "faster_payment",
    "fps": "faster_payment",
    "bp": "faster_payment",
    "obp": "faster_payment",
    "tpp": "faster_payment",
    "faster payment": "faster_payment",
    "faster payments": "faster_payment",
    "faster payments in": "faster_payment",
    "faster payments out": "faster_payment",
    "payment": "other",
    "dd": "direct_debit",
    "d/d": "direct_debit",
    "direct debit": "direct_debit",
    "so": "standing_order",
    "s/o": "standing_order",
    "sto": "standing_order",
    "standing order": "standing_order",
    "deb": "card",
    "pos": "card",
    "vis": "card",
    "visa": "card",
    "dpc": "transfer",
    "ddr": "direct_debit",
    "crd": "card",
    ")))": "card",
    "card": "card",
    "card payment": "card",
    "contactless": "card",
    "visa purchase": "card",
    "contactless payment": "card",
    "debit card": "card",
    "online": "card",
    "chip & pin": "card",
    "mobile wallet": "card",
    "apple pay": "card",
    "google pay": "card",
    "atm": "cash",
    "cpt": "cash",
    "c/l": "cash",
    "csh": "cash",
    "cash": "cash",
    "cash withdrawal": "cash",
    "atm withdrawal": "cash",
    "cshb": "cash",
    "chq": "cheque",
    "cheque": "cheque",
    "cheque deposit": "cheque",
    "tfr": "transfer",
    "trf": "transfer",
    "xfr": "transfer",
    "transfer": "transfer",
    "pot transfer": "transfer",
    "topup": "transfer",
    "exchange": "transfer",
    "fee": "fee",
    "chg": "fee",
    "chrg": "fee",
    "charge": "fee",
    "charges": "fee",
    "fees": "fee",
    "int": "interest",
    "interest": "interest",
    "deposit interest": "interest",
    "bgc": "bacs",
    "bac": "bacs",
    "bacs": "bacs",
    "direct credit": "bacs",
    "bank credit": "bacs",
    "bacs (direct credit)": "bacs",
    "chaps": "chaps",
    "chp": "chaps",
}


def type_of_word(text: str) -> TransactionType:
    """The type that a bank's own word or code for it means: `DD`, `Faster payment`, `CARD_PAYMENT`.

    Words that follow it don't matter: `Direct debit NORTHERN WATER`.
    """
    words = text.lower().replace("_", " ").split()
    for count in range(min(len(words), 3), 0, -1):
        type_ = WORDS.get(" ".join(words[:count]))
        if type_ is not None:
            return type_
    return "other"


def type_of_iso_code(code: str) -> TransactionType:
    """The type of an ISO 20022 bank transaction code, `PMNT-RCDT-ESCT`: charges and interest first, then the family."""
    domain, family, subfamily = (*code.split("-"), "", "")[:3]
    if subfamily in _CHARGES:
        return "fee"
    if subfamily in _INTEREST:
        return "interest"
    return ISO_FAMILIES.get(code, ISO_FAMILIES.get(f"{domain}-{family}", "other"))
