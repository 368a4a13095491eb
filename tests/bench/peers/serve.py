"""Runs a peer under uvicorn: `serve.py empty`, or `serve.py accounting DATABASE`. Announces its address on stdout."""

import socket
import sys

import uvicorn
from fastapi import FastAPI


def empty() -> FastAPI:
    """One handler that answers nothing."""
    app = FastAPI()

    @app.get("/")
    async def nothing() -> None:
        return None

    return app


def _application(arguments: list[str]) -> FastAPI:
    if arguments[0] == "empty":
        return empty()
    from accounting import create_app

    return create_app(arguments[1])


def main() -> None:
    """Serve on a free port, with uvloop and httptools and without an access log."""
    app = _application(sys.argv[1:])
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print(f"serving http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, loop="uvloop", http="httptools", access_log=False, log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
