"""Templates of the page: everything that comes in is text until it was made harmless."""

import re
from typing import TYPE_CHECKING

from crawlgauge.report.page.glossary import split_at_terms
from crawlgauge.report.page.safe_text import to_visible
from crawlgauge.report.page.style import read_asset

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

__all__ = ["load_template"]

_NO_BREAK = "\N{NO-BREAK SPACE}"
_JOINER = "\N{WORD JOINER}"
_RANGE = re.compile(r"(?<=\d)–(?=\d)")
_UNIT = re.compile(r"(?<=\d) (?=(?:%|million|billion|trillion|years?|months?|days?)(?!\w))")
_OPTION = re.compile(r"(--[a-z][a-z-]*(?: \d+)?)")


def load_template(name: str) -> "jinja2.Template":
    """Load a template that escapes whatever it is given and knows the page's filters.

    Parameters
    ----------
    name
        Of a file that ships with the page.
    """
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(read_asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_keep_units,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "closing": lambda text: text.rstrip("."),
        "counted": _count,
        # Only for what this program itself has drawn, written or made inert.
        "drawn": Markup,
        "opening": lambda text: f"{text[:1].upper()}{text[1:]}",
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
    return Markup(_OPTION.sub(r"<code>\1</code>", escaped))  # noqa: S704 - escaped just above


def _show(text: str) -> "Markup":
    """Show a text as it is, down to its invisible characters."""
    from markupsafe import escape

    return escape(to_visible(text))


def _to_slug(term: str) -> str:
    return re.sub(r"[^a-z]+", "-", term.lower())


def _count(number: int, noun: str) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> _count(1, "entry"), _count(2, "entry"), _count(1200, "row")
    ('1 entry', '2 entries', '1,200 rows')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"
