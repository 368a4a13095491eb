"""The house stands on its floors: a module imports only from floors below its own, and rooms don't know each other."""

import ast
import sys
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.structure.sources import PACKAGE, Import, Source, imports, sources

FLOORS = {
    **dict.fromkeys(["check_digits", "clock", "config", "errors", "http1", "ids", "isolation", "logs", "money"], 0),
    **dict.fromkeys(["service_manager", "shares"], 0),
    **dict.fromkeys(["contract", "extraction", "outbound", "sandbox_authority", "statements", "store"], 1),
    **dict.fromkeys(["events", "identity", "leases", "sending"], 2),
    **dict.fromkeys(["ledger", "mail"], 3),
    **dict.fromkeys(["bundles", "importing", "papers", "parsing", "performing", "proposing"], 5),
    **dict.fromkeys(["search", "tax", "vault_files", "webhooks"], 5),
    "access": 6,
    **dict.fromkeys(["http", "oauth", "console"], 7),
    **dict.fromkeys(["catalogue", "doctor", "following", "metrics", "provider"], 8),
    "daemon": 9,
    **dict.fromkeys(["__main__", "cli"], 10),
}
"""Every file and package that may stand in `gatewayd/`, but for the areas."""

DOORS = frozenset({"http", "oauth", "console"})
"""They are given areas, and know none by name: operations by the catalogue, what else they serve by the daemon."""
AREAS_FLOOR = 4
AREAS = frozenset(
    {"legal_entities", "businesses", "assets", "landlord", "accounting"}
    | {"banking", "vault", "billing", "periods", "crm", "organizations"}
)
FOLDERS: dict[str, dict[str, int]] = {
    "accounting": {
        **dict.fromkeys(["client_checks", "paper_links"], 0),
        "clients": 1,
        **dict.fromkeys(["invoices", "journeys"], 2),
        **dict.fromkeys(["bills", "owed", "paper_settings", "quotes", "receivables"], 3),
        **dict.fromkeys(["answering", "sending"], 4),
        "mails": 5,
        **dict.fromkeys(["recurring", "reminders"], 5),
    },
    "assets": {
        "books": 0,
        **dict.fromkeys(["pools", "prices"], 1),
        **dict.fromkeys(["gains", "income", "instruments"], 2),
        **dict.fromkeys(["positions", "transactions"], 3),
        **dict.fromkeys(["accounts", "imports", "performance", "portfolios"], 4),
    },
    "banking": {
        **dict.fromkeys(["allocations", "institutions"], 0),
        **dict.fromkeys(["accounts", "proposals", "rules"], 1),
        "transactions": 2,
        "imports": 3,
        "statements": 4,
    },
    "cli": {
        **dict.fromkeys(["context", "output", "progress", "runner", "time_arguments"], 0),
        **dict.fromkeys(["parser", "run_operation"], 1),
        **dict.fromkeys(["demo", "imports", "instance", "listing", "people", "reference", "tax"], 2),
        **dict.fromkeys(["books", "doctor", "events"], 3),
    },
    "identity": {
        **dict.fromkeys(["audit", "key_format", "open_access", "signing"], 0),
        **dict.fromkeys(["audit_search", "random_tokens"], 1),
        "clients": 2,
        "people": 3,
        **dict.fromkeys(["keys", "sign_in"], 4),
        "tokens": 5,
    },
    "landlord": {
        **dict.fromkeys(["linked_transactions", "register", "results"], 0),
        **dict.fromkeys(["certificates", "finance_costs", "mortgages", "rents", "tenants", "valuations"], 1),
        **dict.fromkeys(["tax_returns", "units"], 2),
        "tenancies": 3,
        **dict.fromkeys(["dashboard", "properties", "reminders"], 4),
    },
    "ledger": {
        **dict.fromkeys(["certificate_shapes", "csv_text", "dates", "exchange", "lists", "references"], 0),
        **dict.fromkeys(["credits", "imports", "loans", "rents", "taxpayers", "vat"], 1),
        "calendar": 2,
        **dict.fromkeys(["allocating", "named_files"], 3),
        "results": 4,
        "obligations": 5,
    },
    "store": {
        **dict.fromkeys(["catalogue", "failures", "reactions", "settings", "stemming"], 0),
        "objects": 1,
        **dict.fromkeys(["files", "migration_files"], 2),
        "sealer": 3,
        "transactions": 4,
        **dict.fromkeys(["rows", "sealing", "waiting_jobs"], 5),
        "engine": 6,
        **dict.fromkeys(["postgres", "sqlite", "writer"], 7),
        **dict.fromkeys(["backups", "copying", "erasing", "latest_change", "sealed_rows"], 8),
        "database": 9,
    },
    "webhooks": {
        **dict.fromkeys(["schedule", "sender", "signature"], 0),
        "settings": 1,
        "queue": 2,
        "subscribers": 3,
        **dict.fromkeys(["deliveries", "dispatch", "feeds"], 4),
        **dict.fromkeys(["replays", "test_events"], 5),
    },
    "tax": {
        **dict.fromkeys(["approvals", "fraud"], 0),
        **dict.fromkeys(["authority", "settings"], 1),
        "connections": 2,
        "sessions": 3,
        "forwarding": 4,
        **dict.fromkeys(["engine", "sync"], 5),
    },
    "vault": {
        **dict.fromkeys(["names", "parses"], 0),
        "documents": 1,
        **dict.fromkeys(["folders", "links", "proposals"], 2),
        **dict.fromkeys(["downloads", "search", "trash"], 3),
    },
}
"""The folders of an area or of another room, and its files beside them, on floors of their own.

One that is not named is free yet.
"""
NEIGHBOURS = {("ids", "clock"), ("shares", "errors"), ("__main__", "cli")}
"""Rooms of one floor that do know each other: ids sort by the time they are made, and who gets no place is told so."""

FREE = frozenset({"msgspec", "trio"})
CONFINED = {
    "apsw": ("gatewayd/store/",),
    "argon2": ("gatewayd/identity/sign_in/passwords.py",),
    "charset_normalizer": ("gatewayd/statements/text.py", "gatewayd/extraction/"),
    "PIL": ("gatewayd/extraction/",),
    "cryptography": ("gatewayd/store/sealer.py", "gatewayd/http1/certificates.py"),
    "defusedxml": (
        "gatewayd/statements/camt053.py",
        "gatewayd/statements/trades/flex.py",
        "gatewayd/extraction/",
        "gatewayd/store/objects/answers.py",
    ),
    "h11": ("gatewayd/webhooks/sender.py",),
    "httptools": ("gatewayd/http1/",),
    "botocore": ("gatewayd/store/objects/signing.py",),
    "httpcore": ("gatewayd/outbound/http_client.py", "gatewayd/store/objects/exchanges.py"),
    "httpx": (
        "gatewayd/outbound/http_client.py",
        "gatewayd/oauth/client_documents.py",
        "gatewayd/webhooks/feeds/remote_events.py",
    ),
    "hypercorn": ("gatewayd/http1/",),
    "idna": ("gatewayd/outbound/targets.py",),
    "jinja2": ("gatewayd/mail/messages.py",),
    "joserfc": ("gatewayd/identity/signing/jose.py",),
    "mt940": ("gatewayd/statements/mt940.py",),
    "outcome": ("gatewayd/store/",),
    "pyotp": ("gatewayd/identity/sign_in/second_factors.py",),
    "segno": ("gatewayd/console/", "gatewayd/papers/layout.py"),
    "webauthn": ("gatewayd/identity/sign_in/passkeys.py", "gatewayd/console/"),
    "werkzeug": ("gatewayd/console/",),
    "psycopg": ("gatewayd/store/postgres/",),
    "platformdirs": ("gatewayd/config/places.py",),
    "prometheus_client": ("gatewayd/metrics/",),
    "quart": ("gatewayd/console/",),
    "quart_trio": ("gatewayd/console/",),
    "rich": ("gatewayd/cli/output.py",),
    "shtab": ("gatewayd/cli/reference/completion.py",),
    "stdnum": ("gatewayd/check_digits.py",),
    "structlog": ("gatewayd/logs/",),
    "tenacity": (
        "gatewayd/tax/authority/upstream.py",
        "gatewayd/oauth/client_documents.py",
        "gatewayd/store/objects/exchanges.py",
    ),
    "trustme": ("gatewayd/cli/demo/receiver.py",),
    "docx": ("gatewayd/extraction/",),
    "numpy": ("gatewayd/search/",),
    "puremagic": ("gatewayd/extraction/",),
    "pypdfium2": ("gatewayd/extraction/",),
    "python_calamine": ("gatewayd/extraction/",),
    "selectolax": ("gatewayd/extraction/",),
    "sqlite_vec": ("gatewayd/store/",),
    "typst": ("gatewayd/papers/typesetting.py",),
    "wordllama": ("gatewayd/search/",),
    "_typeshed": ("gatewayd/config/",),  # types alone
}
"""Third parties by name, and where alone they may be imported."""

ON_A_THREAD = frozenset({"gatewayd/identity/sign_in/passwords.py"})  # hashing takes long on purpose
WITHOUT_TRIO = ("gatewayd/contract/", "gatewayd/identity/", "gatewayd/ledger/", "gatewayd/areas/", "gatewayd/events/")
WALL_CLOCK = {
    "time": {"time", "time_ns", "localtime", "gmtime", "ctime", "strftime"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
}

SOURCES = sources()


def room_of(dotted: str) -> str:
    """The room of a module of ours: `http1` for `gatewayd.http1.server`, `areas.crm` for `gatewayd.areas.crm.leads`."""
    parts = dotted.split(".")[1:]
    if parts[:1] == ["areas"] and len(parts) > 1:
        return ".".join(parts[:2])
    return parts[0] if parts else ""


def floor_of(room: str) -> int:
    return AREAS_FLOOR if room.startswith("areas") else FLOORS[room]


def folder_of(dotted: str) -> tuple[str, str]:
    """Room and folder of a module, a file beside the folders being one: `vault` and `links`, `store` and `schema`.

    Where it is the room itself the folder is empty.
    """
    area = dotted.removeprefix("gatewayd.").removeprefix("areas.")
    room, _, rest = area.partition(".")
    return room, rest.partition(".")[0]


def dotted_name(source: Source) -> str:
    return ".".join(source.path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def faults_of(found: Import) -> Iterator[str]:
    """What is wrong with an import of one of our own modules."""
    if found.target.startswith("."):
        yield f"{found.where}: relative imports hide where a module stands"
        return
    if found.target.partition(".")[0] != "gatewayd":
        return
    here, there = room_of(dotted_name(found.source)), room_of(found.target)
    if not here:
        yield f"{found.where}: gatewayd/__init__.py imports nothing of ours"
    elif here == there:
        yield from faults_in_a_room(found)
    elif (here, there) in NEIGHBOURS or there in ("", "__version__"):
        return
    elif there not in FLOORS and there.removeprefix("areas.") not in AREAS:
        yield f"{found.where}: {found.target} stands on no floor"
    elif here in DOORS and there.startswith("areas"):
        yield f"{found.where}: {here} is a door, and imports {there}"
    elif floor_of(there) >= floor_of(here):
        yield f"{found.where}: {here} (floor {floor_of(here)}) imports {there} (floor {floor_of(there)})"


def faults_in_a_room(found: Import) -> Iterator[str]:
    """What is wrong with an import of a module of the same room. The room itself joins what its folders have."""
    room, here = folder_of(dotted_name(found.source))
    _, there = folder_of(found.target)
    floors = FOLDERS.get(room)
    if floors is None or not here or here == there:
        return
    if there not in floors or here not in floors:
        yield f"{found.where}: {found.target} stands on no floor of {room}"
    elif floors[there] >= floors[here]:
        yield f"{found.where}: {room}.{here} (floor {floors[here]}) imports {room}.{there} (floor {floors[there]})"


def test_every_file_and_package_has_a_floor() -> None:
    entries = {
        path.name.removesuffix(".py") for path in PACKAGE.iterdir() if path.name not in ("__pycache__", "py.typed")
    }
    assert sorted(entries - FLOORS.keys() - {"__init__", "areas"}) == []
    areas = {path.name for path in (PACKAGE / "areas").iterdir() if path.name not in ("__pycache__", "__init__.py")}
    assert sorted(areas - AREAS) == []


@pytest.mark.parametrize("room", FOLDERS)
def test_every_folder_of_a_room_has_a_floor(room: str) -> None:
    folder = PACKAGE / "areas" / room if room in AREAS else PACKAGE / room
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    folders = {path.parent.name for path in folder.glob("*/*.py")}
    assert sorted(files | folders) == sorted(FOLDERS[room])


def test_no_room_is_called_as_an_area_is() -> None:
    """For their floors stand in one table."""
    assert AREAS.isdisjoint(FLOORS)


def test_imports_lead_downwards_only() -> None:
    assert [fault for source in SOURCES for found in imports(source) for fault in faults_of(found)] == []


def imported_modules(every: Iterable[Source]) -> dict[str, set[str]]:
    """The modules of ours that each imports, without the packages on the way to them."""
    named = {dotted_name(source): source for source in every}
    return {
        name: {
            module
            for found in imports(source)
            for module in (found.target if found.target in named else found.target.rpartition(".")[0],)
            if module in named and module != name
        }
        for name, source in named.items()
    }


def test_no_files_import_each_other_in_a_circle() -> None:
    """Whatever the floors: also within a folder."""
    TopologicalSorter(imported_modules(SOURCES)).prepare()


def test_third_parties_stay_where_they_belong() -> None:
    faults = []
    for found in (found for source in SOURCES for found in imports(source)):
        top = found.target.partition(".")[0]
        if top in sys.stdlib_module_names or top in ("gatewayd", "") or top in FREE:
            continue
        if top not in CONFINED:
            faults.append(f"{found.where}: {top} is not on the list of third parties")
        elif not found.source.name.startswith(CONFINED[top]):
            faults.append(f"{found.where}: {top} belongs to {', '.join(CONFINED[top])}")
    assert faults == []


def test_what_stands_in_a_transaction_does_not_know_the_event_loop() -> None:
    assert [
        found.where
        for source in SOURCES
        if source.name.startswith(WITHOUT_TRIO) and source.name not in ON_A_THREAD
        for found in imports(source)
        if found.target.partition(".")[0] == "trio"
    ] == []


def environment_reads(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.environ", "os.environb", "os.getenv"):
            yield source.at(node)
    for found in imports(source):
        if found.target in ("os.environ", "os.environb", "os.getenv", "os.putenv"):
            yield found.where


def wall_clock_reads(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.Attribute):
            owner = getattr(node.value, "id", None) or getattr(node.value, "attr", "")
            if node.attr in WALL_CLOCK.get(owner, ()):
                yield source.at(node)
    for found in imports(source):
        if found.target in ("time.time", "time.time_ns"):
            yield found.where


def test_the_environment_is_read_by_the_command_line_only() -> None:
    outside = (source for source in SOURCES if not source.name.startswith("gatewayd/cli/"))
    assert [where for source in outside for where in environment_reads(source)] == []


def test_the_wall_clock_is_asked_in_one_place() -> None:
    outside = (source for source in SOURCES if source.name != "gatewayd/clock.py")
    assert [where for source in outside for where in wall_clock_reads(source)] == []


# -- the tests' own eyes


def written(name: str, text: str) -> Source:
    return Source(PACKAGE.parent / name, name, text)


@pytest.mark.parametrize(
    ("name", "line", "fault"),
    [
        ("gatewayd/store/x.py", "from gatewayd.http import routes", "store (floor 1) imports http (floor 7)"),
        ("gatewayd/store/x.py", "from gatewayd import contract", "store (floor 1) imports contract (floor 1)"),
        (
            "gatewayd/areas/crm/x.py",
            "import gatewayd.areas.vault.y",
            "areas.crm (floor 4) imports areas.vault (floor 4)",
        ),
        (
            "gatewayd/areas/crm/x.py",
            "from gatewayd.areas import vault",
            "areas.crm (floor 4) imports areas.vault (floor 4)",
        ),
        ("gatewayd/clock.py", "from gatewayd.ids import IdSource", "clock (floor 0) imports ids (floor 0)"),
        (
            "gatewayd/http/x.py",
            "def f():\n    from gatewayd.daemon.daemon import Daemon",
            "http (floor 7) imports daemon (floor 9)",
        ),
        ("gatewayd/http/x.py", "from gatewayd.areas.crm.leads import LEADS", "http is a door, and imports areas.crm"),
        ("gatewayd/console/x.py", "from gatewayd.areas import crm", "console is a door, and imports areas.crm"),
        ("gatewayd/http/x.py", "from . import y", "relative imports"),
        ("gatewayd/__init__.py", "from gatewayd import clock", "imports nothing of ours"),
        ("gatewayd/http/x.py", "from gatewayd.utils import y", "stands on no floor"),
        (
            "gatewayd/areas/vault/documents/x.py",
            "from gatewayd.areas.vault.folders.rows import FOLDERS",
            "vault.documents (floor 1) imports vault.folders (floor 2)",
        ),
        (
            "gatewayd/areas/vault/links/x.py",
            "from gatewayd.areas.vault import folders",
            "vault.links (floor 2) imports vault.folders (floor 2)",
        ),
        (
            "gatewayd/ledger/vat/x.py",
            "from gatewayd.ledger.results.reports import y",
            "ledger.vat (floor 1) imports ledger.results (floor 4)",
        ),
        (
            "gatewayd/areas/vault/links/x.py",
            "from gatewayd.areas.vault import Settings",
            "gatewayd.areas.vault.Settings stands on no floor of vault",
        ),
        (
            "gatewayd/store/rows/x.py",
            "from gatewayd.store.backups import backup",
            "store.rows (floor 5) imports store.backups (floor 8)",
        ),
        (
            "gatewayd/identity/people/x.py",
            "def f():\n    from gatewayd.identity.tokens import dpop",
            "identity.people (floor 3) imports identity.tokens (floor 5)",
        ),
        (
            "gatewayd/store/sqlite/schema.py",
            "from gatewayd.store import Store",
            "gatewayd.store.Store stands on no floor of store",
        ),
    ],
)
def test_a_broken_floor_is_named_with_its_line(name: str, line: str, fault: str) -> None:
    found = [fault for found in imports(written(name, f"\n{line}\n")) for fault in faults_of(found)]
    assert len(found) == 1
    assert fault in found[0]
    assert found[0].startswith(f"{name}:{2 + line.count(chr(10))}:")


def test_the_area_itself_joins_its_folders_and_one_without_floors_is_free() -> None:
    free = [
        ("gatewayd/areas/vault/__init__.py", "from gatewayd.areas.vault.trash import OPERATIONS"),
        ("gatewayd/areas/vault/trash.py", "from gatewayd.areas.vault.documents import rows"),
        ("gatewayd/areas/vault/links/x.py", "from gatewayd.areas.vault.links import rows"),
        ("gatewayd/areas/crm/x.py", "from gatewayd.areas.crm import y"),
        ("gatewayd/store/__init__.py", "from gatewayd.store.rows.tables import Table"),
        ("gatewayd/store/rows/x.py", "from gatewayd.store import transactions"),
        ("gatewayd/http1/x.py", "from gatewayd.http1 import y"),
    ]
    assert [fault for name, line in free for found in imports(written(name, line)) for fault in faults_of(found)] == []


@pytest.mark.parametrize(
    ("name", "line", "fault"),
    [
        (
            "books/x.py",
            "from gatewayd.areas.assets.pools import y",
            "assets.books (floor 0) imports assets.pools (floor 1)",
        ),
        (
            "gains/x.py",
            "from gatewayd.areas.assets import income",
            "assets.gains (floor 2) imports assets.income (floor 2)",
        ),
        (
            "pools/x.py",
            "def f():\n    import gatewayd.areas.assets.gains.y",
            "assets.pools (floor 1) imports assets.gains (floor 2)",
        ),
        ("gains/x.py", "from gatewayd.areas.assets.misc import y", "stands on no floor of assets"),
        ("gains/x.py", "from gatewayd.areas.assets import AREA", "stands on no floor of assets"),
    ],
)
def test_a_broken_floor_of_an_area_is_named_with_its_line(name: str, line: str, fault: str) -> None:
    source = written(f"gatewayd/areas/assets/{name}", f"\n{line}\n")
    found = [fault for found in imports(source) for fault in faults_of(found)]
    assert len(found) == 1
    assert fault in found[0]
    assert found[0].startswith(f"gatewayd/areas/assets/{name}:{2 + line.count(chr(10))}:")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("gains/x.py", "from gatewayd.areas.assets.pools import y"),
        ("gains/x.py", "from gatewayd.areas.assets.gains import y"),
        ("__init__.py", "from gatewayd.areas.assets.gains import operations"),
    ],
)
def test_an_import_that_leads_downwards_is_none(name: str, line: str) -> None:
    source = written(f"gatewayd/areas/assets/{name}", f"{line}\n")
    assert [fault for found in imports(source) for fault in faults_of(found)] == []


def test_a_circle_of_files_is_seen() -> None:
    one = written("gatewayd/x/one.py", "from gatewayd.x import two\n")
    other = written("gatewayd/x/two.py", "def f():\n    from gatewayd.x.one import g\n")
    with pytest.raises(CycleError):
        TopologicalSorter(imported_modules([one, other])).prepare()


@pytest.mark.parametrize(
    "line",
    [
        "import time\ntime.time()",
        "from time import time",
        "import datetime\ndatetime.datetime.now(None)",
        "from datetime import date\ndate.today()",
    ],
)
def test_a_wall_clock_call_is_seen(line: str) -> None:
    assert len(list(wall_clock_reads(written("gatewayd/http/x.py", line)))) == 1


@pytest.mark.parametrize("line", ["import os\nos.environ['X']", "from os import getenv", "import os\nos.getenv('X')"])
def test_a_look_at_the_environment_is_seen(line: str) -> None:
    assert len(list(environment_reads(written("gatewayd/http/x.py", line)))) == 1
