"""What people said that words of a profile's files mean is remembered, for its next file (Domain E)."""

from msgspec import structs

from gatewayd.ledger.imports.import_runs import learn, learned
from gatewayd.statements.shapes import Mapping
from gatewayd.store import ReadTx, WriteTx


def more(tx: ReadTx, profile: str | None, said: Mapping | None) -> Mapping | None:
    """What was said of a profile's file, with what is known of other words; None: no more is."""
    known = None if profile is None else learned(tx, "broker", _headings(profile))
    told = Mapping() if said is None else said
    if known is None or known.words.keys() <= told.words.keys():
        return None
    return structs.replace(told, words=known.words | told.words)


def keep(tx: WriteTx, profile: str | None, said: Mapping | None) -> None:
    """Remember what was said of words, beside what was said of others before."""
    if profile is None or said is None or not said.words:
        return
    whole = more(tx, profile, said) or said
    learn(tx, "broker", _headings(profile), Mapping(words=whole.words))


def _headings(profile: str) -> list[str]:
    """What stands for the headings of all files of a profile; no file has such headings."""
    return ["", profile]
