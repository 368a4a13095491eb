"""Documents are read under what systemd/gatewayd.service refuses: memory to write and execute, spaces of names."""

import subprocess
import sys
from pathlib import Path

from tests.extraction import files
from tests.service.test_units import unit

READ = """
import ctypes, sys, trio
from pathlib import Path
from gatewayd.extraction.reader import ReaderSettings, open_reader
from gatewayd.isolation import kernel
PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 65, 1
try:
    kernel.prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN)
except OSError:
    print("this kernel (before 6.3) refuses no such memory", file=sys.stderr)
async def read():
    folder = Path(sys.argv[1])
    async with open_reader(ReaderSettings()) as reader:
        async with trio.open_nursery() as nursery:  # at once: what children share, none of them may write to
            for number, name in enumerate(("scan.pdf", "photo.jpg") * 2):
                nursery.start_soon(reader.searchable_pdf, folder / name, "", folder / f"made-{number}.pdf")
        for number in range(4):
            made = await reader.read(folder / f"made-{number}.pdf", "", "")
            print(made.engine, " ".join(made.pages[0].text.split()))
        print((await reader.draw(folder / "scan.pdf", "", 1, 200)).width)
trio.run(read)
"""


def test_text_is_recognised_and_added_without_such_memory(tmp_path: Path) -> None:
    assert unit("gatewayd.service")["Service"]["MemoryDenyWriteExecute"] == "yes"
    (tmp_path / "scan.pdf").write_bytes(
        files.picture(files.drawn("Gas safety record for 4 Quay Street"), "PDF", resolution=150)
    )
    (tmp_path / "photo.jpg").write_bytes(files.photograph("Gas safety record for 4 Quay Street"))
    ran = subprocess.run([sys.executable, "-c", READ, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout.splitlines()) == (
        0,
        ["pdfium Gas safety record for 4 Quay Street"] * 4 + ["200"],
    ), ran.stderr
