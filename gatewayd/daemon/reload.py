"""Reloads: settings that change while the daemon serves, all of them or none, and a certificate that was renewed.

Every part that takes settings anew gives one function that makes ready what it will take, which may fail, and returns
another that puts it in place, which cannot. So nothing changes before all are ready, and then everything does within
one step of the event loop. Parts keep what they are told where they need it: a request looks nothing up.
"""

import math
from collections.abc import Callable
from typing import Final, NamedTuple

import trio

from gatewayd.config import Config, ConfigError, after_reload, differing
from gatewayd.http1.certificates import FileState, states
from gatewayd.http1.log import Log
from gatewayd.service_manager import Notifier

CERTIFICATE_SECONDS: Final = 30.0  # Chosen: how often the files of the certificate are looked at

Files = tuple[FileState | None, ...]
Install = Callable[[], None]
Prepare = Callable[[Config], Install]
"""Makes ready what a part takes of the settings, on any thread. Raises `OSError` or `ValueError`."""


class _RefusedError(Exception):
    """A reload that changes nothing, for every reason that was found."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class _Ready(NamedTuple):
    """A reload that cannot fail any more: the settings as they were read and as they will hold, and what installs them.

    `files` are those of the certificate, as they stood before it was read.
    """

    loaded: Config
    config: Config
    installs: list[Install]
    files: Files


class Reloader:
    """Reloads when it is asked to, and takes a certificate when its files have changed. `config` is what holds."""

    def __init__(self, config: Config, load: Callable[[], Config] | None, notifier: Notifier, log: Log) -> None:
        """`load` reads the settings anew; None: there is nowhere to read them."""
        self.config = config
        self._load = load
        self._notifier = notifier
        self._log = log
        self._parts: list[Prepare] = []
        self._asked = trio.Event()
        self._thread = trio.CapacityLimiter(1)
        self._refused = False
        self._files = _files(config)
        self._complaint = ""

    @property
    def failed(self) -> bool:
        """True while the last reload, or what lies in the files of the certificate, was refused."""
        return self._refused or bool(self._complaint)

    def ask(self) -> None:
        """Reload soon: once, however often it is asked for until then."""
        self._asked.set()

    def add(self, *parts: Prepare) -> None:
        """Parts that take settings anew from now on."""
        self._parts += parts

    async def run(self, status: str, server: Prepare) -> None:
        """Until cancelled. `server` is the part that takes the certificate.

        `status` is what the service manager is told when a reload is over.
        """
        while True:
            with trio.move_on_after(CERTIFICATE_SECONDS if self._files else math.inf):
                await self._asked.wait()
            if self._asked.is_set():
                self._asked = trio.Event()
                self._notifier.reloading()
                await self._reload()
                self._notifier.ready(f"{status}; the last reload was refused" if self._refused else status)
            else:
                await self._look_at_certificate(server)

    async def _reload(self) -> None:
        log = self._log
        try:
            ready = await trio.to_thread.run_sync(self._prepare, limiter=self._thread)
        except _RefusedError as error:
            self._refused = True
            log.error("reload_refused", problems=error.problems)
            return
        for install in ready.installs:
            install()
        before, self.config, self._files = self.config, ready.config, ready.files
        self._refused, self._complaint = False, ""
        log.info("reloaded", settings=differing(before, self.config))
        if left := differing(self.config, ready.loaded):
            log.warning("settings_need_restart", settings=left)

    def _prepare(self) -> _Ready:
        """On a thread. Raises `_RefusedError`."""
        try:
            loaded = self.config if self._load is None else self._load()
        except ConfigError as error:
            raise _RefusedError([str(problem) for problem in error.problems]) from error
        config = after_reload(self.config, loaded)
        files, installs, problems = _files(config), list[Install](), list[str]()
        for prepare in self._parts:
            try:
                installs.append(prepare(config))
            except (OSError, ValueError) as error:
                problems.append(str(error))
        if problems:
            raise _RefusedError(problems)
        return _Ready(loaded, config, installs, files)

    async def _look_at_certificate(self, server: Prepare) -> None:
        """Take the certificate anew if its files are others than they were, or were no good when last looked at.

        Who replaces them writes one after the other: what does not fit now may fit at the next look.
        """
        files = await trio.to_thread.run_sync(_files, self.config, limiter=self._thread)
        if files == self._files and not self._complaint:
            return
        try:
            install = await trio.to_thread.run_sync(server, self.config, limiter=self._thread)
        except (OSError, ValueError) as error:
            self._complain(str(error))
        else:
            install()
            self._complaint = ""
            self._log.info("certificate_reloaded", file=self.config.server.tls_certificate)
        self._files = files

    def _complain(self, complaint: str) -> None:
        """Once for each reason: the files are looked at again and again."""
        if complaint != self._complaint:
            self._log.error("certificate_refused", reason=complaint)
        self._complaint = complaint


def _files(config: Config) -> Files:
    """How the files of the certificate stand; none without TLS."""
    server = config.server
    return states(server.tls_certificate, server.tls_key) if server.tls_certificate else ()
