"""What one process remembers by name: on which of it security or money rests, and why the rest may be lost.

With one daemon on one database all of this is right. A second daemon would have to share what is relied on, or each
would grant it anew: the list says what that is.
"""

import ast
from collections.abc import Iterator

from tests.structure.sources import PACKAGE, Source, sources

RELIED_ON = {
    "Authenticator._admissions": "a revocation acts at once because every commit ends what was admitted (data_version)",
    "ApiResponseCache._entries": "an answer is given again until the next commit by whichever process (data_version)",
}
"""By class and attribute."""

DISPENSABLE = {
    "ReplayCache._used": "proofs at a daemon that is alone on its database; where several share it they are rows",
    "RateLimits._allowances": "its share of what a credential or an open address may ask (leases/daemons)",
    "NetworkRateLimit._counts": "its share of what a network may ask without a credential",
    "StorageBudget._by_network": "its share of what a network may store without a credential",
    "RateLimit._lines": "its share of the tax authority's limit, which is looked at before it is used",
    "_Line.waiting": "who waits for that share: organizations take turns at each daemon",
    "BearerTokens._unstored": "what nobody else can have; its lease keeps others from spending anew, its generation "
    "from storing over it",
    "AccessTokenVerifier._verified": "a signature is good while the same keys are published; the grant is looked up",
    "SigningKeys._keys": "a copy of the table, read anew from time to time; a key is published before it signs",
    "CredentialUse._seen": "the day of the last use, for people to see",
    "CredentialUse._written": "the day of the last use, for people to see",
    "KeyUses._counts": "what keys were used for in the last minute, for people to see; each daemon adds its own",
    "ClientDocuments._under_way": "a document that is fetched twice is the same",
    "ClientDocuments._failed": "a document that is asked for again too soon",
    "ResponseCache._entries": "an answer of the authority that is asked for again",
    "SystemResolver._lookups": "a name that is looked up twice has the same addresses",
    "Hosts._told": "names that the log was told of already",
    "SystemResolver._failures": "a name that is asked for again too soon",
    "BearerTokens._refreshing": "what this process refreshes; the lease in its row keeps others from it",
    "RefreshLeases._held": "the same",
    "Holder._held": "what this process holds; the rows keep others from it",
    "Holder._unreleased": "what it could not let go, which ends by itself",
    "Appending._writers": "the requests of this process; the claim in its row keeps others from their bytes",
    "Room.under_way": "what one look is told",
    "Recognition._rows": "of the one document that its process reads, and ends with",
    "SendingLoop._claims": "what this process sends; the lease in the row keeps others from it",
    "SecretCache._opened": "a secret that is decrypted again",
    "ConnectionPool._idle": "a connection that is opened again",
    "SlowReceivers._ids": "a receiver that may hang once more",
    "SubscriptionCounters._by_subscription": "numbers since the start",
    "RequestCounters._by_operation": "numbers since the start",
    "Rounds.last": "when this process last did each round, for people to see",
    "Surroundings.environ": "what the program was started with",
    "_Walk.places": "a walk of retention that begins anew",
    "Count.held": "who holds places of this process, which end with it",
    "Shares._waiting": "who waits for them",
    "Server._connections": "the connections of this process",
    "Entries._linked": "the rows of the bundle that is being written",
    "Entries._named": "the rows of the bundle that is being written",
    "Places._strangers": "the connections of this process",
    "Places._known": "the connections of this process",
    "Places._unknown_of_proxies": "the connections of this process",
    "Valuing._rates": "what one answer looked up",
    "LinkTransfers._transfers": "downloads of links that may go on: another process counts them once more",
    "_Gate._streams": "the streams of one connection",
    "Day.staying": "what one write is about",
    "Pending.scope_of": "what one write is about",
    "_Expected.scope_of": "what one read is about",
    "_Expected.givers": "what one read is about",
    "_Expected.unmeasured": "what one read is about",
    "HeldOn._past_pools": "what one answer looked up",
    "Proposer._choices": "what one answer looked up",
    "Proposer._accounts": "what one answer looked up",
    "Proposer._habits": "what one answer looked up",
    "Exchanges._accounts": "what one answer looked up",
    "BankLines._accounts": "what one answer looked up",
    "Exchanges._rates": "what one answer looked up",
    "Router.ready": "made at the start",
    "Routes._fixed": "made from the rows at the start",
    "Routes._templates": "made from the rows at the start",
    "Routes._lists": "the same",
    "_Node.literal": "made from the rows at the start",
    "_Node.routes": "made from the rows at the start",
    "HeldBy.leads": "written in the row",
    "Operation.example": "written in the row",
    "_Reader._said": "what one statement file says, while it is read",
    "_Reader._statements": "the same",
    "_Reader._transaction": "the same",
    "Finder._instruments": "what one broker's file calls instruments by, while it is compared",
    "TradeRows._holdings": "the same, while it is read",
    "_Reader._halves": "splits of one broker's file of which one half was read",
    "Mapping.words": "how one file is read",
    "ColumnMapping.words": "the same",
    "FileCounts._ignored": "the rows of one file, while it is read; a run that is begun anew reads it anew",
    "_Seen.movements": "the rows of one file, looked through before it is read",
    "_Seen._first_days": "the same",
    "StatementRows._known": "one statement file, while it is read; a run that is begun anew reads it anew",
    "Whose._theirs": "the same",
    "_Reader._orphaned": "the same",
    "Plan._taken": "one comparison of a file with an account that is locked; begun anew it is the same",
    "_Fingerprints._counts": "the same, of one day",
    "Tree._of": "what one transaction looked up",
    "Tree._places": "the same",
    "FilePlaces.max_bytes": "a setting",
    "_Sums.blocks": "one calculation, then dropped",
    "Books._sums": "one report, then dropped",
    "Template._children": "the children of one template, which end with it",
    "MadeFiles._jobs": "what this process makes of documents; made twice it is the same",
    "WatchedFolder._seen": "files of the last look, which is made again",
    "WatchedFolder._left": "files that stay where they are, which are tried once more",
    "_Calendars._kept": "what feeds say, until the next commit by whichever process (data_version)",
    "KeptBlocks._kept": "signs of vectors, made anew from their rows; a revision in the database says of which",
    "Sources._modules": "one making of the description, then dropped",
    "_Writer.named": "the same",
    "BundleArchive._entries": "the names in one file, while it is read",
}

ELSEWHERE = ("gatewayd/cli/", "gatewayd/store/")
"""A command is a process of its own, and the store is what processes share."""
_KEYED = frozenset({"{}", "dict()", "set()", "OrderedDict()"})
_FACTORIES = frozenset({"dict", "set", "OrderedDict"})

SOURCES = [source for source in sources() if not source.name.startswith(ELSEWHERE)]


def classes(source: Source) -> Iterator[ast.ClassDef]:
    for node in source.nodes:
        if isinstance(node, ast.ClassDef):
            yield node


def assigned(defined: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """The attributes that `__init__` sets, with the text of their value; of a dataclass its fields' factories."""
    for node in defined.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            for statement in ast.walk(node):
                yield from _attributes(statement)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call):
            for keyword in node.value.keywords:
                if keyword.arg == "default_factory" and ast.unparse(keyword.value) in _FACTORIES:
                    yield ast.unparse(node.target), "{}"


def _attributes(statement: ast.AST) -> Iterator[tuple[str, str]]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    for target in targets:
        if isinstance(target, ast.Attribute):
            yield target.attr, ast.unparse(statement.value)


def remembered(source: Source) -> Iterator[str]:
    """What is looked up by a key and outlives a call."""
    for defined in classes(source):
        yield from (f"{defined.name}.{name}" for name, value in assigned(defined) if value in _KEYED)


def test_what_a_process_remembers_is_on_a_list() -> None:
    found = {name: source.name for source in SOURCES for name in remembered(source)}
    assert {name: where for name, where in found.items() if name not in RELIED_ON.keys() | DISPENSABLE.keys()} == {}


def test_what_is_on_a_list_is_there() -> None:
    existing = {f"{d.name}.{name}" for source in SOURCES for d in classes(source) for name, _ in assigned(d)}
    assert (RELIED_ON.keys() | DISPENSABLE.keys()) - existing == set()
    assert RELIED_ON.keys() & DISPENSABLE.keys() == set()


# -- the tests' own eyes


def test_memory_is_seen() -> None:
    text = (
        "class A:\n"
        "    kept: dict[str, int] = field(default_factory=dict)\n"
        "    def __init__(self):\n"
        "        self._a: dict[str, int] = {}\n"
        "        self._b = set()\n"
        "        self._c = 1\n"
    )
    assert list(remembered(Source(PACKAGE, "gatewayd/x.py", text))) == ["A.kept", "A._a", "A._b"]
