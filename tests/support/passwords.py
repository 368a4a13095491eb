"""Passwords at the least cost that argon2id has, for tests that are about something else."""

from gatewayd.identity.sign_in.passwords import Hasher


def quick_hasher() -> Hasher:
    return Hasher(memory_kibibytes=8, passes=1)
