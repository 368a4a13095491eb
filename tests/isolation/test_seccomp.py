"""The filter of calls, run as the kernel runs it (seccomp(2)), against the kernel's own numbers of calls."""

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import pytest

from gatewayd.isolation import seccomp
from gatewayd.isolation.seccomp import Purpose

Machine = Literal["x86_64", "aarch64"]
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64 (linux/audit.h)
ALLOWED, REFUSED, KILLED = 0x7FFF0000, 0x00050001, 0x80000000  # linux/seccomp.h; 1 is EPERM
UNKNOWN = 0x00050026  # 38 is ENOSYS
TGKILL = {"x86_64": 234, "aarch64": 131}
CLONES = {"x86_64": {56, 435}, "aarch64": {220, 435}}  # clone, clone3
BEYOND = 600  # no call has such a number yet
EACH = [(machine, purpose) for machine in ARCHITECTURES for purpose in ("compute", "program")]


class Call(NamedTuple):
    """`struct seccomp_data` (linux/seccomp.h): 32 bits each, the first argument by its lower half."""

    number: int
    architecture: int
    first: int = 0


def calls(machine: Machine, purpose: Purpose) -> set[int]:
    """The numbers that a purpose needs, from the kernel's headers (asm/unistd_64.h, asm-generic/unistd.h)."""
    with Path(__file__).with_name("system_calls.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    wanted = ("compute", purpose)
    return {int(row[machine]) for row in rows if row["purpose"] in wanted and row[machine] != "-"}


def answer(program: Sequence[seccomp._Instruction], call: Call) -> int:
    """What a classic BPF program returns (linux/filter.h): loads, two comparisons and returns are all it may have."""
    fields = {0: call.number, 4: call.architecture, 16: call.first}
    accumulator, at = 0, 0
    while True:
        step = program[at]
        at += 1
        match step.code:
            case 0x20:  # BPF_LD | BPF_W | BPF_ABS
                accumulator = fields[step.value]
            case 0x15:  # BPF_JMP | BPF_JEQ | BPF_K
                at += step.yes if accumulator == step.value else step.no
            case 0x35:  # BPF_JMP | BPF_JGE | BPF_K
                at += step.yes if accumulator >= step.value else step.no
            case 0x06:  # BPF_RET | BPF_K
                return int(step.value)
            case other:
                raise AssertionError(f"no such instruction: {other:#x}")


@pytest.mark.parametrize(("machine", "purpose"), EACH)
def test_a_purpose_has_its_calls_and_no_other(machine: Machine, purpose: Purpose) -> None:
    program, architecture = list(seccomp._filter(purpose, machine)), ARCHITECTURES[machine]
    answers = {number: answer(program, Call(number, architecture)) for number in range(BEYOND)}
    assert {number for number, given in answers.items() if given == ALLOWED} == calls(machine, purpose)
    assert set(answers.values()) == {ALLOWED, REFUSED, UNKNOWN}
    assert {number for number, given in answers.items() if given == UNKNOWN} == CLONES[machine], "there are no threads"
    about_itself = {number: answer(program, Call(number, architecture, os.getpid())) for number in range(BEYOND)}
    allowed = {number for number, given in about_itself.items() if given == ALLOWED}
    assert allowed == calls(machine, purpose) | {TGKILL[machine]}, "what is first in a call opens no other one"


@pytest.mark.parametrize(("machine", "purpose"), EACH)
def test_calls_of_another_machine_or_numbering_are_not_looked_up(machine: Machine, purpose: Purpose) -> None:
    program = list(seccomp._filter(purpose, machine))
    for other in {*ARCHITECTURES.values(), 0x40000003} - {ARCHITECTURES[machine]}:  # AUDIT_ARCH_I386
        assert answer(program, Call(0, other)) == KILLED
    for number in (0x3FFFFFFF, 0x40000000, 0x40000001, 0x40000000 | 60, 0xFFFFFFFF):  # __X32_SYSCALL_BIT
        assert answer(program, Call(number, ARCHITECTURES[machine])) == REFUSED


@pytest.mark.parametrize(("machine", "purpose"), EACH)
def test_a_process_may_end_itself_and_no_other_one(machine: Machine, purpose: Purpose) -> None:
    program, number = list(seccomp._filter(purpose, machine)), TGKILL[machine]
    assert answer(program, Call(number, ARCHITECTURES[machine], os.getpid())) == ALLOWED
    for other in (os.getpid() + 1, os.getppid(), 1, 0, 0xFFFFFFFF):
        assert answer(program, Call(number, ARCHITECTURES[machine], other)) == REFUSED


def test_a_machine_that_is_not_known_has_no_filter() -> None:
    with pytest.raises(OSError, match="riscv64"):
        list(seccomp._filter("compute", "riscv64"))
