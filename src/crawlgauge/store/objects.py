"""Objects of a bucket as a store needs them: made if new, changed if same, held by one writer.

A lease is a claim to write somewhere, kept as an object, that ends by itself if its process does.
It says whose it is and for how many seconds it holds after it was last written, by the clock of the
server alone. Its holder writes it anew in time; others may write it when it is over. Each writes on
the condition that the object is still the one that was read.

Large files are sent in parts. Who fails throws the parts away; those of a process that was killed
are found and thrown away by the next writer. Listings may be late: nothing here rests on them.
"""

import json
import logging
import math
import os
import socket
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from crawlgauge.errors import StoreBusy, StoreError
from crawlgauge.sources import remote
from crawlgauge.sources.remote import RemoteFault, RemotePath
from crawlgauge.store.files import is_alive

LEASE_VARIABLE = "CRAWLGAUGE_LEASE_SECONDS"
_DEFAULT_SECONDS, _MAX_SECONDS = 60.0, 3600.0
"""The first is longer than storage is out of reach in most cases, and not too long to wait for. The
second is what is believed at most of what a claim says."""
_RENEWALS = 3
"""Attempts to renew before the end, of which one must succeed."""
_WRONG_TAG = '"00000000000000000000000000000000"'
"""The tag of no object."""
_PART_BYTES = 16 << 20
"""Files of more than two parts are sent in parts."""
_MAX_PARTS = 10_000
"""More the service does not take."""
_MAX_CONFLICTS = 8
"""Two requests for one object at the very same time may both be refused; the next try decides."""

_log = logging.getLogger(__name__)


class Conflict(Exception):  # noqa: N818 - the name says what was met
    """An object is not in the state that was the condition of a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What a server says of an object.

    Parameters
    ----------
    name
        Relative to the store's place.
    tag
        Another one for each other content.
    n_bytes
        Its size.
    age
        Seconds since it was last written, by the server's own clock.
    content
        What is in it, where that was asked for.
    """

    name: str
    tag: str
    n_bytes: int
    age: float
    content: bytes = b""


class Objects:
    """All objects below one place; names are relative to it, with ``/`` between their parts.

    What the server refuses, or what cannot be reached, is an `OSError`.

    Parameters
    ----------
    place
        ``s3://bucket/prefix``.

    Raises
    ------
    RemoteFault
        If it is on a service on which a store cannot be written.
    """

    def __init__(self, place: RemotePath) -> None:
        self._place = place
        self._clock: tuple[datetime, float] | None = None
        if not str(place).startswith("s3://"):
            message = "crawls can be stored in local folders and on s3:// and what is compatible"
            raise RemoteFault(f"{message} with it; from here they can only be read", str(place))

    def read(self, name: str) -> Stored | None:
        """Return an object with its content, None if there is none."""
        with suppress(FileNotFoundError):
            found = (self._place / name).ask("get", take=lambda it: (it.meta, bytes(it.bytes())))
            return self._to_stored(*found)
        return None

    def head(self, name: str) -> Stored | None:
        """Return what is known of an object, None if there is none."""
        with suppress(FileNotFoundError):
            return self._to_stored((self._place / name).ask("head", take=dict))
        return None

    def listed(self, folder: str) -> list[Stored]:
        """Return all objects below a folder, or all if it is empty."""
        found = (self._place / folder).ask("list", take=lambda answer: answer.collect())
        return [self._to_stored(meta) for meta in found]

    def put(self, name: str, content: bytes) -> None:
        """Write an object, whatever is there."""
        self._put(name, content, "overwrite")

    def put_if(self, name: str, content: bytes, tag: str | None) -> str:
        """Write in place of the object with that tag, None for none; raise `Conflict` if it is not.

        Returns
        -------
        str
            The new tag.
        """
        return self._put(name, content, "create" if tag is None else {"e_tag": tag})

    def delete(self, name: str) -> None:
        """Delete an object if it is there."""
        with suppress(FileNotFoundError):
            (self._place / name).ask("delete")

    def delete_if(self, name: str, tag: str) -> None:
        """Delete the object with that tag; one that is gone is no matter, else `Conflict`."""
        present = self.head(name)
        try:
            if present is not None and present.tag == tag:
                self._request("DELETE", name, headers={"If-Match": tag})
            elif present is not None:
                raise Conflict(name)
        except FileNotFoundError:
            return
        except FileExistsError:
            if self.head(name) is not None:
                raise Conflict(name) from None
        except RemoteFault as fault:
            # So answer servers that do not know of conditions for deleting.
            if fault.status not in (400, 405, 501):
                raise
            self.delete(name)

    def upload(self, name: str, path: Path) -> None:
        """Write an object from a file of any size.

        Parameters
        ----------
        name
            The object's.
        path
            The file.
        """
        n_bytes, before = path.stat().st_size, self.head(name)
        n_part, is_large = max(_PART_BYTES, -(-n_bytes // _MAX_PARTS)), n_bytes > 2 * _PART_BYTES
        try:
            # Some parts are in memory at once.
            options = {"use_multipart": is_large, "chunk_size": n_part, "max_concurrency": 4}
            (self._place / name).ask("put", path, **options)  # type: ignore[arg-type]
        except BaseException as error:
            self.abort_uploads(name)
            # The answer to the last request may have been lost on its way.
            now = self.head(name) if isinstance(error, OSError) else None
            if now is None or now.n_bytes != n_bytes or (before and before.tag == now.tag):
                raise

    def unfinished_uploads(self, folder: str) -> list[str]:
        """Return the names, beginning with `folder`, of which parts were sent and no whole."""
        return sorted({name for name, _ in self._uploads(folder)})

    def abort_uploads(self, name: str) -> None:
        """Throw away the parts that were sent of an object."""
        for found, upload in self._uploads(name):
            if found == name:
                with suppress(FileNotFoundError):
                    self._request("DELETE", name, f"uploadId={quote(upload, safe='')}")

    def _uploads(self, folder: str) -> list[tuple[str, str]]:
        """Return name and number of each unfinished upload."""
        from xml.etree import ElementTree as ET

        own = f"{self._place.key}/" if self._place.key else ""
        prefix = own + folder
        try:
            _, content = self._request("GET", "", f"uploads=&prefix={quote(prefix, safe='')}")
        except (PermissionError, RemoteFault) as error:
            # Parts that nobody may see are left to the rules that the bucket has for them.
            _log.info("unfinished uploads cannot be listed: %s", error.strerror)
            return []
        found = ET.fromstring(content).iterfind("{*}Upload")  # noqa: S314 - of the user's own storage
        pairs = [(item.findtext("{*}Key", ""), item.findtext("{*}UploadId", "")) for item in found]
        # Some servers list all of the bucket, whatever prefix they are asked for.
        return [(key[len(own) :], upload) for key, upload in pairs if key.startswith(prefix)]

    def _put(self, name: str, content: bytes, mode: object) -> str:
        for _ in range(_MAX_CONFLICTS):
            with suppress(FileExistsError):
                path = self._place / name
                return str(path.ask("put", content, mode=mode, take=lambda done: done["e_tag"]))
            present = self.read(name)
            # An answer may have been lost on its way, and the request was sent again.
            if present is not None and present.content == content:
                return present.tag
            if mode != ("create" if present is None else {"e_tag": present.tag}):
                break
            time.sleep(0.1)
        raise Conflict(name)

    def _request(
        self, method: str, name: str, query: str = "", headers: Mapping[str, str] | None = None
    ) -> tuple[Mapping[str, Any], bytes]:
        """Ask for something that obstore cannot ask for, by an address that it has signed."""
        path = self._place / name if name else RemotePath(self._place.parts[0])

        def sign(bucket: Any, key: str) -> str:  # noqa: ANN401 - obstore's
            import obstore

            return str(obstore.sign(bucket, method, key, timedelta(minutes=5)))  # type: ignore[call-overload]

        def ask() -> tuple[Any, bytes]:
            address = sign(remote.open_bucket(path), path.key)
            if query:
                # What is signed comes behind the endpoint as it is: here it ends the query.
                endpoint = f"{address.partition('?')[0]}?{query}&x-id="
                address = sign(remote.open_bucket(path, endpoint=endpoint), "_")
            with remote.request_web(method, address, str(path), headers) as answer:
                return answer.headers, answer.read()

        return remote.with_retries(ask, str(path))

    def _to_stored(self, meta: Any, content: bytes = b"") -> Stored:  # noqa: ANN401 - obstore's
        from email.utils import parsedate_to_datetime

        if self._clock is None:
            headers, _ = self._request("HEAD", "")
            now = parsedate_to_datetime(headers["Date"]) if "Date" in headers else datetime.now(UTC)
            self._clock = now, time.monotonic()
        passed = time.monotonic() - self._clock[1]
        age = (self._clock[0] - meta["last_modified"]).total_seconds() + passed
        return Stored(
            name=meta["path"].removeprefix(self._place.key).lstrip("/"),
            tag=str(meta["e_tag"]),
            n_bytes=meta["size"],
            # Servers tell times in whole seconds: what is new can seem to come from the future.
            age=max(age, 0.0),
            content=content,
        )


# --- Leases ----------------------------------------------------------------------------------


def lease_seconds() -> float:
    """Return how long a claim holds if it is not renewed.

    Raises
    ------
    StoreError
        If the environment says something that is no number of seconds.
    """
    text = os.environ.get(LEASE_VARIABLE) or str(_DEFAULT_SECONDS)
    with suppress(ValueError):
        if 1 <= float(text) <= _MAX_SECONDS:
            return float(text)
    raise StoreError(
        f"{LEASE_VARIABLE} is {text!r}; give a number of seconds from 1 to {_MAX_SECONDS:.0f}"
    )


class Lease:
    """The claim to write a crawl, held as long as a block lasts.

    Parameters
    ----------
    objects
        Where.
    name
        The object that is the claim.
    label
        The crawl's.

    Raises
    ------
    StoreBusy
        If another process holds the claim.
    StoreError
        If the storage does not honour conditions: nothing could be written safely.
    """

    def __init__(self, objects: Objects, name: str, label: str) -> None:
        self._objects, self._name, self._label = objects, name, label
        self._claim: dict[str, Any] = {
            "owner": f"{os.getpid()} on {socket.gethostname()}",
            "machine": _this_machine(),
            "pid": os.getpid(),
            "token": uuid.uuid4().hex,
            "seconds": lease_seconds(),
            "n_renewed": 0,
        }
        self._is_lost = False
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)

    def __enter__(self) -> Self:
        self._tag = _acquire(self._objects, self._name, _to_bytes(self._claim), self._label)
        try:
            _check_conditions(self._objects, self._name, _to_bytes({**self._claim, "n_renewed": 1}))
        except BaseException:
            self._objects.delete(self._name)
            raise
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Give the claim up, so that others need not wait for its end."""
        self._is_over.set()
        self._thread.join()
        try:
            present = self._objects.read(self._name)
            # Another process that has it will release it.
            if present is not None and self._claim["token"].encode() in present.content:
                with suppress(Conflict):
                    self._objects.delete_if(self._name, present.tag)
        except OSError as fault:
            reason, seconds = fault.strerror or fault, self._claim["seconds"]
            message = "%s cannot be deleted (%s); it keeps others from writing for %g s"
            _log.warning(message, self._name, reason, seconds)

    def renew(self) -> None:
        """Make sure that the claim is held for its whole time from now on.

        Raises
        ------
        StoreError
            If another process has taken it over.
        """
        with self._lock:
            claim = {**self._claim, "n_renewed": self._claim["n_renewed"] + 1}
            try:
                if not self._is_lost:
                    self._tag = self._objects.put_if(self._name, _to_bytes(claim), self._tag)
                    self._claim = claim
            except Conflict:
                self._is_lost = True
            if self._is_lost:
                raise StoreError(
                    f"the claim to write it ({self._name}) is gone: this process was out of touch "
                    f"with the storage for more than {claim['seconds']:g} s and another one has "
                    "taken over, or somebody has deleted the store. Nothing was stored; run the "
                    "command again when no other writes the crawl"
                )

    def _keep(self) -> None:
        """Renew the claim again and again."""
        while not self._is_over.wait(self._claim["seconds"] / _RENEWALS):
            try:
                with remote.interruptible(self._check):
                    self.renew()
            except (StoreError, InterruptedError):
                return  # Whoever is about to publish will be told.
            except OSError as error:
                _log.info("%s cannot be renewed now: %s", self._name, error.strerror or error)

    def _check(self) -> None:
        if self._is_over.is_set():
            raise InterruptedError


def _to_bytes(claim: Mapping[str, Any]) -> bytes:
    return json.dumps(claim).encode()


def _acquire(objects: Objects, name: str, claim: bytes, label: str) -> str:
    while True:
        present = objects.read(name)
        if present is not None:
            _check_over(present, label)
        try:
            return objects.put_if(name, claim, None if present is None else present.tag)
        except Conflict:
            # Another process was faster: it is seen at the next look, or has gone already.
            time.sleep(0.01)


def _check_over(present: Stored, label: str) -> None:
    """See that a claim has ended; what is none, as the lock of a local store, claims nothing."""
    try:
        other = json.loads(present.content)
        owner, machine, pid = str(other["owner"]), other["machine"], int(other["pid"])
        seconds = min(float(other["seconds"]), _MAX_SECONDS)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return
    # Servers tell times in whole seconds: a claim may be up to one younger than it seems.
    left = seconds + 1 - present.age
    is_dead = machine == _this_machine() and not is_alive(pid)
    if left > 0 and not is_dead and math.isfinite(left):
        shown = "".join(letter if letter.isprintable() else "?" for letter in owner[:80])
        raise StoreBusy(
            f"crawl {label!r} is being written by another process ({shown}); wait until it has "
            f"finished. If it was killed, try again in {left:.0f} s"
        )


def _check_conditions(objects: Objects, name: str, other: bytes) -> None:
    """See that the server refuses what it must refuse, now that the object is there."""
    for tag in (None, _WRONG_TAG):
        with suppress(Conflict):
            objects.put_if(name, other, tag)
            raise StoreError(
                "this storage overwrites objects although it is asked not to (it ignores "
                "If-None-Match or If-Match), so that crawls could get lost when two processes "
                "write; keep the store on another one, or in a local folder"
            )


def _this_machine() -> str:
    """Return what two processes have in common that can see each other."""
    known = [socket.gethostname()]
    for name in ("/proc/sys/kernel/random/boot_id", "/etc/machine-id"):
        with suppress(OSError):
            known.append(Path(name).read_text(encoding="ascii"))
            known.append(str(Path("/proc/self/ns/pid").readlink()))
            return sha256("\n".join(known).encode()).hexdigest()[:16]
    # Process numbers of another machine of the same name mean nothing here.
    return uuid.uuid4().hex
