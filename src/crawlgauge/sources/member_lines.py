"""Lines of an index, also those that end with a member of the compressed file and not a newline.

Tools that write ZipNum clusters join the lines of each member with newlines, so that the last one
has none and, once decompressed, runs into the next. Other tools cut their members anywhere. Which
it is, the text on both sides of a cut tells.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crawlgauge.damage import Damage
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.lines import Lines

__all__ = ["UTF8_MARK", "cut_line", "find_cuts", "find_lines", "first_line"]

UTF8_MARK = b"\xef\xbb\xbf"
"""Some editors put it before a text; what a text is must be told without it."""


def find_lines(
    lines: Lines, stream: ByteStream, is_between: Callable[[int, int, int], bool]
) -> NDArray[np.int64]:
    """Return where each line begins and ends, its newline left out.

    Parameters
    ----------
    lines
        Whole lines.
    stream
        Where they come from; its members that begin before the end of the lines are forgotten.
    is_between
        Tells whether a place in the lines, given the beginning and the end of what seems to be
        one line, stands between two.
    """
    ends = lines.find_ends()
    cuts = find_cuts(lines, stream, is_between)
    starts = np.empty_like(ends)
    starts[:1], starts[1:] = 0, ends[:-1] + 1
    if cuts:
        starts = np.sort(np.append(starts, cuts))
        ends = np.sort(np.append(ends, cuts))
    return np.stack([starts, ends], axis=1)


def first_line(lines: Lines, bounds: NDArray[np.int64]) -> int | None:
    """Return how many lines stand before those at `bounds`, as other programs count them.

    None if that is not known, or if there are lines among them that no newline ends.
    """
    return lines.n_before if bounds.shape[0] == lines.n_lines else None


def cut_line(stream: ByteStream) -> Damage:
    """Describe that an input ends in the middle of a line."""
    return Damage(
        file=stream.name,
        byte=stream.place,
        reason="it ends in the middle of a line",
        lost="that line and all that should follow",
    )


def find_cuts(
    lines: Lines, stream: ByteStream, is_between: Callable[[int, int, int], bool]
) -> list[int]:
    """Return where one line ends and another begins without a newline, as for `find_lines`."""
    data = lines.data
    members = stream.take_members(lines.place + len(data))
    cuts: list[int] = []
    for place in sorted(set((members[:, 0] - lines.place).tolist())):
        if place <= 0 or data[place - 1] == ord("\n"):
            continue
        start = data.rfind(b"\n", 0, place) + 1
        end = data.find(b"\n", place)
        if is_between(max([start, *cuts[-1:]]), place, len(data) if end < 0 else end):
            cuts.append(place)
    return cuts
