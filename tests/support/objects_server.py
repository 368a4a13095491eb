"""moto's server, in a process of its own: it says where it listens, and ends with its standard input."""

import sys

from moto.server import ThreadedMotoServer


def main() -> None:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    print("{}:{}".format(*server.get_host_and_port()), flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main()
