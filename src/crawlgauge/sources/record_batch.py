"""Room for the fields of records that a format's kernel finds, and the captures made of them."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from crawlgauge.sources import line_kernel, record_kernel
from crawlgauge.sources.captures import NO_TEXT, Captures
from crawlgauge.sources.records import assemble
from crawlgauge.sources.request import Request
from crawlgauge.sources.walk_kernel import N_BYTES, N_RECORDS, N_STATES

__all__ = ["RecordBatch"]

_MAX_RECORDS = 1 << 13
_MAX_BYTES = 1 << 22
"""Several times the longest header, so that a batch always has room for one more record."""
_ENOUGH_BYTES = _MAX_BYTES >> 2

_DIGEST_BYTES = 64
"""Longer than a digest."""


class RecordBatch:
    """Room for the fields of records, in which a format's kernel leaves what it has found.

    Parameters
    ----------
    constants
        Bytes that spans may point at without being copied for each record.

    Attributes
    ----------
    spans, verdicts
        As `records.assemble` takes them; the spans refer to `out`.
    bounds
        For each record, where in `out` an example of it stands.
    places
        For each record, where it begins in the decompressed input.
    bodies
        For each record where its body begins and ends there, and whether that is an HTTP message;
        −1 if it is not one whose payload was captured.
    texts
        For each record the fingerprint of its text, as `Captures` has it.
    out
        The constants, and behind them copies of the fields.
    state
        Numbers that the kernel reads and writes; `walk_kernel` names them.
    """

    def __init__(self, constants: bytes) -> None:
        self._n_constant = len(constants)
        self.spans = np.empty((_MAX_RECORDS, record_kernel.N_FIELDS, 2), dtype=np.int32)
        self.verdicts = np.empty(_MAX_RECORDS, dtype=np.uint8)
        self.bounds = np.empty((_MAX_RECORDS, 2), dtype=np.int64)
        self.places = np.empty(_MAX_RECORDS, dtype=np.int64)
        self.bodies = np.empty((_MAX_RECORDS, 3), dtype=np.int64)
        self.texts = np.full(_MAX_RECORDS, NO_TEXT, dtype=np.uint64)
        # Digests of bodies come behind the fields, whether or not kernels have left room for them.
        self._out = np.empty(_MAX_BYTES + _MAX_RECORDS * _DIGEST_BYTES, dtype=np.uint8)
        self.out = self._out[:_MAX_BYTES]
        self.out[: len(constants)] = np.frombuffer(constants, dtype=np.uint8)
        self.state = np.zeros(N_STATES, dtype=np.int64)
        self.state[N_BYTES] = len(constants)

    def add_digest(self, number: int, digest: bytes) -> None:
        """Give a record a digest that it lacks."""
        start = int(self.state[N_BYTES])
        end = start + len(digest)
        self._out[start:end] = np.frombuffer(digest, dtype=np.uint8)
        self.spans[number, record_kernel.DIGEST] = start, end
        self.state[N_BYTES] = end

    def media_type(self, number: int) -> bytes:
        """Return the media type of a record; nothing if it has none."""
        start, end = self.spans[number, record_kernel.MIME].tolist()
        return self._out[start:end].tobytes() if start >= 0 else b""

    @property
    def n_records(self) -> int:
        """How many records it holds."""
        return int(self.state[N_RECORDS])

    @property
    def is_large(self) -> bool:
        """Whether it is worth to be handed on."""
        return self.n_records > _MAX_RECORDS // 2 or self.state[N_BYTES] > _ENOUGH_BYTES

    def take(
        self, request: Request, name: str, rejected: Mapping[int, str], excluded: Mapping[int, str]
    ) -> Captures:
        """Return the captures, and be empty again."""
        n_records = self.n_records
        bounds = self.bounds[:n_records]
        captures = assemble(
            self._out[: self.state[N_BYTES]],
            self.spans[:n_records],
            self.verdicts[:n_records],
            request=request,
            name=name,
            bounds=bounds,
            place=0,
            first_line=None,
            rejected=rejected,
            excluded=excluded,
        )
        # Records that leave nothing in `out` share their bound with the one that follows them.
        offsets = [example.offset for example in captures.examples]
        numbers = np.searchsorted(bounds[:, 0], offsets, side="right") - 1
        examples = (
            replace(example, offset=int(self.places[number]))
            for example, number in zip(captures.examples, numbers, strict=True)
        )
        texts = None
        if request.reads_texts:
            texts = self.texts[:n_records][self.verdicts[:n_records] == line_kernel.ACCEPTED]
            self.texts[:] = NO_TEXT
        self.state[N_RECORDS], self.state[N_BYTES] = 0, self._n_constant
        return replace(captures, text=texts, examples=tuple(examples))
