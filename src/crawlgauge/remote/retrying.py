"""Try again what remote storage has failed to do, with growing pauses, so many times."""

import logging
import random
from collections.abc import Callable
from typing import TypeVar

from crawlgauge.remote.faults import explain, is_storage_fault, is_transient, is_unreachable
from crawlgauge.remote.interruption import sleep
from crawlgauge.remote.names import without_credentials

__all__ = ["Patience", "with_retries"]

_MAX_ATTEMPTS = 8
"""With the pauses below they last most of a minute, longer than servers take to recover."""
_MAX_UNREACHABLE = 4
"""An address that cannot be reached is more often wrong than its server is down."""
_FIRST_PAUSE_SECONDS = 0.5
_MAX_PAUSE_SECONDS = 20.0
_LEAST_SHARE = 0.5
"""Of a pause: the rest is by chance, so that readers who failed together do not come together."""
_QUIET_ATTEMPTS = 2
"""Faults that pass so soon are nobody's concern."""

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Patience:
    """How often something has been tried in vain.

    Parameters
    ----------
    name
        The object, or its address.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._n_failed = 0

    def reset(self) -> None:
        """Begin anew: there was some success."""
        self._n_failed = 0

    def wait(self, error: Exception) -> None:
        """Wait for some time before the next attempt.

        Parameters
        ----------
        error
            Why the last one failed.

        Raises
        ------
        OSError
            If that does not pass, or if there were too many; it says what is wrong.
        """
        if not is_transient(error):
            raise explain(error, self._name) from error
        self._n_failed += 1
        if self._n_failed >= (_MAX_UNREACHABLE if is_unreachable(error) else _MAX_ATTEMPTS):
            raise explain(error, self._name) from error
        pause = min(_FIRST_PAUSE_SECONDS * 2 ** (self._n_failed - 1), _MAX_PAUSE_SECONDS)
        pause *= random.uniform(_LEAST_SHARE, 1)  # noqa: S311 - no secret
        if self._n_failed > _QUIET_ATTEMPTS:
            _log.warning(
                "%s: %s; trying again in %.0f s",
                without_credentials(self._name),
                explain(error, self._name).strerror,
                pause,
            )
        sleep(pause)


def with_retries(action: Callable[[], T], name: str) -> T:
    """Do something that may be done more than once, until it succeeds.

    Parameters
    ----------
    action
        What to do.
    name
        The object that it concerns, or its address.

    Raises
    ------
    OSError
        If it fails for good; it says what is wrong.
    """
    patience = Patience(name)
    while True:
        try:
            return action()
        except Exception as error:
            if not is_storage_fault(error):
                raise
            patience.wait(error)
