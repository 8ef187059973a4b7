"""`Estimates` as one HTML file that shows all without scripts and forbids every connection."""

import base64
import hashlib
import re
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from crawlgauge.model.estimates import Estimates
from crawlgauge.report import result_json
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.theme import themed
from crawlgauge.report.page.document import make_page
from crawlgauge.report.page.figure import to_live
from crawlgauge.report.page.methods import split_at_terms
from crawlgauge.report.page.safe_text import to_script_json, to_visible
from crawlgauge.report.section import Section
from crawlgauge.report.words import number_of, open_sentence

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

__all__ = ["render_page"]


# ------------------------- the look of the page: its style sheet, and charts that turn dark with it


_ASSETS = resources.files("crawlgauge.report.page").joinpath("assets")
_STYLE = "page.css"


def read_asset(name: str) -> str:
    """Read a file that ships with the page.

    Parameters
    ----------
    name
        Of a template, style sheet or script.
    """
    return _ASSETS.joinpath(name).read_text("utf-8")


def make_style() -> str:
    """Return the style sheet.

    Charts are drawn once, in light colours. A rule for each colour of theirs turns it into the
    dark one where the page is dark, so that neither the pictures nor the live charts are drawn
    anew, and print is light by itself.
    """
    rules = [
        f'.drawing [{side}="{light}"] {{ {side}: light-dark({light}, {dark}); }}'
        for light, dark in _list_colours()
        for side in ("fill", "stroke")
    ]
    return "\n".join([read_asset(_STYLE), *rules, ""])


def _list_colours() -> tuple[tuple[str, str], ...]:
    """Return each colour of the light charts beside that of the dark ones."""
    light, dark = (themed({}, dark=is_dark)["config"] for is_dark in (False, True))
    pairs = dict(_pair_up(light, dark))
    # Charts stand on the page's own ground.
    del pairs[light["background"]]
    return tuple(pairs.items())


def _pair_up(light: Any, dark: Any) -> list[tuple[str, str]]:  # noqa: ANN401 - any JSON
    if isinstance(light, dict):
        return [pair for key in light for pair in _pair_up(light[key], dark[key])]
    if isinstance(light, list):
        return [p for one, other in zip(light, dark, strict=True) for p in _pair_up(one, other)]
    is_other = isinstance(light, str) and light.startswith("#") and light != dark
    return [(light, dark)] if is_other else []


# ---------------------------------------------------------------------------- templates of the page


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
    return Markup(_OPTION.sub(r"<code>\1</code>", escaped))  # noqa: S704 - escaped just above


def _show(text: str) -> "Markup":
    """Show a text as it is, down to its invisible characters."""
    from markupsafe import escape

    return escape(to_visible(text))


def _to_slug(term: str) -> str:
    return re.sub(r"[^a-z]+", "-", term.lower())


# --------- `Estimates` as one HTML file that shows all without scripts and forbids every connection


_SCRIPTS = ("choice.js", "tips.js", "charts.js", "tables.js", "downloads.js", "start.js")
_RUNTIME = "vega.js"
"""The libraries that draw charts, put together when the package is built."""


def render_page(
    estimates: Estimates, charts: Sequence[Chart | NoChart], sections: Sequence[Section] = ()
) -> str:
    """Return a page of estimates and their figures.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    charts
        In the order in which those of a section appear.
    sections
        Further questions, in their order.
    """
    style, runtime, script = make_style(), _keep_in_element(read_asset(_RUNTIME)), _join_scripts()
    every = [*charts, *(chart for section in sections for chart in section.charts)]
    drawn = [chart for chart in every if isinstance(chart, Chart) and not chart.is_dense]
    live = {
        "config": {**themed({})["config"], "background": "transparent"},
        "charts": [to_live(chart) for chart in drawn],
    }
    return load_template("page.html").render(
        page=make_page(estimates, charts, sections),
        policy=_make_policy(style, runtime, script),
        style=style,
        runtime=runtime,
        script=script,
        estimate=to_script_json(result_json.estimate_document(estimates)),
        charts=to_script_json(live),
    )


def _join_scripts() -> str:
    parts = "\n".join(read_asset(name) for name in _SCRIPTS)
    return _keep_in_element(f'(() => {{\n"use strict";\n{parts}}})();\n')


def _keep_in_element(script: str) -> str:
    """Keep a script from ending or hiding the element that it stands in."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _make_policy(style: str, *scripts: str) -> str:
    """Allow these scripts and this style by their hashes, pictures within the page, and no more."""
    allowed = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
