"""The lock of the npm packages: exact versions, each with its hash, and no registry's name in it."""

import json
import re

import pytest

from tests.clients.programs import HERE, wanted

pytestmark = pytest.mark.either_engine("its subject is a file")

TEXT = (HERE / "package-lock.json").read_text("utf-8")
LOCK = json.loads(TEXT)
PACKAGES = {path: package for path, package in LOCK["packages"].items() if path}


def test_the_lock_belongs_to_the_package() -> None:
    assert LOCK["packages"][""]["dependencies"] == wanted()
    assert {name: PACKAGES[f"node_modules/{name}"]["version"] for name in wanted()} == wanted()


def test_packages_are_told_by_their_hash_alone() -> None:
    assert [path for path, package in PACKAGES.items() if not package["integrity"].startswith("sha512-")] == []
    assert [path for path, package in PACKAGES.items() if "resolved" in package] == []


def test_versions_are_exact() -> None:
    exact = re.compile(r"\d+\.\d+\.\d+(-alpha\.\d+)?")
    assert [version for version in wanted().values() if not exact.fullmatch(version)] == []
