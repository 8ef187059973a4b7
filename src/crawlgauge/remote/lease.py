"""A claim to write somewhere, kept as an object, that ends by itself if its process does.

The object says whose it is and for how many seconds it holds after it was last written, by the
clock of the server alone. Its holder writes it anew in time; others may write it when it is over.
Each writes on the condition that the object is still the one that was read.
"""

import json
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Self

from crawlgauge.errors import StoreBusy, StoreError
from crawlgauge.remote.objects import Conflict, Objects, Stored

__all__ = ["LEASE_VARIABLE", "Lease", "hold_lease", "lease_seconds"]

LEASE_VARIABLE = "CRAWLGAUGE_LEASE_SECONDS"
_DEFAULT_SECONDS = 60.0
"""Longer than storage is out of reach in most cases, and not too long to wait for."""
_RENEWALS = 3
"""Attempts to renew before the end, of which one must succeed."""
_WRONG_TAG = '"00000000000000000000000000000000"'
"""The tag of no object."""
_MACHINE_FILES = ("/proc/sys/kernel/random/boot_id", "/etc/machine-id")
_PROCESS_SPACE = "/proc/self/ns/pid"

_log = logging.getLogger(__name__)


def lease_seconds() -> float:
    """Return how long a claim holds if it is not renewed.

    Raises
    ------
    StoreError
        If the environment says something that is no number of seconds.
    """
    text = os.environ.get(LEASE_VARIABLE) or str(_DEFAULT_SECONDS)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds < float("inf"):
        raise StoreError(f"{LEASE_VARIABLE} is {text!r}; give a number of seconds, at least 1")
    return seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """What the object says.

    Parameters
    ----------
    owner
        For people: process and machine.
    machine
        Tells where process numbers mean the same.
    pid
        The process.
    token
        Of this claim, another one for each.
    seconds
        How long it holds.
    n_renewed
        Makes each writing differ from that before.
    """

    owner: str
    machine: str
    pid: int
    token: str
    seconds: float
    n_renewed: int

    @classmethod
    def new(cls) -> Self:
        pid = os.getpid()
        return cls(
            owner=f"{pid} on {socket.gethostname()}",
            machine=_this_machine(),
            pid=pid,
            token=uuid.uuid4().hex,
            seconds=lease_seconds(),
            n_renewed=0,
        )

    @classmethod
    def read(cls, content: bytes) -> Self | None:
        """Read a claim; None for the lock of a local store that was copied: it claims nothing."""
        try:
            return cls(**json.loads(content))
        except (ValueError, TypeError):
            return None

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    def renewed(self) -> "_Claim":
        return _Claim(**{**asdict(self), "n_renewed": self.n_renewed + 1})

    def seconds_left(self, age: float) -> float:
        """Return for how long others have to wait, 0 if they need not."""
        is_dead = self.machine == _this_machine() and not _is_alive(self.pid)
        # Servers tell times in whole seconds: a claim may be up to one younger than it seems.
        return 0.0 if is_dead else max(0.0, self.seconds + 1 - age)


class Lease:
    """A claim that is held; made by `hold_lease`."""

    def __init__(self, objects: Objects, name: str, claim: _Claim, tag: str) -> None:
        self._objects, self._name = objects, name
        self._claim, self._tag = claim, tag
        self._is_lost = False
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)
        self._thread.start()

    def renew(self) -> None:
        """Make sure that the claim is held for its whole time from now on.

        Raises
        ------
        StoreError
            If another process has taken it over.
        """
        with self._lock:
            if not self._is_lost:
                claim = self._claim.renewed()
                try:
                    self._tag = self._objects.put_if(self._name, claim.to_bytes(), self._tag)
                    self._claim = claim
                except Conflict:
                    self._is_lost = True
            if self._is_lost:
                raise StoreError(
                    f"the claim to write it ({self._name}) is gone: this process was out of touch "
                    f"with the storage for more than {self._claim.seconds:g} s and another one has "
                    "taken over, or somebody has deleted the store. Nothing was stored; run the "
                    "command again when no other writes the crawl"
                )

    def release(self) -> None:
        """Give the claim up, so that others need not wait for its end."""
        self._is_over.set()
        self._thread.join()
        if self._is_lost:
            return
        try:
            self._objects.delete_if(self._name, self._tag)
        except Conflict:
            return  # Another process has it, and will release it.
        except OSError as error:
            _log.warning(
                "%s cannot be deleted (%s); it keeps others from writing for %g s",
                self._name,
                error.strerror or error,
                self._claim.seconds,
            )

    def _keep(self) -> None:
        """Renew the claim again and again."""
        pause = self._claim.seconds / _RENEWALS
        while not self._is_over.wait(pause):
            try:
                self.renew()
            except StoreError:
                return  # Whoever is about to publish will be told.
            except OSError as error:
                _log.info("%s cannot be renewed now: %s", self._name, error.strerror or error)


@contextmanager
def hold_lease(objects: Objects, name: str, *, label: str) -> Iterator[Lease]:
    """Keep every other process from writing a crawl.

    Parameters
    ----------
    objects
        Of the store.
    name
        Of the object that is the claim.
    label
        The crawl's.

    Raises
    ------
    StoreBusy
        If another process holds the claim.
    StoreError
        If the storage does not honour conditions: nothing could be written safely.
    """
    claim = _Claim.new()
    tag = _acquire(objects, name, claim, label)
    try:
        _check_conditions(objects, name, claim)
    except BaseException:
        objects.delete(name)
        raise
    lease = Lease(objects, name, claim, tag)
    try:
        yield lease
    finally:
        lease.release()


def _acquire(objects: Objects, name: str, claim: _Claim, label: str) -> str:
    while True:
        present = objects.read(name)
        try:
            if present is None:
                return objects.put_new(name, claim.to_bytes())
            _check_over(present, label)
            return objects.put_if(name, claim.to_bytes(), present.head.tag)
        except Conflict:
            # Another process was faster: it is seen at the next look, or has gone already.
            time.sleep(0.01)


def _check_over(present: Stored, label: str) -> None:
    other = _Claim.read(present.content)
    if other is None:
        return
    seconds_left = other.seconds_left(present.head.age)
    if seconds_left:
        raise StoreBusy(
            f"crawl {label!r} is being written by another process ({other.owner}); wait until it "
            f"has finished. If it was killed, try again in {seconds_left:.0f} s"
        )


def _check_conditions(objects: Objects, name: str, claim: _Claim) -> None:
    """See that the server refuses what it must refuse, now that the object is there."""
    other = claim.renewed().to_bytes()
    attempts = (
        partial(objects.put_new, name, other),
        partial(objects.put_if, name, other, _WRONG_TAG),
    )
    if not all(map(_is_refused, attempts)):
        raise StoreError(
            "this storage overwrites objects although it is asked not to (it ignores If-None-Match "
            "or If-Match), so that crawls could get lost when two processes write; keep the store "
            "on another one, or in a local folder"
        )


def _is_refused(attempt: Callable[[], str]) -> bool:
    try:
        attempt()
    except Conflict:
        return True
    return False


def _this_machine() -> str:
    """Return what two processes have in common that can see each other."""
    known = [socket.gethostname()]
    for name in _MACHINE_FILES:
        try:
            known.append(Path(name).read_text(encoding="ascii"))
            known.append(str(Path(_PROCESS_SPACE).readlink()))
            break
        except OSError:
            continue
    else:
        # Process numbers of another machine of the same name mean nothing here.
        known.append(uuid.uuid4().hex)
    return sha256("\n".join(known).encode()).hexdigest()[:16]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
