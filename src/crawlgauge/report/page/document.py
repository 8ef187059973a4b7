"""The page: sections that fold, figures, methods to cite, and all of it as one HTML file."""

import base64
import datetime as dt
import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from crawlgauge._version import __version__
from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Check, Estimates, EstimatorRow, PairResidual
from crawlgauge.model.phrases import count, growth_per_year, names, percent, span, things
from crawlgauge.provenance import Provenance
from crawlgauge.report import estimate_blocks, result_json, words
from crawlgauge.report.blocks import (
    Block,
    Column,
    Field,
    Paragraph,
    Section,
    Verdict,
    bullets,
    heading,
    tabulate,
)
from crawlgauge.report.charts.chart import (
    COLUMN_WIDTH,
    Chart,
    NoChart,
    read_size,
    render_svg,
    themed,
    to_inline_svg,
)
from crawlgauge.report.charts.drawing import ROWS, shared_beginning
from crawlgauge.report.charts.figures import CHARTS
from crawlgauge.report.page import answer, templates

# --------------------------------------------------------- charts as still pictures within the page


_PNG_SCALE = 2
"""Twice the pixels of a page: sharp on fine screens and on paper."""

_PNG_HEADER = 8
_WIDE = 1.5 * COLUMN_WIDTH
"""A chart wider than this takes the whole width of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Still:
    """A picture.

    Parameters
    ----------
    width, height
        In pixels of the page.
    svg
        An SVG element; empty if the picture is dense.
    png
        A data URL of a PNG; empty if it is not.
    """

    width: float
    height: float
    svg: str = ""
    png: str = ""

    @property
    def is_wide(self) -> bool:
        """Whether it needs the whole width of the page."""
        return self.width > _WIDE


def draw_still(chart: Chart) -> Still:
    """Draw a chart as SVG, or as PNG if it has too many marks for a page.

    Parameters
    ----------
    chart
        What to draw.
    """
    import vl_convert

    # Characters that XML does not allow would end the program, not only the drawing.
    visible = replace(chart, specification=_make_visible(chart.specification))
    svg = templates.to_visible(render_svg(visible, has_title=False, on_screen=True))
    width, height = read_size(svg)
    if not chart.is_dense:
        return Still(width=width, height=height, svg=to_inline_svg(svg, chart.name))
    png = _compress_png(vl_convert.svg_to_png(svg, scale=_PNG_SCALE))
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    return Still(width=width, height=height, png=url)


def _make_visible(part: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(part, str):
        return templates.to_visible(part)
    if isinstance(part, Mapping):
        return {templates.to_visible(key): _make_visible(value) for key, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [_make_visible(value) for value in part]
    return part


def _compress_png(png: bytes) -> bytes:
    """Pack the pixels of a PNG as tightly as can be; drawing packs them in haste."""
    before, pixels, after = bytearray(png[:_PNG_HEADER]), bytearray(), bytearray()
    place = _PNG_HEADER
    while place < len(png):
        n_bytes, kind = struct.unpack(">I4s", png[place : place + 8])
        end = place + 12 + n_bytes
        if kind == b"IDAT":
            pixels += png[place + 8 : end - 4]
        else:
            (after if pixels else before).extend(png[place:end])
        place = end
    packed = b"IDAT" + zlib.compress(zlib.decompress(pixels), 9)
    chunk = struct.pack(">I", len(packed) - 4) + packed + struct.pack(">I", zlib.crc32(packed))
    return bytes(before + chunk + after)


def to_live(chart: Chart) -> dict[str, Any]:
    """Return what the script needs: the data once, and how to draw them.

    Parameters
    ----------
    chart
        Not a dense one: of that the page has the picture only.
    """
    # The script puts the rows into the specification, so that they stand in the page once.
    others = {**chart.specification["datasets"]}
    del others[ROWS]
    return {
        "name": chart.name,
        "columns": chart.columns,
        "rows": chart.rows,
        "datasets": [ROWS],
        "specification": {**chart.specification, "datasets": others},
    }


# ------------------------------- for the user's own paper: a paragraph on methods, and what to cite


_ALWAYS = {"paris2026coverage", "crawlgauge", "broder1997resemblance", "link2003nonidentifiability"}
_OF_ESTIMATORS = {
    "manly1968new": {"known-alive", "manly-parr"},
    "cormack1964estimates": {"cjs", "jolly-seber"},
    "jolly1965explicit": {"cjs", "jolly-seber"},
    "seber1965note": {"cjs", "jolly-seber"},
}
_OF_HALF_LIFE = {"koehler2002web", "koehler2004longitudinal"}


def list_citations(estimates: Estimates) -> list[str]:
    """Return BibTeX entries for the method, the program and what the estimates rest on.

    Parameters
    ----------
    estimates
        Which estimators stand in them decides what is cited.
    """
    used = {row.name for row in estimates.estimators}
    cited = _ALWAYS | {key for key, rows in _OF_ESTIMATORS.items() if used & rows}
    if estimates.half_life_years.value is not None:
        cited |= _OF_HALF_LIFE
    entries = templates.read_asset("citations.bib").strip().split("\n\n")
    return [
        entry.replace("VERSION", __version__)
        for entry in entries
        if entry[entry.index("{") + 1 : entry.index(",")] in cited
    ]


def describe_methods(estimates: Estimates) -> str:
    """Return what was done and found, with version and settings, as one paragraph.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    coverage, paper = estimates.headline.coverage, estimates.paper
    ran = [check for check in estimates.checks if check.status not in {"na", "info"}]
    fired = [check.id for check in ran if check.status != "ok"]
    text = templates.load_template("methods.txt").render(
        estimates=estimates,
        version=__version__,
        what=things(estimates.level),
        first=_day(estimates.crawls[0]),
        last=_day(estimates.crawls[-1]),
        sizes=_sizes(estimates.crawls),
        sample=_sample(estimates.crawls),
        fit=None if paper.r_squared is None else words.r_squared(paper.r_squared),
        is_quotable=answer.has_quotable_number(estimates),
        typical=words.with_range(coverage, percent),
        basis="" if coverage.low is None else words.describe_basis(coverage),
        persistence=words.with_range(estimates.persistence, percent),
        half_life=words.with_range(estimates.half_life_years, span),
        growth=words.with_range(estimates.growth_per_year, growth_per_year),
        fired=names(fired) if fired else "",
        passed=", ".join(check.id for check in ran if check.status == "ok"),
        settings=list_settings(estimates.provenance),
    )
    return " ".join(text.split())


def list_settings(provenance: Provenance) -> str:
    """Name all settings, whatever is in them."""
    settings = provenance.settings.items()
    return ", ".join(
        f"{templates.to_visible(key)} = {templates.to_visible(str(value))}"
        for key, value in settings
    )


def _day(crawl: Crawl) -> str:
    return f"{crawl.date.day} {crawl.date:%B %Y}"


def _sizes(crawls: tuple[Crawl, ...]) -> str:
    least, most = (pick(crawl.n_urls for crawl in crawls) for pick in (min, max))
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _sample(crawls: tuple[Crawl, ...]) -> str:
    sampled = [crawl for crawl in crawls if crawl.n_sampled is not None]
    if not sampled:
        return ""
    share = sum(c.n_counted for c in sampled) / sum(c.n_urls for c in sampled)
    which = "" if len(sampled) == len(crawls) else f" in {len(sampled)} of them"
    return f", counted{which} in a hash sample of {percent(share)}"


# --------------------------- the checks in words: what each asks, what it found, and how to read it


class CheckCard(NamedTuple):
    """A check: what it asks, what it found and how large that is, and how to read it."""

    id: str
    question: str
    verdict: Verdict
    effect: str
    explanations: tuple[tuple[str, str], ...]


def list_checks(estimates: Estimates) -> tuple[CheckCard, ...]:
    """Return the checks, the gravest first."""
    gravest_first = list(words.STATUSES)
    ordered = sorted(estimates.checks, key=lambda check: gravest_first.index(check.status))
    return tuple(_describe(check) for check in ordered)


def _describe(check: Check) -> CheckCard:
    status, explanation, effect = words.STATUSES[check.status], words.EXPLANATIONS[check.id], ""
    if check.effect is not None:
        limit = "" if check.threshold is None else f", threshold {check.threshold:g}"
        effect = f"Effect {words.signed(check.effect)}{limit}"
    verdict = Verdict(status.tone, status.word, check.message)
    return CheckCard(check.id, explanation.question, verdict, effect, explanation.parts)


def count_verdicts(estimates: Estimates) -> str:
    """Write how many checks say what."""
    n_checks = len(estimates.checks)
    if n_checks == 0:
        return "So few crawls leave nothing to check."
    said = [check.status for check in estimates.checks]
    parts = [
        f"{said.count(status)} {say.one if said.count(status) == 1 else say.several}"
        for status, say in words.STATUSES.items()
        if status in said
    ]
    if len(parts) > 1:
        return f"Of {n_checks} checks, {', '.join(parts[:-1])} and {parts[-1]}."
    say = words.STATUSES[said[0]]
    if n_checks == 1:
        return f"The one check {say.one}."
    if say.none:
        return f"None of {n_checks} checks {say.none}."
    return f"All {n_checks} checks {say.several}."


# ---------------------------------------------------- sections that are made of the estimates alone


def list_crawls(estimates: Estimates) -> Section:
    """Return the section on the crawls: a table with a row for each, and what lives on."""
    doubts = []
    if not answer.has_quotable_number(estimates) and estimates.headline.coverage.value is not None:
        text = "As the checks speak against the model, do not rely on these numbers."
        doubts = [[Paragraph(text=text, role="warn")]]
    return Section(
        name="crawls",
        title="Coverage, population and turnover",
        lead=_say_half_life(estimates),
        blocks=([], *estimate_blocks.show_crawls(estimates), *doubts),
    )


def _say_half_life(estimates: Estimates) -> str:
    life = estimates.half_life_years
    if life.value is None or not answer.has_quotable_number(estimates):
        return words.number_of(len(estimates.crawls), "crawl")
    return f"Half of the {things(estimates.level)} are gone after {words.with_range(life, span)}"


_NO_LINE = "no line can be drawn, as that takes two different time differences"

MAX_PAIRS = 435
"""Pairs of 30 crawls; a table of more makes the page slow and is read by nobody."""

_FARTHEST = 50
"""How many are shown where there are too many."""


def show_pairs(estimates: Estimates) -> Block:
    """Return the pairs with their similarities, the farthest from the model if there are many."""
    pairs, title = estimates.residuals, "All pairs of crawls"
    if len(pairs) > MAX_PAIRS:
        farthest = sorted(pairs, key=_distance, reverse=True)[:_FARTHEST]
        pairs = tuple(pair for pair in pairs if pair in farthest)
        title = (
            f"The {_FARTHEST} pairs of crawls that lie farthest from the fit; all "
            f"{len(estimates.residuals):,} are in the downloads"
        )
    table = tabulate(
        pairs,
        (Column(header="Earlier crawl", is_crawl=True), "a"),
        (Column(header="Later crawl", is_crawl=True), "b"),
        ("Years apart", "lag_years", "{:.2f}".format),
        (f"Shared {things(estimates.level)}", "n_shared", words.grouped),
        ("Of the earlier", "containment", _in_percent),
        ("Of the later", "containment_backward", _in_percent),
        ("Jaccard", "jaccard", "{:.4f}".format),
        ("Dice–Sørensen", "dice", "{:.4f}".format),
        ("ln R, paper’s line", "log_r", words.signed),
        ("ln R, two-way", "log_r_two_way", words.signed),
    )
    return [heading(title), table]


def _distance(pair: PairResidual) -> float:
    return max(abs(pair.log_r or 0), abs(pair.log_r_two_way or 0))


def _in_percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def list_union(estimates: Estimates) -> Section:
    """Return the section on what all crawls hold together, empty if that is not known."""
    union, lead = estimates.union, ""
    if union is not None and union.coverage.value is not None:
        share = words.with_range(union.coverage, percent)
        lead = f"They hold {share} of what could be reached at the newest crawl"
    blocks = tuple(estimate_blocks.show_union(estimates))
    return Section(name="union", title="All crawls together", lead=lead, blocks=blocks)


def list_estimators(estimates: Estimates) -> Section:
    """Return the section on the estimators, the headline first, closed ones last."""
    leading, agreement = estimates.headline.estimator, estimates.agreement
    rows = sorted(
        estimates.estimators, key=lambda row: (row.name != leading, row.name in words.CLOSED)
    )
    grade = "" if agreement.grade == "none" else f"Grade {agreement.grade}: "
    reason = f"{grade}{words.open_sentence(agreement.reason).removesuffix('.')}."
    note = (
        "Where estimators disagree, what they assume tells why. Those that take the web for "
        "unchanging stand last, for comparison only."
    )

    def name(row: EstimatorRow) -> str:
        return f"{row.name} (the headline)" if row.name == leading else row.name

    _, *numbers = estimate_blocks.ESTIMATOR_FIELDS
    table = tabulate(rows, ("estimator", name), *numbers, ("assumes", "assumes"))
    return Section(
        name="estimators",
        title="The other estimators",
        lead=f"{words.number_of(len(rows), 'estimator')} side by side, each with what it assumes",
        blocks=([Paragraph(text=f"{reason} {note}")], [table]) if rows else (),
    )


def show_provenance(estimates: Estimates) -> Iterator[Block]:
    """Yield which program, which settings, which damage and which files the numbers come from."""
    made, what = estimates.provenance, things(estimates.level)
    when = ""
    if made.created is not None:
        when = f"; the overlaps were counted on {templates.to_visible(made.created)}"
    texts = [f"Estimated by crawlgauge {templates.to_visible(made.crawlgauge)}{when}."]
    if made.settings:
        texts.append(f"Settings: {list_settings(made)}.")
    harm = "No input was damaged."
    if damaged := [crawl.label for crawl in estimates.crawls if crawl.damaged]:
        harm = f"Damage: part of the input of {names(damaged)} could not be read and was left out."
    texts.append(harm)
    sampled = [crawl for crawl in estimates.crawls if crawl.n_sampled is not None]
    if sampled:
        least = min(crawl.n_counted for crawl in sampled)
        texts.append(
            f"Overlaps were counted in a sample of {count(least)} or more {what} of each crawl."
        )
    yield [heading("Where the numbers come from"), *(Paragraph(text=text) for text in texts)]
    if made.inputs:
        are_sized = any(source.n_bytes is not None for source in made.inputs)
        sizes: list[Field] = [("Bytes", "n_bytes", words.grouped)] if are_sized else []
        table = tabulate(made.inputs, ("Input", "name"), *sizes, ("Checksum", "checksum"))
        yield [heading("What was read, with checksums"), table]


# ----------------------------- everything that the page says, put together before anything is drawn


_PAGE_ONLY = frozenset({"checks", "meaning", "methods", "glossary"})
"""Sections whose words stand in the template."""


def make_page(
    estimates: Estimates,
    charts: Sequence[Chart | NoChart],
    sections: Sequence[Section],
    title: str | None,
) -> dict[str, Any]:
    """Put together what the template shows.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    charts
        Its figures.
    sections
        Further questions, in their order.
    title
        What the archive is called; None if nobody said.
    """
    crawls, what = estimates.crawls, things(estimates.level)
    labels, begin, end = [crawl.label for crawl in crawls], crawls[0].date, crawls[-1].date
    n, size = len(crawls), sum(crawl.n_urls for crawl in crawls) / len(crawls)
    folded = [_fold(section, charts) for section in _arrange(estimates, sections)]
    parts = [part for part in folded if part.name in _PAGE_ONLY or not _is_empty(part)]
    first = next((chart for chart in charts if CHARTS[chart.name].section == "answer"), None)
    shown = [*([first] if first else []), *(chart for part in parts for chart in part.charts)]
    today = dt.datetime.now(dt.UTC).date()
    return {
        "version": __version__,
        "title": title or "How much of the crawlable web does this archive hold?",
        "is_named": title is not None,
        "made": f"{today.day} {today:%B %Y}",
        "about": f"{n} crawls, {begin:%B %Y} to {end:%B %Y}, of {count(size)} {what} on average",
        "labels": labels,
        "beginning": shared_beginning(labels),
        "answer": answer.find_answer(estimates),
        "verdict": answer.judge_answer(estimates),
        "facts": answer.list_facts(
            estimates, next((s.verdict for s in sections if s.verdict), None)
        ),
        "first_figure": first,
        "parts": parts,
        "stills": {chart.name: draw_still(chart) for chart in shown if isinstance(chart, Chart)},
        "basis": answer.describe_basis_of(estimates),
        "checks": list_checks(estimates),
        "half_life": words.with_range(estimates.half_life_years, span),
        "years": f"{begin:%Y}" if begin.year == end.year else f"{begin:%Y} to {end:%Y}",
        "what": what,
        "share": _say_share(estimates),
        "methods": describe_methods(estimates),
        "citations": list_citations(estimates),
    }


def _arrange(estimates: Estimates, sections: Sequence[Section]) -> Iterable[Section]:
    """Put the sections of every page and those that were asked into the order of the page."""
    given = {section.name: section for section in sections}
    careful = [heading("What to be careful about"), *bullets(estimates.warnings)]
    yield Section(
        name="checks",
        title="Can it be trusted?",
        lead=count_verdicts(estimates),
        blocks=(careful,) if estimates.warnings else (),
    )
    yield from (given.pop(name) for name in ("anchors",) if name in given)
    yield list_crawls(estimates)
    yield from (given.pop(name) for name in ("newest-check",) if name in given)
    yield Section(
        name="paper",
        title="The published method",
        lead=words.open_sentence(estimate_blocks.say_line(estimates.paper) or _NO_LINE),
        blocks=([], show_pairs(estimates)),
    )
    yield list_union(estimates)
    yield from (given.pop(name) for name in ("history",) if name in given)
    yield given.pop("plan", Section(name="plan", title="Planning the next crawls"))
    yield from given.values()
    yield list_estimators(estimates)
    yield Section(
        name="meaning",
        title="What the number means, and what not",
        lead="Three ways to read it, and its limits",
    )
    yield Section(
        name="methods",
        title="For your paper, and to check",
        lead="A paragraph on methods, citations, inputs, downloads",
        blocks=tuple(show_provenance(estimates)),
    )
    yield Section(name="glossary", title="Glossary", lead="The words with a dotted line")


def _fold(section: Section, charts: Sequence[Chart | NoChart]) -> Section:
    """Give a section its figures; an answer at its beginning goes beside its title."""
    blocks, lead = [list(block) for block in section.blocks], section.lead
    opening = blocks[0][0] if blocks and blocks[0] else None
    # An answer that is all there is stays where it is: there must be something to unfold.
    is_all = sum(map(len, blocks)) == 1 and not section.charts
    is_answer = isinstance(opening, Paragraph) and opening.role == "answer" and not opening.first
    if isinstance(opening, Paragraph) and is_answer and not (is_all or lead):
        lead = opening.text
        del blocks[0][0]
    own = (chart for chart in charts if CHARTS[chart.name].section == section.name)
    return replace(section, lead=lead, blocks=tuple(blocks), charts=(*section.charts, *own))


def _is_empty(section: Section) -> bool:
    """Tell whether there is nothing to unfold."""
    drawn = any(isinstance(chart, Chart) for chart in section.charts)
    return not (drawn or any(section.blocks))


def _say_share(estimates: Estimates) -> str:
    coverage = estimates.headline.coverage.value
    if coverage is None or not answer.has_quotable_number(estimates):
        return "a share equal to the coverage"
    return f"about {percent(coverage)}"


# ------------------------- the look of the page: its style sheet, and charts that turn dark with it


def make_style() -> str:
    """Return the style sheet.

    Charts are drawn once, in light colours. A rule for each colour of theirs turns it into the
    dark one where the page is dark, so that neither the pictures nor the live charts are drawn
    anew, and print is light by itself.
    """
    colours, dark_ones = (themed({}, dark=is_dark)["config"] for is_dark in (False, True))
    pairs = dict(_pair_up(colours, dark_ones))
    # Charts stand on the page's own ground.
    del pairs[colours["background"]]
    rules = [
        f'.drawing [{side}="{light}"] {{ {side}: light-dark({light}, {dark}); }}'
        for light, dark in pairs.items()
        for side in ("fill", "stroke")
    ]
    return "\n".join([templates.read_asset("page.css"), *rules, ""])


def _pair_up(light: Any, dark: Any) -> list[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """Return each colour of the light charts beside that of the dark ones."""
    if isinstance(light, dict):
        return [pair for key in light for pair in _pair_up(light[key], dark[key])]
    if isinstance(light, list):
        return [p for one, other in zip(light, dark, strict=True) for p in _pair_up(one, other)]
    is_other = isinstance(light, str) and light.startswith("#") and light != dark
    return [(light, dark)] if is_other else []


# --------- `Estimates` as one HTML file that shows all without scripts and forbids every connection


_SCRIPTS = [
    f"{name}.js"
    for name in ("choice", "tips", "charts", "tables", "leave_out", "downloads", "start")
]
_RUNTIME = "vega.js"
"""The libraries that draw charts, put together when the package is built."""


def render_page(
    estimates: Estimates,
    charts: Sequence[Chart | NoChart],
    sections: Sequence[Section] = (),
    *,
    title: str | None = None,
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
    title
        What the archive is called.
    """
    style, runtime = make_style(), _keep_in_element(templates.read_asset(_RUNTIME))
    parts = "\n".join(templates.read_asset(name) for name in _SCRIPTS)
    script = _keep_in_element(f'(() => {{\n"use strict";\n{parts}}})();\n')
    every = [*charts, *(chart for section in sections for chart in section.charts)]
    drawn = [chart for chart in every if isinstance(chart, Chart) and not chart.is_dense]
    live = {
        "config": {**themed({}, on_screen=True)["config"], "background": "transparent"},
        "charts": [to_live(chart) for chart in drawn],
    }
    return templates.load_template("page.html").render(
        page=make_page(estimates, charts, sections, title),
        estimates=estimates,
        glossary=templates.GLOSSARY,
        policy=_make_policy(style, runtime, script),
        style=style,
        runtime=runtime,
        script=script,
        estimate=templates.to_script_json(result_json.estimate_document(estimates)),
        charts=templates.to_script_json(live),
    )


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
