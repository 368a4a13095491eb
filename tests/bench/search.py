"""Search in the vault: how many of a set of questions find their document, and what a question costs among many."""

import hashlib
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import apsw
import trio

from gatewayd.areas.vault.documents import index_queue, uploads
from gatewayd.areas.vault.documents.operations import confirm_upload, create_document_record
from gatewayd.areas.vault.documents.shapes import ConfirmUpload, CreateDocumentRecord
from gatewayd.areas.vault.documents.uploads import Settings
from gatewayd.areas.vault.parses import texts
from gatewayd.areas.vault.search import Mode, SearchDocuments
from gatewayd.clock import SystemClock
from gatewayd.extraction.shapes import Page
from gatewayd.search import index
from gatewayd.search.embedding import unit_vector
from gatewayd.search.embedding_child import ChildEmbedder
from gatewayd.search.engine import Search, SearchParts, open_search
from gatewayd.search.index import Unembedded
from gatewayd.search.sqlite_index import SqliteIndex
from gatewayd.store import Store, WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from gatewayd.store.sqlite import vectors
from gatewayd.store.stemming import Stemmer
from tests.bench.measure import Sample, Samples
from tests.bench.report import Figure, Report, at_least, at_most, percentile
from tests.importing.conftest import ImportLog
from tests.support.store import make_caller, migrated_image

ORG = "org_bench"
FOUND_IN = 3
DIMENSIONS = 256
_SET = Path(__file__).parent / "search_set"
_MODES: tuple[Mode, ...] = ("text", "vector", "hybrid")
_SETTINGS = Settings("http://127.0.0.1:8080", 1 << 20)
_ADD_ORG = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :id, :now)"


class Question(NamedTuple):
    """A question of a kind, and the one document that answers it."""

    kind: str
    text: str
    document: str


class SearchSize(NamedTuple):
    """So many documents among which is searched, and questions in each of so many rounds."""

    documents: int
    questions: int
    rounds: int


def measure_search(scratch: Path, size: SearchSize, report: Report) -> None:
    """What is found, and what it costs."""
    trio.run(_measure_quality, scratch, report)
    trio.run(_measure_cost, scratch, size, report)


# -- what is found


async def _measure_quality(scratch: Path, report: Report) -> None:
    documents = [line.split("\t") for line in _lines("documents.tsv")]
    questions = [Question(*line.split("\t")) for line in _lines("questions.tsv")]
    embedder = ChildEmbedder()
    async with (
        open_store(StoreSettings(directory=_directory(scratch)), SystemClock()) as store,
        trio.open_nursery() as nursery,
    ):
        await nursery.start(embedder.run)
        await store.write(lambda tx: tx.run(_ADD_ORG, id=ORG))
        async with open_search(SearchParts(store=store, embedder=embedder, log=ImportLog())) as search:
            for name, text in documents:
                await store.write(partial(_add, name=name, text=text), ORG)
            while await store.read(lambda tx: index_queue.length(tx) or index.unembedded(tx, embedder.model or "", 1)):
                await store.write_behind(lambda tx: None)
            hits = {mode: [await _is_found(search, one, mode) for one in questions] for mode in _MODES}
        nursery.cancel_scope.cancel()
    title = f"Search: {len(questions)} questions to {len(documents)} documents, found among the first {FOUND_IN}"
    report.add(title, {}, _recalls(questions, hits), _missed(questions, hits["hybrid"]))


def _recalls(questions: Sequence[Question], hits: dict[Mode, list[bool]]) -> Iterator[Figure]:
    yield from _recalls_of("recall", range(len(questions)), hits)
    for kind in dict.fromkeys(one.kind for one in questions):
        yield from _recalls_of(f"recall of {kind}", [at for at, one in enumerate(questions) if one.kind == kind], hits)


def _recalls_of(of: str, places: Sequence[int], hits: dict[Mode, list[bool]]) -> Iterator[Figure]:
    shares = {mode: sum(hits[mode][at] for at in places) / len(places) for mode in _MODES}
    best = max(shares["text"], shares["vector"])
    for mode in _MODES:
        yield Figure(f"{of}, {mode}", [shares[mode]], at_least(best) if mode == "hybrid" else None)


def _missed(questions: Sequence[Question], found: Sequence[bool]) -> list[str]:
    return [f"not found: {one.text} ({one.document})" for one, hit in zip(questions, found, strict=True) if not hit]


async def _is_found(search: Search, question: Question, mode: Mode) -> bool:
    request = SearchDocuments(q=question.text, mode=mode, limit=FOUND_IN)
    found = await search.search(ORG, request)
    assert found.mode_used == mode
    return question.document in [one.document.name for one in found.data]


def _add(tx: WriteTx, *, name: str, text: str) -> str:
    made = create_document_record(tx, make_caller(ORG), CreateDocumentRecord(name=name), settings=_SETTINGS)
    token = made.upload.url.rpartition("/")[2]
    uploads.receive(tx, token, len(text), hashlib.sha256(text.encode()).hexdigest())
    confirm_upload(tx, make_caller(ORG), ConfirmUpload(document_id=made.document.id))
    texts.replace(tx, made.document.id, [Page(number=1, text=text)])
    return made.document.id


def _lines(name: str) -> list[str]:
    return (_SET / name).read_text("utf-8").splitlines()


def _directory(scratch: Path) -> Path:
    directory = Path(tempfile.mkdtemp(dir=scratch))
    (directory / DATABASE_NAME).write_bytes(migrated_image())
    return directory


# -- what it costs


class Known:
    """Gives vectors that were made before, so that the cost of a question is that of the search."""

    model: str | None = "known"

    def __init__(self) -> None:
        self.vector = b""

    async def embed(self, texts: Sequence[str], seconds: float) -> list[bytes]:
        await trio.lowlevel.checkpoint()
        return [self.vector] * len(texts)


class TimedQuestion(NamedTuple):
    text: str
    vector: bytes


async def _measure_cost(scratch: Path, size: SearchSize, report: Report) -> None:
    print(f"\nseeding {size.documents:,} documents", flush=True)
    source = random.Random(20_417)
    bare = _Bare(Path(tempfile.mkdtemp(dir=scratch)) / "bare.db")
    known, samples, took = Known(), Samples(), list[float]()
    async with open_store(StoreSettings(directory=_directory(scratch)), SystemClock()) as store:
        await _seed(store, bare, size.documents, source)
        search = Search(SearchParts(store=store, embedder=known, log=ImportLog()))
        for _ in range(size.rounds):
            asked = [TimedQuestion(_words(source, 3), _vector(source)) for _ in range(size.questions)]
            samples.setdefault("search", []).append(await _turn(search, known, asked, took))
            samples.setdefault("bare FTS5 and vec0", []).append(_bare_turn(bare, asked))
    pairs = zip(samples["search"], samples["bare FTS5 and vec0"], strict=True)
    figures = [
        Figure("hybrid / bare, CPU", [ours.cpu_us / theirs.cpu_us for ours, theirs in pairs], at_most(1.5)),
        Figure("hybrid, p95", [percentile(took, 95)], at_most(60), "ms"),
        Figure("hybrid, p50", [percentile(took, 50)], None, "ms"),
    ]
    report.add(f"Search among {size.documents:,} documents", samples, figures)


async def _turn(search: Search, known: Known, asked: Sequence[TimedQuestion], took: list[float]) -> Sample:
    before = time.process_time()
    for one in asked:
        started = time.perf_counter()
        known.vector = one.vector
        found = await search.search(ORG, SearchDocuments(q=one.text, limit=20))
        took.append((time.perf_counter() - started) * 1e3)
        assert len(found.data) == 20
    return _sample(before, len(asked))


def _bare_turn(bare: "_Bare", asked: Sequence[TimedQuestion]) -> Sample:
    before = time.process_time()
    for one in asked:
        assert bare.search(one)
    return _sample(before, len(asked))


def _sample(before: float, requests: int) -> Sample:
    spent = time.process_time() - before
    return Sample(
        requests=requests, user_us=spent * 1e6 / requests, system_us=0.0, requests_per_second=requests / spent
    )


async def _seed(store: Store, bare: "_Bare", count: int, source: random.Random) -> None:
    await store.write(lambda tx: tx.run(_ADD_ORG, id=ORG))
    batch = 500
    for _ in range(count // batch):
        made = [(_words(source, 60), _vector(source)) for _ in range(batch)]
        await store.write(partial(_put, made=made), ORG)
        bare.add(made)


def _put(tx: WriteTx, *, made: Sequence[tuple[str, bytes]]) -> None:
    stemmer, into = Stemmer(), SqliteIndex()
    for text, vector in made:
        document_id = _add(tx, name="letter.txt", text=text)
        indexed = index.prepare(tx, into, document_id, stemmer)
        index.put(tx, into, indexed, 0)
        (passage,) = indexed.passages
        index.set_vector(tx, Unembedded(ORG, document_id, 0, passage.digest), vector, "known")
        for waiting in index_queue.waiting(tx, 1):
            index_queue.take_out(tx, waiting)
    stemmer.close()


def _words(source: random.Random, count: int) -> str:
    """Words of a language of 20,000, of which the first are said most."""
    return " ".join(_word(min(int(source.paretovariate(0.6)), 20_000)) for _ in range(count))


def _word(number: int) -> str:
    consonants, vowels = "bdfgklmnprstvz", "aeiou"
    syllables = []
    for _ in range(4):
        number, first = divmod(number, len(consonants))
        number, second = divmod(number, len(vowels))
        syllables.append(consonants[first] + vowels[second])
    return "".join(syllables)


def _vector(source: random.Random) -> bytes:
    return unit_vector([source.gauss(0, 1) for _ in range(DIMENSIONS)])


class _Bare:
    """FTS5 and the virtual table of sqlite-vec as their manuals have them, and their lists made one."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        vectors.load(self._connection)
        run: Callable[..., object] = self._connection.execute
        run("PRAGMA journal_mode = WAL")
        run("CREATE VIRTUAL TABLE words USING fts5 (body, tokenize = 'porter unicode61 remove_diacritics 2')")
        run(f"CREATE VIRTUAL TABLE near USING vec0 (embedding float[{DIMENSIONS}] distance_metric=cosine)")

    def add(self, made: Sequence[tuple[str, bytes]]) -> None:
        with self._connection:
            self._connection.executemany("INSERT INTO words (body) VALUES (?)", [(text,) for text, _ in made])
            self._connection.executemany("INSERT INTO near (embedding) VALUES (?)", [(vector,) for _, vector in made])

    def search(self, asked: TimedQuestion) -> list[int]:
        words = " OR ".join(f'"{word}"' for word in asked.text.split())
        by_words = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 200"
        by_meaning = "SELECT rowid FROM near WHERE embedding MATCH ? AND k = 200"
        scores: dict[int, float] = {}
        for sql, value in ((by_words, words), (by_meaning, asked.vector)):
            for rank, (number,) in enumerate(self._connection.execute(sql, (value,)), 1):
                scores[number] = scores.get(number, 0.0) + 1 / (60 + rank)
        return sorted(scores, key=lambda number: -scores[number])[:20]
