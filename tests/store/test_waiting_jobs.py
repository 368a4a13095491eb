"""Jobs that wait for the writer: first those that somebody waits for, then those of the background."""

import queue
import threading

import pytest

from gatewayd.store import StoreFailure
from gatewayd.store.waiting_jobs import Job, WaitingJobs

DEADLINE = 60.0


def _job() -> Job:
    return Job(lambda tx: None, None, lambda done: None)


def _background_job() -> Job:
    return Job(lambda tx: None, None, lambda done: None, is_background=True)


def test_a_background_job_is_passed_over_only_for_so_long() -> None:
    now = 0.0
    waiting = WaitingJobs(10, lambda: now)
    behind, first, second, third = _background_job(), _job(), _job(), _job()
    waiting.put(behind)
    waiting.put(first)
    assert waiting.take() == [first]
    waiting.put(second)
    now = 0.5
    assert waiting.take() == [second]
    waiting.put(third)
    now += 0.001
    assert waiting.take() == [third, behind]
    waiting.close()
    assert waiting.take() == []


def test_what_waits_at_the_end_is_taken_still() -> None:
    waiting = WaitingJobs(10)
    jobs = [_background_job(), _job(), _background_job(), _job()]
    for job in jobs:
        waiting.put(job)
    waiting.close()
    assert [waiting.take() for _ in range(5)] == [[jobs[1], jobs[3]], [jobs[0]], [jobs[2]], [], []]
    with pytest.raises(StoreFailure, match="closed"):
        waiting.put(_background_job())


def test_as_many_of_the_background_may_wait() -> None:
    waiting = WaitingJobs(2)
    for _ in range(2):
        waiting.put(_background_job())
    with pytest.raises(StoreFailure, match="too many"):
        waiting.put(_background_job())
    assert len(waiting.abandon()) == 2


def test_those_that_wait_behind_others_are_counted_though_the_writer_has_looked() -> None:
    waiting = WaitingJobs(2)
    for _ in range(2):
        first = _job()
        waiting.put(first)
        waiting.put(_background_job())
        assert waiting.take() == [first]
    with pytest.raises(StoreFailure, match="too many"):
        waiting.put(_background_job())


def test_what_is_abandoned_is_given_once() -> None:
    waiting = WaitingJobs(10)
    jobs = [_background_job(), _job()]
    for job in jobs:
        waiting.put(job)
    assert waiting.abandon() == jobs
    assert waiting.abandon() == []


def test_a_background_job_alone_is_taken() -> None:
    waiting = WaitingJobs(10)
    jobs = [_background_job(), _background_job()]
    for job in jobs:
        waiting.put(job)
    assert [waiting.take(), waiting.take()] == [[jobs[0]], [jobs[1]]]


def test_a_background_job_wakes_who_waits_for_any() -> None:
    asked, taken = threading.Event(), queue.SimpleQueue[list[Job]]()

    class Told(queue.SimpleQueue):  # type: ignore[type-arg]
        def get(self, *given: object) -> object:
            asked.set()
            return super().get()

    waiting, job = WaitingJobs(10), _background_job()
    waiting._first = Told()
    threading.Thread(target=lambda: taken.put(waiting.take()), daemon=True).start()
    assert asked.wait(DEADLINE)
    waiting.put(job)
    assert taken.get(timeout=DEADLINE) == [job]


def test_a_batch_has_256_at_most_and_the_rest_comes_next() -> None:
    waiting = WaitingJobs(300)
    jobs = [_job() for _ in range(257)]
    for job in jobs:
        waiting.put(job)
    assert [waiting.take(), waiting.take()] == [jobs[:256], jobs[256:]]
    another = _job()
    waiting.put(another)
    assert waiting.take() == [another], "it is not the end"


def test_as_many_may_wait_and_none_after_a_fault_of_the_writer() -> None:
    waiting = WaitingJobs(2)
    for _ in range(2):
        waiting.put(_job())
    with pytest.raises(StoreFailure, match="too many"):
        waiting.put(_job())
    assert len(waiting.abandon()) == 2
    with pytest.raises(StoreFailure, match="closed"):
        waiting.put(_job())


def test_a_job_that_failed_says_why_and_announces_nothing() -> None:
    job, why = _job(), OSError("no space left")
    assert (job.decided, job.writer_time) == (False, (0.0, 0.0))
    job.result, job.topics = "stored", {"invoices"}
    job.fail(why)
    assert (job.result, job.topics) == (None, set())
    assert isinstance(job.error, StoreFailure)
    assert (str(job.error), job.error.__cause__) == ("the write could not be made durable: no space left", why)
