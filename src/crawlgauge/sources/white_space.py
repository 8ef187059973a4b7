"""ASCII white space, for compiled code."""

from crawlgauge.compiled import compiled

__all__ = ["is_space"]

_SPACE, _TAB, _CARRIAGE_RETURN = 0x20, 0x09, 0x0D


@compiled
def is_space(byte: int) -> bool:
    """Tell whether a byte is ASCII white space."""
    return byte == _SPACE or _TAB <= byte <= _CARRIAGE_RETURN
