"""`Estimates` as files that people work on: CSV for a spreadsheet, LaTeX for a paper."""

import csv
import io
from collections.abc import Iterator

from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.phrases import count, growth_per_year, percent, span, things
from crawlgauge.report.words import Phrase, grouped, with_range

_COLUMNS = ("quantity", "crawl", "date", "value", "low", "high", "level", "basis", "reason")
_TEX = str.maketrans(
    {char: f"\\{char}" for char in "#$%&_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"–": "--", "−": "$-$", "²": r"\textsuperscript{2}"}
)


def to_csv(estimates: Estimates) -> str:
    """Return a row for each number: of the archive, of each crawl, of the published method.

    Parameters
    ----------
    estimates
        The numbers. What is not known has an empty value and a reason.
    """
    text = io.StringIO()
    sheet = csv.writer(text, lineterminator="\n")
    sheet.writerow(_COLUMNS)
    for *of_what, number in _list_numbers(estimates):
        level = None if number.low is None else number.level
        cells = (number.value, number.low, number.high, level, number.basis, number.reason)
        sheet.writerow([*of_what, *cells])
    return text.getvalue()


def _list_numbers(estimates: Estimates) -> Iterator[tuple[str, str, str, Estimate]]:
    """Yield each number with its name, and the crawl and its date where it is of one."""
    yield "coverage", "", "", estimates.headline.coverage
    for name in ("persistence", "half_life_years", "growth_per_year", "population"):
        yield name, "", "", getattr(estimates, name)
    if (union := estimates.union) is not None:
        yield "all_crawls.n_distinct", "", "", Estimate(value=union.n_distinct)
        for name in ("coverage", "dead_share", "n_unseen"):
            yield f"all_crawls.{name}", "", "", getattr(union, name)
    for crawl, row in zip(estimates.crawls, estimates.per_crawl, strict=True):
        of_crawl = (crawl.label, crawl.date.isoformat())
        yield "n_urls", *of_crawl, Estimate(value=crawl.n_urls)
        yield "coverage", *of_crawl, row.coverage
        yield "population", *of_crawl, row.population
    for name in ("coverage", "persistence", "half_life_years", "r_squared"):
        value = getattr(estimates.paper, name)
        reason = "no line can be drawn" if value is None else None
        yield f"paper.{name}", "", "", Estimate(value=value, reason=reason)


def to_tex(estimates: Estimates) -> str:
    r"""Return a table of the crawls and the archive in LaTeX, for ``\usepackage{booktabs}``.

    Parameters
    ----------
    estimates
        The numbers; how they were made stands above the table as a comment.
    """
    noun, union = things(estimates.level), estimates.union
    rows = [
        [
            *(crawl.label, crawl.date.isoformat(), grouped(crawl.n_urls)),
            *(with_range(row.coverage, percent), with_range(row.population, count)),
        ]
        for crawl, row in zip(estimates.crawls, estimates.per_crawl, strict=True)
    ]
    summary: list[tuple[str, Estimate, Phrase]] = [
        ("Coverage of a typical crawl", estimates.headline.coverage, percent),
        ("Persistence per year", estimates.persistence, percent),
        ("Half-life", estimates.half_life_years, span),
        ("Growth", estimates.growth_per_year, growth_per_year),
    ]
    if union is not None:
        summary.append(("Coverage of all crawls together", union.coverage, percent))
    provenance = estimates.provenance
    return "\n".join(
        [
            f"% crawlgauge {provenance.crawlgauge}; needs \\usepackage{{booktabs}}",
            r"\begin{tabular}{llrrr}",
            r"\toprule",
            _row(["Crawl", "Date", noun, "Coverage", "Population"]),
            r"\midrule",
            *map(_row, rows),
            r"\midrule",
            *(
                rf"\multicolumn{{3}}{{l}}{{{name}}} & "
                rf"\multicolumn{{2}}{{r}}{{{with_range(number, phrase).translate(_TEX)}}} \\"
                for name, number, phrase in summary
            ),
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _row(cells: list[str]) -> str:
    return " & ".join(cell.translate(_TEX) for cell in cells) + r" \\"
