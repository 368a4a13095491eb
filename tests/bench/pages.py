"""`python -m tests.bench.pages`: what the pages of a crowded instance cost, in process, in ms of CPU, and their bytes.

The least of the rounds is told, all threads of the process together, with the client of the tests.
"""

import tempfile
import time
from pathlib import Path
from typing import Final

import trio

from tests.browser import crowd
from tests.browser.test_every_look import shown
from tests.console.whole_site import OWNER, ROOT, WholeSite, open_whole_site
from tests.contract.demo_firm import make_demo
from tests.support.store import migrated_image

ROUNDS: Final = 20


async def measure() -> None:
    """Print them, the dearest first."""
    with tempfile.TemporaryDirectory() as folder:
        demo, directory = Path(folder, "demo"), Path(folder, "whole")
        demo.mkdir()
        directory.mkdir()
        async with open_whole_site(await make_demo(demo, migrated_image()), directory) as whole:
            await crowd.fill(whole)
            for cost, size, address in sorted(await _costs(whole), reverse=True):
                print(f"{cost:6.1f} ms {size:6} bytes  {address}")


async def _costs(whole: WholeSite) -> list[tuple[float, int, str]]:
    browsers = {"owner": whole.browsers[OWNER], "root": whole.browsers[ROOT], "stranger": whole.stranger}
    costs = []
    for name, pages in (await shown(whole)).pages.items():
        for address, answer in pages.items():
            least = float("inf")
            for _ in range(ROUNDS):
                begun = time.process_time()
                await browsers[name].ask_unseen(address)
                least = min(least, time.process_time() - begun)
            costs.append((least * 1000, len(answer.body), address.partition("?")[0]))
    return costs


if __name__ == "__main__":
    trio.run(measure)
