"""A child that tells how it was started, a line for each."""

import os
import sys


def main(*arguments: str) -> None:
    print(arguments)
    print(*os.environ)
    print(os.getcwd())
    print("leads a session" if os.getsid(0) == os.getpid() else "is in one of another")
    print(sys.path)
