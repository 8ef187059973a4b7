"""Fetch the next blocks of a file in the background, while somebody works on the one before."""

import threading
from collections import deque
from collections.abc import Callable

from crawlgauge.remote.interruption import POLL_SECONDS, check_interruption, interruptible

__all__ = ["ReadAhead"]

_MAX_BLOCKS = 2
"""One that is ready and one that is on its way keep both sides busy."""


class _Closed(Exception):  # noqa: N818 - it is no error
    """Nobody wants further blocks."""


class ReadAhead:
    """Blocks of a file in order, fetched by a thread.

    Parameters
    ----------
    fetch
        Returns the next block, and nothing at the end.
    """

    def __init__(self, fetch: Callable[[], bytes]) -> None:
        self._fetch = fetch
        self._changed = threading.Condition()
        self._blocks: deque[bytes] = deque()
        self._error: BaseException | None = None
        self._is_closed = False
        # It must not keep the process from its end.
        threading.Thread(target=self._work, name="read-ahead", daemon=True).start()

    def take(self) -> bytes:
        """Return the next block; nothing at the end.

        Raises
        ------
        OSError
            If it cannot be fetched.
        """
        with self._changed:
            while not self._blocks and self._error is None:
                self._changed.wait(POLL_SECONDS)
                check_interruption()
            if not self._blocks and self._error is not None:
                raise self._error
            # What is at the end stays at the end.
            block = self._blocks.popleft() if self._blocks[0] else b""
            self._changed.notify_all()
            return block

    def close(self) -> None:
        """End fetching."""
        with self._changed:
            self._is_closed = True
            self._blocks.clear()
            self._changed.notify_all()

    def _work(self) -> None:
        try:
            with interruptible(self._check):
                while block := self._fetch():
                    self._put(block)
                self._put(b"")
        except _Closed:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again by whoever takes blocks
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _put(self, block: bytes) -> None:
        with self._changed:
            self._blocks.append(block)
            self._changed.notify_all()
            while len(self._blocks) >= _MAX_BLOCKS and not self._is_closed:
                self._changed.wait()
            self._check()

    def _check(self) -> None:
        if self._is_closed:
            raise _Closed
