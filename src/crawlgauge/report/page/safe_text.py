"""Text of unknown origin made harmless: for people's eyes, for scripts, and for BibTeX."""

import json
import re

__all__ = ["to_script_json", "to_visible"]

_IN_SCRIPT = {
    ord("<"): "\\u003c",
    ord(">"): "\\u003e",
    ord("&"): "\\u0026",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}
"""What could end a script element, begin a comment in it, or break a line of old scripts."""

_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Controls, marks of direction, joiners, halves of characters, and ends of lines."""


def to_visible(text: str) -> str:
    r"""Write invisible characters as escapes, so that a text shows what it holds.

    Parameters
    ----------
    text
        Such as the name of a file; marks of direction and terminal escapes in it may make it
        look like another.

    Examples
    --------
    >>> print(to_visible("report\u202ecod.exe"))
    report\u202ecod.exe
    """
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def to_script_json(document: object) -> str:
    r"""Return JSON that is inert within a script element of a page.

    Parameters
    ----------
    document
        Plain data.

    Raises
    ------
    ValueError
        If a number is not finite.

    Examples
    --------
    >>> to_script_json({"label": "</script>"})
    '{"label":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_IN_SCRIPT)
