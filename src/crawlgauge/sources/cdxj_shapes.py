"""How the lines of an index are made: what was learnt from those that were read closely."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.sources.cdxj_shape_kernel import (
    FIELD,
    IS_TEXT,
    LENGTH,
    MAX_JOINTS,
    N_KNOWN,
    N_QUOTES,
    NONE,
    ROOM,
    UNKNOWN,
    scan_alike,
)
from crawlgauge.sources.record_kernel import GROUP, N_FIELDS, STATUS
from crawlgauge.words import VECTOR

__all__ = ["CdxjShapes", "ScannedLines"]

_JOINT = re.compile(
    rb'(?:\{|"[ \t]*,|,)[ \t]*"(?P<name>[^"\\\x00-\x1f]*)"[ \t]*:[ \t]*(?P<quote>"?)'
)
_TEXT = re.compile(rb'[^"\\\x00-\x1f]*')
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)")
_NEVER = 1 << VECTOR
"""A bit that no comparison sets."""
_MAY_BE_NUMBERS = (STATUS, GROUP)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScannedLines:
    """What was found in a block of lines.

    Parameters
    ----------
    bounds
        Where each line begins and ends, its newline left out.
    spans
        Where the fields of each line are, as `records.assemble` takes them.
    verdicts
        `line_kernel.ACCEPTED`, or `cdxj_shape_kernel.UNSURE` for lines that must be read closely.
    """

    bounds: NDArray[np.int64]
    spans: NDArray[np.int32]
    verdicts: NDArray[np.uint8]


class CdxjShapes:
    """Joints of JSON objects that were met in an index; see `cdxj_shape_kernel`.

    Parameters
    ----------
    names, fields
        Names of the members that are wanted, and the field of `record_kernel` of each.
    """

    def __init__(self, names: Sequence[bytes], fields: Sequence[int]) -> None:
        self._field_of = dict(zip(names, fields, strict=True))
        self._known: set[bytes] = set()
        # Two more: for what stands before all joints, and for one that is not known.
        self._joints = np.zeros((MAX_JOINTS + 2) * VECTOR, dtype=np.uint8)
        self._masks = np.full(MAX_JOINTS + 2, _NEVER, dtype=np.uint64)
        self._about = np.full((MAX_JOINTS + 2) * N_KNOWN, UNKNOWN, dtype=np.int64)
        self._specials = np.empty(0, dtype=np.int32)

    def scan(self, data: bytes, n_lines: int, cuts: Sequence[int]) -> ScannedLines:
        """Find the lines of a block, and the fields of those that are made in known ways.

        Parameters
        ----------
        data
            Whole lines.
        n_lines
            How many there are.
        cuts
            Where one ends and another begins without a newline.
        """
        found = ScannedLines(
            bounds=np.empty((n_lines, 2), dtype=np.int64),
            spans=np.empty((n_lines, N_FIELDS, 2), dtype=np.int32),
            verdicts=np.empty(n_lines, dtype=np.uint8),
        )
        if len(data) + ROOM > self._specials.size:
            self._specials = np.empty(len(data) + ROOM, dtype=np.int32)
        block = np.frombuffer(data, dtype=np.uint8)
        places = np.array([*cuts, len(data) + ROOM], dtype=np.int64)
        n_done, place = self._scan(block, places, found, is_last=False)
        # Comparisons reach beyond what they compare: what is left is read with room behind it.
        rest = ScannedLines(
            bounds=found.bounds[n_done:],
            spans=found.spans[n_done:],
            verdicts=found.verdicts[n_done:],
        )
        block = np.frombuffer(data[place:] + bytes(ROOM), dtype=np.uint8)
        self._scan(block, places[places > place] - place, rest, is_last=True)
        rest.bounds[:] += place
        rest.spans[rest.spans >= 0] += place
        return found

    def _scan(
        self,
        block: NDArray[np.uint8],
        cuts: NDArray[np.int64],
        found: ScannedLines,
        *,
        is_last: bool,
    ) -> tuple[int, int]:
        return scan_alike(
            block,
            block.size - ROOM,
            is_last,
            cuts,
            self._joints,
            self._masks,
            self._about,
            len(self._known),
            self._specials,
            found.bounds,
            found.spans,
            found.verdicts,
        )

    def learn(self, text: bytes) -> None:
        """Remember how the JSON of a line is put together, as far as it is simple."""
        place = 0
        while found := _JOINT.match(text, place):
            is_text = bool(found["quote"])
            self._add(found[0], found["name"], is_text=is_text)
            value = (_TEXT if is_text else _NUMBER).match(text, found.end())
            if value is None:
                return
            place = value.end()

    def _add(self, joint: bytes, name: bytes, *, is_text: bool) -> None:
        number = len(self._known)
        if joint in self._known or number == MAX_JOINTS or len(joint) > VECTOR:
            return
        self._known.add(joint)
        place = number * VECTOR
        self._joints[place : place + len(joint)] = np.frombuffer(joint, dtype=np.uint8)
        field = self._field_of.get(name, NONE)
        if not is_text and field not in _MAY_BE_NUMBERS:
            field = NONE
        self._masks[number] = (1 << len(joint)) - 1
        about = self._about[number * N_KNOWN :]
        about[[LENGTH, N_QUOTES]] = len(joint), joint.count(b'"')
        about[[IS_TEXT, FIELD]] = is_text, field
