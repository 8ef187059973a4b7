"""A part of a stream that is walked over record by record, without holding what is passed over."""

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crawlgauge.damage import Damage
from crawlgauge.errors import DamagedInput
from crawlgauge.sources.byte_stream import ByteStream

__all__ = ["RecordWindow"]


class RecordWindow:
    """The bytes at hand, where they stand in the stream, and how far they have been read.

    Parameters
    ----------
    stream
        The input.
    start
        What a record begins with, told from other bytes as surely as possible.
    start_bytes
        The greatest length of `start`.

    Attributes
    ----------
    stream
        See above.
    block
        The bytes at hand.
    place
        Where they begin in the decompressed input.
    at
        How far they have been read.
    members
        Places in the decompressed input where compressed members begin, from the one on in which
        `place` is.
    is_last
        Whether nothing follows them.
    is_lost
        Whether damage has cut the input before `at`, so that a record must be looked for.
    """

    def __init__(self, stream: ByteStream, start: re.Pattern[bytes], start_bytes: int) -> None:
        self.stream = stream
        self._start = start
        self._start_bytes = start_bytes
        self._data = b""
        self._blocks = stream.blocks()
        self.block: NDArray[np.uint8] = np.frombuffer(b"", dtype=np.uint8)
        self.members: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._members: NDArray[np.int64] = np.empty((0, 2), dtype=np.int64)
        self.place = 0
        self.at = 0
        self.is_last = False
        self.is_lost = False

    @property
    def end(self) -> int:
        """Where the bytes at hand end in the decompressed input."""
        return self.place + len(self._data)

    def take_more(self) -> None:
        """Take the next block, if there is one, and drop what has been read.

        Raises
        ------
        DamagedInput
            If the compression breaks, and that is not wanted to be got over.
        """
        try:
            more = next(self._blocks, b"")
        except DamagedInput as error:
            self.is_last = not self.stream.recover(error, "record")
            # What damage has cut off cannot be read on behind it.
            self._hold(b"", self.stream.n_read)
            self.is_lost = True
            self._blocks = self.stream.blocks()
            return
        self.is_last = not more
        if more:
            rest = self._data[self.at :]
            self._hold(rest + more if rest else more, self.place + self.at)

    def pass_over(
        self, start: int, end: int, see: Callable[[bytes], None] | None = None
    ) -> int | None:
        """Read on to the end of a record, beyond the bytes at hand, without looking at its body.

        Parameters
        ----------
        start, end
            Where it begins and ends, in the decompressed input.
        see
            Called with what of the body comes beyond the bytes at hand, piece by piece.

        Returns
        -------
        int or None
            Where, between them, a compressed member begins with another record, if one does.
        """
        n_seen = self.end
        while self.end < end and not self.is_last:
            # A member whose beginning is not wholly at hand is looked at with what follows.
            first = max(start + 1, self.end - self._start_bytes)
            unsure = self._members_within(first, self.end)
            self.at = int(unsure[0]) - self.place if unsure.size else len(self._data)
            first = self.place + self.at
            self.take_more()
            if self.is_lost:
                return None
            if see is not None:
                see(self.between(n_seen, min(end, self.end)))
                n_seen = self.end
            for member in self._members_within(first, min(end, self.end)):
                if self._start.match(self._data, int(member) - self.place):
                    self.at = int(member) - self.place
                    return int(member)
        self.at = min(end, self.end) - self.place
        return None

    def between(self, start: int, end: int) -> bytes:
        """Return bytes at hand, by their places in the decompressed input."""
        return self._data[start - self.place : end - self.place]

    def find_start(self) -> bool:
        """Read on to the next place where a record seems to begin, and tell whether one does."""
        self.is_lost = False
        while not (match := self._start.search(self._data, self.at)):
            if self.is_last:
                self.at = len(self._data)
                return False
            self.at = max(self.at, len(self._data) - self._start_bytes)
            self.take_more()
            self.is_lost = False
        self.at = match.start()
        return True

    def report(self, place: int, reason: str, lost: str) -> Damage:
        """Note damage at a place of the decompressed input, and return it.

        Parameters
        ----------
        place
            Where.
        reason
            What is wrong there.
        lost
            What cannot be read because of it, as far as known.

        Raises
        ------
        DamagedInput
            If the user does not want to keep what can be read of a damaged input.
        """
        byte = place
        if self._is_compressed:
            member = max(int(np.searchsorted(self.members, place, side="right")) - 1, 0)
            byte = int(self._members[member, 1])
            reason = (
                f"in the compressed member that begins there, at byte {place:,} of the "
                f"decompressed content: {reason}"
            )
        damage = Damage(file=self.stream.name, byte=byte, reason=reason, lost=lost)
        self.stream.report(damage)
        return damage

    def describe(self, place: int) -> str:
        """Return words for a place in the decompressed input."""
        return f"byte {place:,} of the content" if self._is_compressed else f"byte {place:,}"

    @property
    def _is_compressed(self) -> bool:
        return self.members.size > 0

    def _hold(self, data: bytes, place: int) -> None:
        self._data, self.place, self.at = data, place, 0
        self.block = np.frombuffer(data, dtype=np.uint8)
        members = np.concatenate((self._members, self.stream.take_members(self.end + 1)))
        n_before = int(np.searchsorted(members[:, 0], place, side="right")) - 1
        self._members = members[max(n_before, 0) :]
        self.members = np.ascontiguousarray(self._members[:, 0])

    def _members_within(self, first: int, end: int) -> NDArray[np.int64]:
        low, high = np.searchsorted(self.members, (first, end))
        return self.members[low:high]
