"""Jobs that wait for the writer: first those that somebody waits for, then those of the background."""

import pytest

from gatewayd.store import StoreFailure
from gatewayd.store.waiting_jobs import PASSED_OVER_SECONDS, Job, WaitingJobs


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
    now = PASSED_OVER_SECONDS
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
