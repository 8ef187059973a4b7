"""Cut blocks of bytes into whole lines, however long the lines are."""

from collections.abc import Iterable, Iterator

__all__ = ["whole_lines"]

_SPACES = b" \t\n\v\f\r"


def whole_lines(blocks: Iterable[bytes], longest: int) -> Iterator[tuple[bytes, int]]:
    r"""Yield whole lines, many at a time, with the place of the first byte.

    A line that grows beyond `longest` bytes is yielded alone and in brief: without the space
    around it, cut one byte beyond `longest`. What it is, blank, a comment or too long, can still
    be told, and memory stays bounded.

    Parameters
    ----------
    blocks
        The bytes, cut anywhere.
    longest
        Longest line that matters.

    Examples
    --------
    >>> list(whole_lines([b"a\nb", b"c\nd"], 10))
    [(b'a\n', 0), (b'bc\n', 2), (b'd', 5)]
    """
    rest, start, place = b"", 0, 0
    is_long = False
    for block in blocks:
        end = 0
        if is_long:
            end = block.find(b"\n") + 1
            rest, start = _shorten(rest + (block[: end - 1] if end else block), start, longest)
            if not end:
                place += len(block)
                continue
            yield rest + b"\n", start
            rest, start, is_long = b"", place + end, False
        data = rest + block[end:] if end else rest + block
        cut = data.rfind(b"\n") + 1
        if cut:
            yield data[:cut], start
        rest, start, place = data[cut:], start + cut, place + len(block)
        if len(rest) > longest:
            rest, start = _shorten(rest, start, longest)
            is_long = True
    if rest:
        yield rest, start


def _shorten(line: bytes, start: int, longest: int) -> tuple[bytes, int]:
    """Return the beginning of a line that tells what it is, and the place of its first byte."""
    trimmed = line.lstrip(_SPACES)
    start += len(line) - len(trimmed)
    if len(trimmed) <= longest:
        return trimmed, start
    # One byte stands for all beyond the limit: space only, so far, or more.
    return trimmed[:longest] + (b"x" if trimmed[longest:].strip(_SPACES) else b" "), start
