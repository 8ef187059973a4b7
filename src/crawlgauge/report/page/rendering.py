"""`Estimates` as one HTML file that shows all without scripts and forbids every connection."""

import base64
import hashlib
from collections.abc import Sequence

from crawlgauge.model.estimates import Estimates
from crawlgauge.report import result_json
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.theme import themed
from crawlgauge.report.page.document import make_page
from crawlgauge.report.page.figure import to_live
from crawlgauge.report.page.safe_text import to_script_json
from crawlgauge.report.page.style import make_style, read_asset
from crawlgauge.report.page.template import load_template
from crawlgauge.report.section import Section

__all__ = ["render_page"]

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
