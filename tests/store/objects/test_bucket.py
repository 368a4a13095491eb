"""Objects of a bucket: written whole or not at all, and asked for again where that helps, within bounded time."""

import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from gatewayd.clock import SECOND, Instant
from gatewayd.store.failures import StoreFailure
from gatewayd.store.objects import bucket as bucket_module
from gatewayd.store.objects import exchanges
from gatewayd.store.objects.bucket import Objects
from gatewayd.store.objects.exchanges import NoObject
from gatewayd.store.settings import Bucket
from tests.support import objects
from tests.support.objects import Front, ObjectServer

LATER = Instant(1 << 60)


@pytest.fixture
def front(object_server: ObjectServer) -> Iterator[Front]:
    with objects.front_of(object_server) as front:
        yield front


@pytest.fixture
def there(object_server: ObjectServer, front: Front, tmp_path: Path) -> Objects:
    """A bucket that is reached by a way which may fail."""
    return Objects(object_server.bucket(tmp_path, endpoint=front.address))


def put_large(there: Objects, path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """An object of three parts."""
    monkeypatch.setattr(bucket_module, "PART_BYTES", 5 << 20)
    content = os.urandom(11 << 20)
    path.write_bytes(content)
    there.put_file("large", path, len(content), hashlib.sha256(content).hexdigest())
    return content


def test_what_is_put_is_read_listed_copied_and_deleted(bucket: Bucket) -> None:
    there = Objects(bucket)
    with pytest.raises(NoObject):
        there.get("a/one")
    there.put("a/one", b"1234")
    there.put("a/two", b"")
    there.put("other", b"56")
    assert (there.get("a/one"), there.get("a/two")) == (b"1234", b"")
    assert [(each.key, each.size_bytes) for each in there.list("a/")] == [("a/one", 4), ("a/two", 0)]
    assert list(there.list_folders("")) == ["a"]
    there.copy("a/one", "b/one")
    assert b"".join(there.stream("b/one")) == b"1234"
    with pytest.raises(NoObject):
        there.copy("a/none", "b/none")
    there.delete("a/one")
    there.delete("a/one")
    with pytest.raises(NoObject):
        list(there.stream("a/one"))
    assert objects.keys(bucket) == ["a/two", "b/one", "other"]


def test_only_what_is_below_the_prefix_is_seen(bucket: Bucket) -> None:
    Objects(bucket._replace(prefix="books/of/ash/")).put("a", b"1")
    Objects(bucket._replace(prefix="")).put("a", b"2")
    assert list(Objects(bucket).list("")) == []
    assert objects.keys(bucket._replace(prefix="")) == ["a", "books/of/ash/a"]


def test_a_listing_of_several_pages(bucket: Bucket, there: Objects, front: Front) -> None:
    for number in range(5):
        there.put(f"a/{number}", b"x")

    def one_at_a_time(handler: objects._Handler, passing: objects.Passing) -> bool:
        passing.target += "&max-keys=2"
        return True

    with front.failing(objects.of("GET", one_at_a_time, "list-type")):
        assert [each.key for each in there.list("")] == [f"a/{number}" for number in range(5)]
    assert sum("continuation-token" in each.target for each in front.seen) == 2


def test_the_stores_clock_is_asked_and_nothing_stays(bucket: Bucket) -> None:
    there = Objects(bucket)
    there.put("before", b"")
    told = there.instant("probe")
    there.put("behind", b"")
    before, behind = (each.modified_at for each in there.list("be"))
    assert before <= told <= behind
    assert told % SECOND == 0
    assert objects.keys(bucket) == ["before", "behind"]


# -- large ones


def test_a_large_one_goes_in_parts(there: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = put_large(there, tmp_path / "large", monkeypatch)
    assert b"".join(there.stream("large")) == content


@pytest.mark.parametrize("where", ["partNumber=2", "uploadId="])
def test_a_large_one_whose_answers_get_lost(
    there: Objects, front: Front, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """The second try of the last request finds nothing to finish: what it was to make is there."""
    method = "PUT" if "part" in where else "POST"
    with front.failing(objects.of(method, objects.times(1, objects.unheard), where)):
        content = put_large(there, tmp_path / "large", monkeypatch)
    assert b"".join(there.stream("large")) == content


def test_a_large_one_that_fails_leaves_nothing(
    there: Objects, front: Front, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse = objects.refused(403, "AccessDenied")
    with front.failing(objects.of("PUT", refuse, "partNumber=3")), pytest.raises(StoreFailure, match="may not do"):
        put_large(there, tmp_path / "large", monkeypatch)
    assert list(there.list("")) == []
    front.seen.clear()
    there.give_up_unfinished("", LATER)
    assert [each.method for each in front.seen] == ["GET"], "it was given up when it failed"


def test_what_was_begun_and_not_finished_is_given_up_later(
    there: Objects, front: Front, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a kill leaves it."""
    deny = objects.refused(403, "AccessDenied")
    with (
        front.failing(objects.of("PUT", deny, "partNumber=3")),
        front.failing(objects.of("DELETE", deny)),
        pytest.raises(StoreFailure),
    ):
        put_large(there, tmp_path / "large", monkeypatch)
    front.seen.clear()
    there.give_up_unfinished("", Instant(0))  # moto says 2010 of all that was begun
    assert [each.method for each in front.seen] == ["GET"], "somebody may be at it"
    there.give_up_unfinished("", LATER)
    assert [each.method for each in front.seen] == ["GET", "GET", "DELETE"]


# -- what goes wrong


@pytest.mark.parametrize("fault", [objects.busy, objects.unheard, objects.refused(500, "InternalError")])
def test_what_is_over_soon_is_asked_again(there: Objects, front: Front, fault: objects.Fault) -> None:
    with front.failing(objects.times(2, fault)):
        there.put("a", b"1234")
    with front.failing(objects.times(2, fault)):
        assert there.get("a") == b"1234"
    with front.failing(objects.times(2, fault)):
        there.copy("a", "b")
    with front.failing(objects.times(2, fault)):
        there.delete("a")
    with front.failing(objects.times(2, fault)):
        assert [each.key for each in there.list("")] == ["b"]


def test_a_store_that_stays_busy_is_told_of(there: Objects, front: Front) -> None:
    with front.failing(objects.busy), pytest.raises(StoreFailure, match=r"it answers 503 SlowDown$"):
        there.put("a", b"1234")
    assert len(front.seen) == exchanges.TRIES


def test_an_answer_that_is_good_and_then_is_not(there: Objects, front: Front) -> None:
    """Copies and the last request of parts begin their answer before they know ("CopyObject")."""
    there.put("a", b"1234")
    late = objects.refused(200, "InternalError")
    with front.failing(objects.of("PUT", objects.times(1, late))):
        there.copy("a", "b")
    assert there.get("b") == b"1234"
    with (
        front.failing(objects.of("PUT", objects.refused(200, "AccessDenied"))),
        pytest.raises(StoreFailure, match="may not do this"),
    ):
        there.copy("a", "c")


def test_what_breaks_off_is_gone_on_with(there: Objects, front: Front) -> None:
    content = os.urandom(3 << 20)
    there.put("a", content)
    front.seen.clear()
    with front.failing(objects.times(3, objects.cut_short)):
        assert b"".join(there.stream("a")) == content
    assert len(front.seen) == 4


def test_a_store_that_begins_anew_in_the_middle_is_refused(there: Objects, front: Front) -> None:
    """It knows no ranges: what came would be there twice."""
    there.put("a", os.urandom(3 << 20))

    def whole(handler: objects._Handler, passing: objects.Passing) -> bool:
        del handler.headers["Range"]
        return True

    with (
        front.failing(whole),
        front.failing(objects.times(1, objects.cut_short)),
        pytest.raises(StoreFailure, match="cannot go on in the middle of an object"),
    ):
        list(there.stream("a"))


def test_what_always_breaks_off_is_told_of(there: Objects, front: Front) -> None:
    there.put("a", b"1")  # of which half is nothing
    with front.failing(objects.cut_short), pytest.raises(StoreFailure, match="cannot be reached"):
        list(there.stream("a"))


def test_a_store_that_hangs_is_given_up(there: Objects, front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchanges, "SILENT_SECONDS", 0.05)
    until = threading.Event()
    with front.failing(objects.hanging(until)):
        for work in (partial(there.get, "a"), partial(there.put, "a", b"1"), partial(list, there.stream("a"))):
            with pytest.raises(StoreFailure, match="it does not answer"):
                work()
        until.set()


def test_one_that_trickles_is_given_up(there: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    there.put("a", os.urandom(1 << 20))
    now = iter(range(0, 100_000, 400))
    monkeypatch.setattr(exchanges.time, "monotonic", lambda: float(next(now)))
    with pytest.raises(StoreFailure, match="it is too slow"):
        list(there.stream("a"))


@pytest.mark.parametrize(
    ("status", "code", "more", "told"),
    [
        (403, "InvalidAccessKeyId", "", "store.files_key_id is not known there (403 InvalidAccessKeyId)"),
        (403, "SignatureDoesNotMatch", "", "the secret in store.files_secret_file is not that of store.files_key_id"),
        (403, "AccessDenied", "", "the access key may not do this (403 AccessDenied)"),
        (403, "RequestTimeTooSkewed", "", "the clock of this machine is wrong by more than 15 minutes"),
        (400, "AuthorizationHeaderMalformed", "<Region>eu-west-2</Region>", "not the bucket's: it is in eu-west-2 ("),
        (301, "PermanentRedirect", "", "store.files_region, or files_endpoint, is not the bucket's"),
        (418, "Teapot", "", "it answers 418 Teapot"),
    ],
)
def test_what_is_wrong_is_said(there: Objects, front: Front, status: int, code: str, more: str, told: str) -> None:
    with front.failing(objects.refused(status, code, more)), pytest.raises(StoreFailure) as failure:
        there.put("a", b"1234")
    assert str(failure.value).startswith(f"{there.bucket.url}, where documents lie: ")
    assert told in str(failure.value)
    assert len(front.seen) == 1, "what stays so is not asked again"


@pytest.mark.parametrize(
    "body", [b"<html>a proxy's page</html>", b"no XML", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"]
)
def test_what_is_no_such_store(there: Objects, front: Front, body: bytes) -> None:
    def page(status: int) -> objects.Fault:
        def answer(handler: objects._Handler, passing: objects.Passing) -> bool:
            handler.answer(status, [], body)
            return False

        return answer

    with front.failing(page(200)), pytest.raises(StoreFailure, match="it gives "):
        list(there.list(""))
    with front.failing(page(418)), pytest.raises(StoreFailure, match=r"it answers 418$"):
        there.put("a", b"1")


def test_a_bucket_that_is_not_there(bucket: Bucket) -> None:
    with pytest.raises(StoreFailure, match=r"there is no such bucket \(404 NoSuchBucket\)"):
        Objects(bucket._replace(name="nobodys")).get("a")


def test_a_server_that_is_not_there(bucket: Bucket) -> None:
    with pytest.raises(StoreFailure, match="it cannot be reached: "):
        Objects(bucket._replace(endpoint="http://127.0.0.1:1")).get("a")


def test_a_secret_that_cannot_be_read(bucket: Bucket, tmp_path: Path) -> None:
    with pytest.raises(StoreFailure, match=r"the secret file .* cannot be read"):
        Objects(bucket._replace(secret_file=tmp_path / "none")).get("a")
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(StoreFailure, match=r"the secret file .* is empty"):
        Objects(bucket._replace(secret_file=tmp_path / "empty")).get("a")


def test_what_is_signed(there: Objects, front: Front) -> None:
    """Date, host and the digest of the body, so that what is changed on the way is refused there."""
    seen: list[dict[str, str]] = []

    def look(handler: objects._Handler, passing: objects.Passing) -> bool:
        seen.append({name.lower(): value for name, value in handler.headers.items()})
        return True

    with front.failing(look):
        there.put("a", b"1234")
    (fields,) = seen
    assert fields["x-amz-content-sha256"] == hashlib.sha256(b"1234").hexdigest()
    assert "SignedHeaders=content-length;host;x-amz-content-sha256;x-amz-date" in fields["authorization"]
    day = time.strftime("%Y%m%d", time.strptime(fields["x-amz-date"], "%Y%m%dT%H%M%SZ"))
    assert f"Credential={there.bucket.key_id}/{day}/us-east-1/s3/aws4_request" in fields["authorization"]


def test_the_program_says_what_it_lacks(bucket: Bucket) -> None:
    """Who has no bucket installs no botocore."""
    code = (
        "import sys; sys.modules['botocore.auth'] = None\n"
        "from pathlib import Path; from gatewayd.store.settings import Bucket\n"
        "from gatewayd.store.objects.bucket import Objects\n"
        f"Objects(Bucket({bucket.endpoint!r}, 'a', 'b', '', 'c', Path({str(bucket.secret_file)!r}), 0)).get('a')"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ran.stderr.splitlines()[-1].endswith("botocore is not installed: gatewayd[s3] has it")
