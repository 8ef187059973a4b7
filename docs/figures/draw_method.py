"""Draw the figures of the method page from simulated archives: ``python draw_method.py``."""
# ruff: noqa: INP001 - a script beside its figures, no package

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

import crawlgauge as cg
from crawlgauge.model.estimates import Estimates
from crawlgauge.simulate.urn_settings import Course, DatePlan, UrnSettings

FOLDER = Path(__file__).parent

_SEED = 1
# So many URLs that chance is smaller than a mark.
_POPULATION = 10_000_000
_N_CRAWLS, _YEARS_APART = 12, 0.5
_COVERAGE, _PERSISTENCE = 0.4, 0.73
_GROWTHS = (-0.2, -0.15, -0.1, -0.05, 0.0, 0.05, 0.1, 0.15, 0.2)
_UNEVEN = (
    ("pure", "even capture"),
    ("capture-gamma-mild", "uneven capture, CV 0.3"),
    ("capture-gamma-strong", "uneven capture, CV 0.7"),
    ("core-periphery", "core and periphery"),
    ("survival-mix", "even, but mixed lifetimes"),
)

# A white card with an edge reads alike on a light and on a dark page. The two colours differ in
# lightness, and their marks in shape, so that grey paper will do.
_GROUND, _EDGE, _GRID, _INK, _FAINT = "#ffffff", "#8c959f", "#dfe3e8", "#1f2328", "#57606a"
_PAPER, _TWO_WAY = "#c75000", "#0b3d91"
_FONT = "system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"
_RADIUS = 4.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One direction of a panel: where its numbers lie, and which of them are written."""

    pixels: tuple[float, float]
    numbers: tuple[float, float]
    ticks: tuple[float, ...]
    form: Callable[[float], str] = "{:g}".format

    def place(self, number: float) -> float:
        """Return the pixel of a number."""
        (start, end), (low, high) = self.pixels, self.numbers
        return start + (number - low) / (high - low) * (end - start)


def draw_starts() -> str:
    """Return the coverage of each start's line, and of each crawl by the two-way model."""
    table = cg.simulate_table("survival-mix", population=_POPULATION, seed=_SEED)
    estimates, truth = cg.estimate(table).estimates, table.truth
    x = Axis(pixels=(80, 500), numbers=(0.5, 12.5), ticks=tuple(range(1, 13)))
    y = Axis(pixels=(350, 90), numbers=(0.75, 1.05), ticks=(0.8, 0.9, 1.0), form="{:.1f}".format)
    starts = _divide((fit.coverage for fit in estimates.paper.per_start), truth.coverage)
    crawls = _divide((crawl.coverage.value for crawl in estimates.per_crawl), truth.coverage)
    return _card(
        (720, 410),
        "Later starts have higher intercepts, at constant coverage",
        "Mixed lifetimes: half of the URLs persist by 0.90 a year, half by 0.45",
        _frame(x, y, "number of the crawl, half a year apart", "estimated ÷ true coverage"),
        _rule(x, y, 1.0, "truth"),
        _curve(x, y, starts, _PAPER, _circle),
        _curve(x, y, crawls, _TWO_WAY, _square),
        _note(512, y.place(0.985), _PAPER, "the paper's line from", "this crawl on"),
        _note(512, y.place(crawls[-1][1]), _TWO_WAY, "two-way model:", "this crawl's coverage"),
    )


def draw_uneven() -> str:
    """Return, for archives of even and uneven capture, the error and the residuals."""
    error = Axis(pixels=(210, 465), numbers=(0.4, 3.0), ticks=(0.5, 1, 1.5, 2, 2.5, 3))
    log_r = Axis(
        pixels=(510, 695), numbers=(-0.2, 0.2), ticks=(-0.2, -0.1, 0, 0.1, 0.2), form=_signed
    )
    rows = Axis(pixels=(130, 330), numbers=(0, len(_UNEVEN) - 1), ticks=())
    return _card(
        (800, 425),
        "Uneven capture raises the estimate, and residuals stay at noise",
        "12 half-yearly crawls of a population of 200,000; a tick for each of the 66 pairs",
        _columns(error, rows, "estimated ÷ true coverage"),
        _columns(log_r, rows, "residual, as a logarithm"),
        _text(746, 104, "R²", anchor="middle"),
        _line(error.place(1), 112, error.place(1), 348, _INK, 1.5),
        _text(error.place(1), 104, "truth", anchor="middle", fill=_FAINT),
        *(
            _uneven_row(error, log_r, rows.place(k), scenario, name)
            for k, (scenario, name) in enumerate(_UNEVEN)
        ),
    )


def draw_growth() -> str:
    """Return the persistence that both models find in populations that grow or shrink."""
    fits = [(100 * growth, _estimate_growing(growth)) for growth in _GROWTHS]
    x = Axis(pixels=(80, 500), numbers=(-22, 22), ticks=(-20, -10, 0, 10, 20), form=_signed)
    y = Axis(pixels=(350, 90), numbers=(0.64, 0.84), ticks=(0.65, 0.7, 0.75, 0.8))
    line = [(growth, float(fit.paper.persistence or math.nan)) for growth, fit in fits]
    two_way = [(growth, float(fit.persistence.value or math.nan)) for growth, fit in fits]
    return _card(
        (720, 410),
        "Growth tilts the paper's line, not the two-way persistence",
        "Crawls of constant size, true persistence 0.73 a year",
        _frame(x, y, "growth of the population, % a year", "estimated persistence, share a year"),
        _curve(x, y, line, _PAPER, _circle),
        _curve(x, y, two_way, _TWO_WAY, _square),
        _note(512, y.place(line[-1][1]), _PAPER, "the paper's line"),
        _note(512, y.place(two_way[-1][1]), _TWO_WAY, "two-way model:", "on the truth, 0.73"),
    )


def _estimate_growing(growth: float) -> Estimates:
    middle = (_N_CRAWLS - 1) * _YEARS_APART / 2
    settings = UrnSettings(
        dates=DatePlan(n_crawls=_N_CRAWLS),
        persistence=_PERSISTENCE,
        population=Course(first=_POPULATION * (1 + growth) ** -middle, growth_per_year=growth),
        coverage=Course(
            first=_COVERAGE * (1 + growth) ** middle, growth_per_year=1 / (1 + growth) - 1
        ),
    )
    return cg.estimate(cg.simulate_table(settings, seed=_SEED)).estimates


def _divide(values: Iterable[float | None], truth: float) -> list[tuple[float, float]]:
    return [(k, value / truth) for k, value in enumerate(values, 1) if value is not None]


def _uneven_row(error: Axis, log_r: Axis, y: float, scenario: str, name: str) -> str:
    table = cg.simulate_table(scenario, seed=_SEED)
    estimates = cg.estimate(table).estimates
    ratio = float(estimates.headline.coverage.value or math.nan) / table.truth.coverage
    residuals = np.array([pair.log_r_two_way for pair in estimates.residuals], dtype=float)
    x = error.place(ratio)
    return "\n".join(
        (
            _text(204, y + 5, name, anchor="end"),
            _line(error.place(1), y, x, y, _TWO_WAY, 3),
            _square(x, y, _TWO_WAY),
            _text(max(x, error.place(1)) + 10, y + 5, f"{ratio:.2f}"),
            *(
                _line(log_r.place(r), y - 9, log_r.place(r), y + 9, _TWO_WAY, 1, 0.55)
                for r in residuals
            ),
            _text(746, y + 5, f"{estimates.paper.r_squared:.4f}", anchor="middle"),
        )
    )


def _card(size: tuple[int, int], title: str, subtitle: str, *parts: str) -> str:
    width, height = size
    body = "\n".join(parts)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" \
width="{width}" height="{height}" role="img" aria-labelledby="title">
<title id="title">{escape(title)}</title>
<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6" \
fill="{_GROUND}" stroke="{_EDGE}"/>
<g font-family="{_FONT}" font-size="14">
<text x="24" y="34" font-size="17" font-weight="600" fill="{_INK}">{escape(title)}</text>
{_text(24, 57, subtitle, fill=_FAINT)}
{body}
</g>
</svg>
"""


def _frame(x: Axis, y: Axis, x_label: str, y_label: str) -> str:
    (left, right), (bottom, top) = x.pixels, y.pixels
    middle = (bottom + top) / 2
    return "\n".join(
        (
            *(_line(left, y.place(tick), right, y.place(tick), _GRID, 1) for tick in y.ticks),
            *(
                _text(left - 8, y.place(tick) + 5, y.form(tick), anchor="end", fill=_FAINT)
                for tick in y.ticks
            ),
            _line(left, bottom, right, bottom, _INK, 1),
            *(
                _text(x.place(tick), bottom + 20, x.form(tick), anchor="middle", fill=_FAINT)
                for tick in x.ticks
            ),
            _text((left + right) / 2, bottom + 44, x_label, anchor="middle"),
            f'<g transform="rotate(-90 32 {middle:g})">'
            + _text(32, middle, y_label, anchor="middle")
            + "</g>",
        )
    )


def _columns(x: Axis, rows: Axis, label: str) -> str:
    top, bottom = rows.pixels[0] - 18, rows.pixels[1] + 18
    return "\n".join(
        (
            *(_line(x.place(tick), top, x.place(tick), bottom, _GRID, 1) for tick in x.ticks),
            *(
                _text(x.place(tick), bottom + 20, x.form(tick), anchor="middle", fill=_FAINT)
                for tick in x.ticks
            ),
            _text(sum(x.pixels) / 2, bottom + 46, label, anchor="middle"),
        )
    )


def _rule(x: Axis, y: Axis, level: float, name: str) -> str:
    at = y.place(level)
    return _line(*(x.pixels[0], at, x.pixels[1], at), _INK, 1.5) + _text(
        x.pixels[0] + 6, at - 7, name, fill=_FAINT
    )


def _curve(
    x: Axis,
    y: Axis,
    points: list[tuple[float, float]],
    colour: str,
    mark: Callable[[float, float, str], str],
) -> str:
    placed = [(x.place(a), y.place(b)) for a, b in points]
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in placed)
    line = f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
    return "\n".join((line, *(mark(a, b, colour) for a, b in placed)))


def _note(x: float, y: float, colour: str, *lines: str) -> str:
    return "\n".join(_text(x, y + 5 + 18 * k, line, fill=colour) for k, line in enumerate(lines))


def _circle(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="{colour}"/>'


def _square(x: float, y: float, colour: str) -> str:
    return (
        f'<rect x="{x - _RADIUS:.1f}" y="{y - _RADIUS:.1f}" width="{2 * _RADIUS}" '
        f'height="{2 * _RADIUS}" fill="{_GROUND}" stroke="{colour}" stroke-width="2"/>'
    )


def _line(
    x1: float, y1: float, x2: float, y2: float, colour: str, width: float, opacity: float = 1
) -> str:
    faint = "" if opacity == 1 else f' stroke-opacity="{opacity}"'
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="{colour}" stroke-width="{width}"{faint}/>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", fill: str = _INK) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}">{escape(text)}</text>'
    )


def _signed(number: float) -> str:
    return f"{number:+g}".replace("-", "−") if number else "0"


if __name__ == "__main__":
    for name, draw in (
        ("per-start-intercepts", draw_starts),
        ("uneven-capture", draw_uneven),
        ("growth-and-persistence", draw_growth),
    ):
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")
