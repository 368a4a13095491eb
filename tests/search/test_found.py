"""What is found, by whom, and that the index follows the documents."""

import pytest
import trio
from msgspec import UNSET

from gatewayd.areas.vault import trash
from gatewayd.areas.vault.documents.operations import delete_document, update_document
from gatewayd.areas.vault.documents.shapes import DeleteDocument, RestoreDocument, UpdateDocument
from gatewayd.areas.vault.trash import restore_document
from gatewayd.search import engine
from gatewayd.search.signs import KeptBlocks
from gatewayd.store import ReadTx, WriteTx
from tests.search.conftest import DEADLINE, ORG, OTHER, FakeEmbedder, OpenShelf, counted
from tests.support.store import ON_POSTGRESQL

_PARTS_ANY_ORG = "SELECT count(*) FROM vault_index_parts"
_CHUNKS_ANY_ORG = "SELECT count(*) FROM vault_chunks"
_CHECK = "INSERT INTO vault_words (vault_words, rank) VALUES ('integrity-check', 1)"


def kept(tx: ReadTx) -> tuple[int, int]:
    return tx.value(_PARTS_ANY_ORG), tx.value(_CHUNKS_ANY_ORG)


async def test_a_document_is_found_by_its_text_its_name_and_both(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        letter = await shelf.add("The roof of the barn leaks.", "Surveyor_report-2026.pdf")
        await shelf.add("Nothing of the kind.", "notes.txt")
        for query in ("roofs", "leaking barn", "surveyor", "REPORT roof", "2026"):
            assert (await shelf.ids(query))[:1] == [letter], query


async def test_the_index_follows_a_document(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        id_ = await shelf.add("Invoice for slates.", "first.txt")
        assert await shelf.ids("first slates") == [id_]
        await shelf.change(update_document, UpdateDocument(document_id=id_, name="second.txt", folder_id=UNSET))
        assert (await shelf.ids("first"), await shelf.ids("second")) == ([], [id_])
        await shelf.read_anew(id_, "Invoice for tiles.")
        assert (await shelf.ids("slates"), await shelf.ids("tiles")) == ([], [id_])
        await shelf.change(delete_document, DeleteDocument(document_id=id_))
        assert await shelf.ids("tiles") == []
        assert await shelf.store.read(kept) == (0, 0)
        await shelf.change(restore_document, RestoreDocument(document_id=id_))
        assert await shelf.ids("tiles") == [id_]
        await shelf.change(delete_document, DeleteDocument(document_id=id_))
        await shelf.store.write(lambda tx: trash.forget(tx, id_), ORG)
        assert await shelf.ids("tiles", mode="hybrid") == []
        assert await shelf.store.read(kept) == (0, 0)


async def test_what_went_into_the_trash_is_not_found_before_the_index_knows_it(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        id_ = await shelf.add("Invoice for heating.")
        await shelf.indexed()
        await shelf.change(delete_document, DeleteDocument(document_id=id_))
        assert (await shelf.search("invoice heating")).data == []


async def test_what_is_in_the_trash_hides_none_that_comes_after_it(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        ids = [await shelf.add("Invoice " * (9 - n) + "for heating.", f"{n}.txt") for n in range(9)]
        assert await shelf.ids("invoice", limit=50) == ids
        for id_ in ids[:7]:
            await shelf.change(delete_document, DeleteDocument(document_id=id_))
        page = await shelf.search("invoice", mode="text", limit=1)
        assert ([one.document.id for one in page.data], page.next_cursor is None) == ([ids[7]], False)


async def test_the_words_of_another_organization_are_not_found_nor_told(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        own = await shelf.add("Rent of the mill.", "mill.txt")
        other = await shelf.add("Rent of the brewery, org_a.secret", "mill.txt", OTHER)
        for mode in ("hybrid", "text", "vector"):
            assert await shelf.ids("rent mill", mode=mode) == [own], mode
            assert await shelf.ids("rent mill", OTHER, mode=mode) == [other], mode
        assert await shelf.ids("brewery") == []
        found = await shelf.search("brewary", mode="text")
        assert (found.data, found.warnings) == ([], []), "nothing is corrected to a word of another"
        assert await shelf.ids("secret") == []
        assert (await shelf.ids(f"{OTHER}.rent"), await shelf.ids("org_b rent")) == ([], [own])


async def test_documents_of_any_length_are_found_by_their_last_words(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        long = await shelf.add("\f".join(["some words of a page " * 400] * 40 + ["the zeppelin lands"]))
        assert await shelf.ids("zeppelin") == [long]
        (found,) = (await shelf.search("zeppelin", mode="text")).data
        (snippet,) = found.snippets
        assert (snippet.page, snippet.text) == (41, "the zeppelin lands")
        assert [snippet.text[a:b] for a, b in snippet.highlights] == ["zeppelin"]


async def test_meaning_is_found_without_any_of_the_words(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        boiler = await shelf.add("The boiler was serviced.", "a.txt")
        car = await shelf.add("The vehicle was washed.", "b.txt")
        await shelf.indexed()
        found = await shelf.search("heating", mode="vector")
        assert [one.document.id for one in found.data] == [boiler, car]
        first = found.data[0]
        assert (first.text_rank, first.vector_rank, found.mode_used) == (None, 1, "vector")
        assert [(one.text, one.page, one.highlights) for one in first.snippets] == [("The boiler was serviced.", 1, [])]
        found = await shelf.search("vehicle washing")
        assert [(one.document.id, one.text_rank) for one in found.data] == [(car, 1), (boiler, None)]
        assert found.mode_used == "hybrid"
        assert found.data[0].score > found.data[1].score


async def test_what_is_near_in_meaning_follows_the_documents(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:

        async def near(org: str = ORG) -> list[str]:
            await shelf.indexed()
            return await shelf.ids("heating", org, mode="vector", limit=1)

        car = await shelf.add("The vehicle was washed.", "a.txt")
        other = await shelf.add("The radiator of the neighbour.", "a.txt", OTHER)
        assert (await near(), await near(OTHER)) == ([car], [other])
        boiler = await shelf.add("The boiler was serviced.", "b.txt")
        assert await near() == [boiler]
        await shelf.read_anew(boiler, "The rent was paid.")
        await shelf.read_anew(car, "Nothing but a radiator.")
        assert await near() == [car]
        await shelf.change(delete_document, DeleteDocument(document_id=car))
        assert (await near(), await near(OTHER)) == ([boiler], [other])


async def test_once_nobody_asks_nothing_is_kept_in_memory(
    open_shelf: OpenShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleared = trio.Event()
    monkeypatch.setattr(engine, "KEPT_SECONDS", 0.001)
    monkeypatch.setattr(KeptBlocks, "clear", lambda kept: cleared.set())
    async with open_shelf() as shelf:
        for _ in range(2):
            assert not cleared.is_set()
            await shelf.ids("heating", mode="vector")
            with trio.fail_after(DEADLINE):
                await cleared.wait()
            cleared = trio.Event()


async def test_one_common_word_does_not_come_before_what_is_near_in_meaning(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        boiler = await shelf.add("The boiler was serviced.", "a.txt")
        car = await shelf.add("A visit of the vehicle.", "b.txt")
        coded = await shelf.add("Vehicle LX21 KFT.", "c.txt")
        await shelf.indexed()
        found = await shelf.search("visit for radiator heating")
        assert [(one.document.id, one.text_rank) for one in found.data][:1] == [(boiler, None)]
        assert await shelf.ids("visit for radiator heating") == [car], "by words alone one is enough"
        found = await shelf.search("radiator heating LX21KFT")
        assert [one.document.id for one in found.data if one.text_rank] == [coded], "a code always is"


async def test_without_meanings_words_answer_with_a_warning(open_shelf: OpenShelf) -> None:
    async with open_shelf(FakeEmbedder(is_down=True)) as shelf:
        id_ = await shelf.add("The boiler was serviced.")
        await shelf.indexed()
        for mode in ("hybrid", "vector"):
            found = await shelf.search("boiler", mode=mode)
            assert ([one.document.id for one in found.data], found.mode_used) == ([id_], "text")
            (warning,) = found.warnings
            assert (warning.code, warning.message) == ("no_embeddings", "It was looked for by words alone: it is down.")
        assert (await shelf.search("boiler", mode="text")).warnings == []


async def test_another_model_has_all_embedded_anew(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        id_ = await shelf.add("The boiler was serviced.")
        await shelf.indexed()
    for model in ("fake-0", "fake-2"):
        embedder = FakeEmbedder(model=model)
        async with open_shelf(embedder) as shelf:
            assert await shelf.ids("heating", mode="vector") == [id_]
            assert "letter. The boiler was serviced." in embedder.embedded


async def test_a_passage_that_says_the_same_keeps_its_vector(open_shelf: OpenShelf) -> None:
    first, second = ("The boiler was serviced. " * 20, "The rent was paid. " * 20)
    async with open_shelf() as shelf:
        id_ = await shelf.add(f"{first}\f{second}")
        await shelf.indexed()
        shelf.embedder.embedded.clear()
        await shelf.read_anew(id_, f"{first}\fThe car was sold.")
        await shelf.indexed()
        assert shelf.embedder.embedded == ["The car was sold."]


async def test_the_index_is_whole(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        for n in range(40):
            await shelf.add(f"Letter {n} of the tenant.", f"{n}.txt", (ORG, OTHER)[n % 2])
        await shelf.indexed()

        def check(tx: WriteTx) -> None:
            if ON_POSTGRESQL:
                known, there = counted(tx)
                assert known == there
            else:
                tx.run(_CHECK)

        await shelf.store.write(check, ORG)
        assert len(await shelf.ids("letter tenant", limit=50)) == 20
