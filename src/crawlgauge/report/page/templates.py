"""What the page is made of: its files and templates, and text of unknown origin made harmless."""

import json
import re
from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING

from crawlgauge.report.blocks import NO_BREAK, UNIT
from crawlgauge.report.words import number_of, open_sentence

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

_ASSETS = resources.files("crawlgauge.report.page").joinpath("assets")

_IN_SCRIPT = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
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


_JOINER = "\N{WORD JOINER}"
_RANGE = re.compile(r"(?<=\d)–(?=\d)")
_OPTION = re.compile(r"`([^`]+)`|((?:crawlgauge [a-z]+ ?)?--[a-z][a-z-]*(?: (?:\d+|all)\b)?)")


def load_template(name: str) -> "jinja2.Template":
    """Load a template that knows the page's filters; HTML escapes whatever it is given.

    Parameters
    ----------
    name
        Of a file that ships with the page.
    """
    import jinja2
    from markupsafe import Markup, escape

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
        "slug": lambda term: re.sub(r"[^a-z]+", "-", term.lower()),
        "terms": split_at_terms,
        "visible": lambda text: escape(to_visible(text)),
    }
    return environment.get_template(name)


def _keep_units(value: object) -> object:
    """Keep a number with its unit, and a range, on one line; markup stays as it is."""
    if type(value) is not str:
        return value
    return _RANGE.sub(f"–{_JOINER}", UNIT.sub(NO_BREAK, to_visible(value)))


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


# --------------------------------------------- the words that the page explains where they are used


GLOSSARY: Mapping[str, str] = json.loads(read_asset("glossary.json"))
"""As in the documentation; the definitions are the same."""

_PLURALS = {"capture histories": "capture history", "half-lives": "half-life"}
_EVERYWHERE = {"capture", "crawl", "pair"}
"""Words so common that marking them would be noise; they are in the list at the end only."""


_LONGEST_FIRST = sorted([*(set(GLOSSARY) - _EVERYWHERE), *_PLURALS], key=len, reverse=True)
_TERM = re.compile(rf"\b({'|'.join(map(re.escape, _LONGEST_FIRST))})(s?)\b", re.IGNORECASE)
_ENTRIES = {term.lower(): term for term in GLOSSARY} | _PLURALS


def split_at_terms(text: str) -> list[tuple[str, str | None]]:
    """Split a text at the words that the glossary explains, each where it first occurs.

    Parameters
    ----------
    text
        A paragraph.

    Returns
    -------
    list
        Each part of the text, with the entry that explains it or None.

    Examples
    --------
    >>> split_at_terms("Overlaps shrink; coverage is no overlap.")[:3]
    [('Overlaps', 'overlap'), (' shrink; ', None), ('coverage', 'coverage')]
    """
    pieces: list[tuple[str, str | None]] = []
    seen: set[str] = set()
    end = 0
    for match in _TERM.finditer(text):
        term = _ENTRIES[match[1].lower()]
        if term not in seen:
            seen.add(term)
            pieces += [(text[end : match.start()], None), (match[0], term)]
            end = match.end()
    pieces.append((text[end:], None))
    return [(words, term) for words, term in pieces if words]
