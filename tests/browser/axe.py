"""axe-core (Deque, MPL-2.0), as `tests/clients/package-lock.json` names it: what keeps people from using a page."""

import functools
from typing import Any

from playwright.sync_api import Page

from tests.clients.programs import MODULES, needed_node

_RUN = """axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations.flatMap(
  (each) => each.nodes.map((node) => `${each.id}: ${node.html.slice(0, 200)} ${node.failureSummary}`)))"""


@functools.cache
def _script() -> str:
    needed_node()
    return (MODULES / "axe-core" / "axe.min.js").read_text("utf-8")


def faults_of(page: Page) -> list[str]:
    """What axe finds wrong with the page as it is shown. Its script is let in past the policy, which forbids it."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(_script())
    found: Any = page.evaluate(_RUN)
    return [str(each) for each in found]
