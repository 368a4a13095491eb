"""`gatewayd doctor`, for search: whether words can be indexed here, and what gives texts their meanings."""

from collections.abc import Iterator

from gatewayd.doctor.examined import Examined
from gatewayd.doctor.findings import Finding, missing_finding


def search(examined: Examined) -> Iterator[Finding]:
    """A service of embeddings is not asked: what it does is seen in the daemon's log. Off is nothing wrong."""
    from gatewayd.search.availability import missing
    from gatewayd.store.sqlite import vectors

    if (fault := vectors.words_fault()) is not None:
        yield Finding("search", False, f"{fault}: documents cannot be searched.")
        return
    chosen = examined.config.vault.embeddings
    if chosen == "off":
        yield Finding("search", True, "By words alone: vault.embeddings is off.")
    elif (fault := vectors.fault()) is not None:
        yield Finding("search", False, f"By words alone: {fault}.")
    elif (lacking := missing(examined.config)) is not None:
        yield Finding("search", True, f"By words alone: {lacking}, which there is not for every machine.")
    elif absent := missing_finding(examined, "vault.embeddings_key_file"):
        yield absent
    else:
        by = "the model that is installed" if chosen == "wordllama" else chosen
        yield Finding("search", True, f"By words, and by meaning with {by}.")
