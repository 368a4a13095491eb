"""A process that stores a blob where no file may grow past a limit. Arguments: directory, limit and size in bytes."""

import resource
import sys
from pathlib import Path

from gatewayd.store import StoreFailure
from gatewayd.store.files.blobs import Blobs


def main(directory: str, limit: str, size: str) -> None:
    blobs = Blobs(Path(directory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    try:
        with blobs.draft(1 << 30) as draft:
            for _ in range(int(size) // 1_000):
                draft.write(b"x" * 1_000)
            print(draft.save().sha256)
    except StoreFailure as error:
        print(error)


if __name__ == "__main__":
    main(*sys.argv[1:])
