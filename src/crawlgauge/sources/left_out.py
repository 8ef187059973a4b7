"""What is left out of a batch of records: how many by reason, and the first rejected ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from crawlgauge.sources import line_kernel, record_kernel
from crawlgauge.sources.captures import Rejection

__all__ = ["LeftOut", "count_left_out", "printable", "readable"]

_REJECTED = MappingProxyType(
    {
        line_kernel.NO_SCHEME: "no-scheme",
        line_kernel.NO_HOST: "no-host",
        line_kernel.TOO_LONG: "too-long",
        record_kernel.NO_URL: "no-url",
    }
)
_EXCLUDED = MappingProxyType({line_kernel.OTHER_SCHEME: "other-scheme"})
_N_VERDICTS = 256
_MAX_EXAMPLES = 5
_EXAMPLE_BYTES = 80


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeftOut:
    """The records of a batch that are no captures or do not count.

    Parameters
    ----------
    verdicts
        On each record, 0 if it is a capture.
    n_chosen
        How many are.
    rejected, excluded
        How many are not, by reason.
    reasons
        What the verdicts on rejected records mean.
    """

    verdicts: NDArray[np.uint8]
    n_chosen: int
    rejected: Mapping[str, int]
    excluded: Mapping[str, int]
    reasons: Mapping[int, str]

    def examples(
        self,
        data: NDArray[np.uint8],
        bounds: NDArray[np.int64],
        *,
        name: str,
        first_line: int | None,
        place: int | None = None,
    ) -> tuple[Rejection, ...]:
        """Return the first rejected records.

        Parameters
        ----------
        data, bounds
            Record k is ``data[bounds[k, 0]:bounds[k, 1]]``.
        name
            The input as the user named it.
        first_line
            How many lines stand before the first record, if each record is a line.
        place
            Where `data` begins in the decompressed input; None if nobody could look it up there.
        """
        if not self.rejected:
            return ()
        found = np.flatnonzero(np.isin(self.verdicts, list(self.reasons)))[:_MAX_EXAMPLES]
        return tuple(
            Rejection(
                file=name,
                line=None if first_line is None else first_line + int(record) + 1,
                offset=0 if place is None else place + int(bounds[record, 0]),
                reason=self.reasons[int(self.verdicts[record])],
                text=readable(data[bounds[record, 0] : bounds[record, 1]].tobytes()),
            )
            for record in found
        )


def count_left_out(
    verdicts: NDArray[np.uint8],
    rejected: Mapping[int, str] = MappingProxyType({}),
    excluded: Mapping[int, str] = MappingProxyType({}),
) -> LeftOut:
    """Count records by what became of them.

    Parameters
    ----------
    verdicts
        Of `line_kernel`, `record_kernel` and the format's own.
    rejected, excluded
        What the format's own verdicts mean.
    """
    counts = np.bincount(verdicts, minlength=_N_VERDICTS)
    reasons = {**_REJECTED, **rejected}
    return LeftOut(
        verdicts=verdicts,
        n_chosen=int(counts[line_kernel.ACCEPTED]),
        rejected=_count(counts, reasons),
        excluded=_count(counts, {**_EXCLUDED, **excluded}),
        reasons=reasons,
    )


def readable(text: bytes) -> str:
    """Return the beginning of `text`, safe to print on a terminal."""
    shown = printable(text[:_EXAMPLE_BYTES].decode("utf-8", errors="replace"))
    return shown + ("…" if len(text) > _EXAMPLE_BYTES else "")


def printable(text: str) -> str:
    """Return `text` as it is safe to print on a terminal and to write as UTF-8."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def _count(counts: NDArray[np.int64], reasons: Mapping[int, str]) -> dict[str, int]:
    return {reason: int(counts[code]) for code, reason in reasons.items() if counts[code]}
