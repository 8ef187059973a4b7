"""Figures of the study of crawler bias, as SVG without any library."""

import math
import statistics
from html import escape
from typing import Any

SHOWN = ("paper-forward", "two-way")
COLOURS = ("#0072b2", "#e69f00", "#009e73")
ROW_HEIGHT, PANEL_WIDTH, LABEL_WIDTH, MARGIN, HEAD = 44, 300, 190, 20, 64
TICKS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
LOW, HIGH = math.log(0.2), math.log(4.5)
DARK, GREY, LIGHT = "#222222", "#666666", "#dddddd"


def draw_ratios(cells: list[dict[str, Any]], quantity: str) -> str:
    """Draw estimate divided by truth for each policy and budget, a panel for each estimator."""
    policies = list(dict.fromkeys(cell["policy"] for cell in cells))
    budgets = sorted({cell["budget"] for cell in cells})
    bottom = HEAD + ROW_HEIGHT * len(policies)
    width = LABEL_WIDTH + (PANEL_WIDTH + MARGIN) * len(SHOWN)
    parts = [_budget_key(budgets)]
    for row, policy in enumerate(policies):
        middle = HEAD + ROW_HEIGHT * (row + 0.5)
        parts.append(_text(LABEL_WIDTH - 12, middle + 4, policy, "end"))
    for panel, estimator in enumerate(SHOWN):
        left = LABEL_WIDTH + panel * (PANEL_WIDTH + MARGIN)
        title = f"{estimator}: estimated ÷ true {quantity}"
        parts.append(_text(left + PANEL_WIDTH / 2, HEAD - 12, title, "middle"))
        parts += _ratio_axis(left, bottom)
        for cell in cells:
            ratios = cell["estimators"].get(estimator, {}).get(quantity, [])
            number = budgets.index(cell["budget"])
            height = HEAD + ROW_HEIGHT * policies.index(cell["policy"]) + 11 * (number + 1)
            parts += _mark_ratios(left, height, ratios, COLOURS[number % len(COLOURS)])
    description = f"Estimated divided by true {quantity} for each crawler policy and budget."
    return _svg(width, bottom + 36, description, parts)


def draw_repeats(records: list[dict[str, Any]], estimator: str) -> str:
    """Draw estimated coverage against the overlap of each crawl with its own repeat."""
    budgets = sorted({record["budget"] for record in records})
    side, left, top = 400, 60, 44
    parts = [_budget_key(budgets)]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        x, y = left + side * tick, top + side * (1 - tick)
        parts += [_line(x, top, x, top + side, LIGHT), _line(left, y, left + side, y, LIGHT)]
        parts += [
            _text(x, top + side + 16, f"{tick:g}", "middle"),
            _text(left - 6, y + 4, f"{tick:g}", "end"),
        ]
    parts.append(_line(left, top + side, left + side, top, GREY))
    for record in records:
        row = record["estimators"].get(estimator)
        if row is None or row["coverage"] is None:
            continue
        x = left + side * record["repeat_overlap"]
        y = top + side * (1 - min(row["coverage"], 1.0))
        colour = COLOURS[budgets.index(record["budget"]) % len(COLOURS)]
        shape = "adaptive" if record["policy"] in {"adaptive", "longest-unseen"} else "plain"
        parts.append(_cross(x, y, colour) if shape == "adaptive" else _dot(x, y, colour))
    parts.append(
        _text(
            left + side / 2, top + side + 36, "overlap with a repeat at the same moment", "middle"
        )
    )
    parts.append(
        f'<g transform="rotate(-90 16 {top + side / 2})">'
        + _text(16, top + side / 2, f"coverage as estimated ({estimator})", "middle")
        + "</g>"
    )
    description = (
        "Estimated coverage against the overlap of a crawl with its own repeat; crosses are the "
        "policies that remember earlier crawls."
    )
    return _svg(left + side + MARGIN, top + side + 48, description, parts)


def _ratio_axis(left: float, bottom: float) -> list[str]:
    parts = []
    for tick in TICKS:
        x = left + _place(tick)
        parts.append(_line(x, HEAD, x, bottom, DARK if tick == 1 else LIGHT))
        parts.append(_text(x, bottom + 18, f"{tick:g}", "middle"))
    return parts


def _mark_ratios(left: float, height: float, ratios: list[float], colour: str) -> list[str]:
    if not ratios:
        return [_text(left + 4, height + 4, "no estimate", "start", colour)]
    low, high = (left + _place(end) for end in (min(ratios), max(ratios)))
    return [
        _line(low, height, high, height, colour, 3),
        _dot(left + _place(statistics.fmean(ratios)), height, colour),
    ]


def _place(ratio: float) -> float:
    log = min(max(math.log(ratio), LOW), HIGH)
    return PANEL_WIDTH * (log - LOW) / (HIGH - LOW)


def _budget_key(budgets: list[float]) -> str:
    parts = [_text(MARGIN, 20, "budget, as a share of the population:", "start")]
    for number, budget in enumerate(budgets):
        x = 290 + 70 * number
        colour = COLOURS[number % len(COLOURS)]
        parts += [_dot(x, 16, colour), _text(x + 10, 20, f"{budget:.0%}", "start")]
    return "".join(parts)


def _dot(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'


def _cross(x: float, y: float, colour: str) -> str:
    return _line(x - 4, y - 4, x + 4, y + 4, colour, 2) + _line(
        x - 4, y + 4, x + 4, y - 4, colour, 2
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="{colour}" stroke-width="{width}"/>'
    )


def _text(x: float, y: float, text: str, anchor: str, colour: str = DARK) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}">{escape(text)}</text>'


def _svg(width: float, height: float, description: str, parts: list[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" font-family="sans-serif" '
        f'font-size="12">\n<title>{escape(description)}</title>\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )
