"""What the page is made of: its files and templates, and text of unknown origin made harmless."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from crawlgauge.report.words import number_of, open_sentence

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

_ASSETS = resources.files("crawlgauge.report.page").joinpath("assets")

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


def read_asset(name: str) -> str:
    """Read a file that ships with the page: a template, a style sheet, a script, a list."""
    return _ASSETS.joinpath(name).read_text("utf-8")


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


# ---------------------------------------------------------------------------- templates of the page


_NO_BREAK = "\N{NO-BREAK SPACE}"
_JOINER = "\N{WORD JOINER}"
_RANGE = re.compile(r"(?<=\d)–(?=\d)")
_UNIT = re.compile(r"(?<=\d) (?=(?:%|million|billion|trillion|years?|months?|days?)(?!\w))")
_OPTION = re.compile(r"`([^`]+)`|((?:crawlgauge [a-z]+ ?)?--[a-z][a-z-]*(?: (?:\d+|all)\b)?)")


def load_template(name: str) -> "jinja2.Template":
    """Load a template that knows the page's filters; HTML escapes whatever it is given.

    Parameters
    ----------
    name
        Of a file that ships with the page.
    """
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(read_asset),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        finalize=_keep_units if name.endswith(".html") else None,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "closing": lambda text: text.rstrip("."),
        "counted": number_of,
        # Only for what this program itself has drawn, written or made inert.
        "drawn": Markup,
        "opening": open_sentence,
        "options": _mark_options,
        "slug": _to_slug,
        "terms": split_at_terms,
        "visible": _show,
    }
    return environment.get_template(name)


def _keep_units(value: object) -> object:
    """Keep a number with its unit, and a range, on one line; markup stays as it is."""
    if type(value) is not str:
        return value
    return _RANGE.sub(f"–{_JOINER}", _UNIT.sub(_NO_BREAK, to_visible(value)))


def _mark_options(text: str) -> "Markup":
    """Set options of the command line apart from the words around them."""
    from markupsafe import Markup, escape

    # As a plain text, since markup would escape what is put into it.
    escaped = str(escape(_keep_units(text)))
    return Markup(_OPTION.sub(_set_apart, escaped))  # noqa: S704 - escaped just above


def _set_apart(match: re.Match[str]) -> str:
    # Lines break between words, not at the hyphens of an option.
    words = "</span> <span>".join((match[1] or match[2]).split(" "))
    return f"<code><span>{words}</span></code>"


def _show(text: str) -> "Markup":
    """Show a text as it is, down to its invisible characters."""
    from markupsafe import escape

    return escape(to_visible(text))


def _to_slug(term: str) -> str:
    return re.sub(r"[^a-z]+", "-", term.lower())


# --------------------------------------------- the words that the page explains where they are used


GLOSSARY: Mapping[str, str] = json.loads(read_asset("glossary.json"))
"""As in the documentation; the definitions are the same."""

_PLURALS = {"capture histories": "capture history", "half-lives": "half-life"}
_EVERYWHERE = {"capture", "crawl", "pair"}
"""Words so common that marking them would be noise; they are in the list at the end only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a text; `term` names the entry that explains it, or is None."""

    text: str
    term: str | None = None


def _pattern() -> re.Pattern[str]:
    words = [*(set(GLOSSARY) - _EVERYWHERE), *_PLURALS]
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(map(re.escape, longest_first))})(s?)\b", re.IGNORECASE)


_TERM = _pattern()
_ENTRIES = {term.lower(): term for term in GLOSSARY} | _PLURALS


def split_at_terms(text: str) -> tuple[Piece, ...]:
    """Split a text at the words that the glossary explains, each where it first occurs.

    Parameters
    ----------
    text
        A paragraph.

    Examples
    --------
    >>> [piece.term for piece in split_at_terms("Overlaps shrink; coverage is no overlap.")]
    ['overlap', None, 'coverage', None]
    """
    pieces: list[Piece] = []
    seen: set[str] = set()
    end = 0
    for match in _TERM.finditer(text):
        term = _ENTRIES[match[1].lower()]
        if term in seen:
            continue
        seen.add(term)
        if match.start() > end:
            pieces.append(Piece(text=text[end : match.start()]))
        pieces.append(Piece(text=match[0], term=term))
        end = match.end()
    if end < len(text):
        pieces.append(Piece(text=text[end:]))
    return tuple(pieces)
