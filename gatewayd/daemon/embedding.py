"""What gives texts their vectors: the model that is installed, a service of the operator's, or nothing."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

import trio

from gatewayd.config import Config
from gatewayd.isolation.starting import unpacked_of
from gatewayd.search.availability import missing
from gatewayd.search.embedding import Embedder, NoEmbedder
from gatewayd.search.embedding_child import ChildEmbedder

_EVERYWHERE: Final = ("0.0.0.0/0", "::/0")
OpenEmbedder = Callable[[Config], AbstractAsyncContextManager[Embedder]]


def embedder_of(environ: Mapping[str, str]) -> OpenEmbedder:
    """What the settings ask for, in a program with this environment."""
    unpacked = unpacked_of(environ)

    @asynccontextmanager
    async def open_embedder(config: Config) -> AsyncIterator[Embedder]:
        if (reason := missing(config)) is not None:
            yield NoEmbedder(reason)
        elif config.vault.embeddings == "wordllama":
            async with _open_child(unpacked) as child:
                yield child
        else:
            async with _open_service(config) as service:
                yield service

    return open_embedder


@asynccontextmanager
async def _open_child(unpacked: Mapping[str, str]) -> AsyncIterator[Embedder]:
    child = ChildEmbedder(unpacked)
    async with trio.open_nursery() as nursery:
        await nursery.start(child.run)
        yield child
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def _open_service(config: Config) -> AsyncIterator[Embedder]:
    """Chosen: the operator names the one host, which may well be in their own network.

    The client of HTTP is 7 MiB, which a daemon that asks no service does not load.
    """
    from gatewayd.outbound.addresses import parse_networks
    from gatewayd.outbound.http_client import OneServer
    from gatewayd.outbound.resolver import SystemResolver
    from gatewayd.outbound.transport import GuardedTransport, Policy
    from gatewayd.search.embedding_service import ServiceEmbedder

    address = config.vault.embeddings
    policy = Policy(allow_networks=parse_networks(_EVERYWHERE), allow_http=address.startswith("http:"))
    server = OneServer(GuardedTransport(policy, SystemResolver(failure_seconds=0.0)), address)
    key_file = config.vault.embeddings_key_file
    key = (await trio.Path(key_file).read_text("utf-8")).strip() if key_file else ""
    try:
        yield ServiceEmbedder(server, config.vault.embeddings_model, key)
    finally:
        with trio.CancelScope(shield=True):
            await server.aclose()
