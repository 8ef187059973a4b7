"""Draw the figure of the page on known-alive windows: ``python draw_known_alive.py``."""
# ruff: noqa: INP001 - a script beside its figure, no package

from pathlib import Path
from xml.sax.saxutils import escape

FIGURE = Path(__file__).with_name("known-alive.svg")

# One character for each crawl: 1 where it captured the URL.
HISTORIES = {
    "a.org/": "11010110",
    "b.org/about": "01001101",
    "c.org/2019": "10110000",
    "d.org/maps": "00101011",
    "e.org/x?id=7": "00010000",
    "f.org/new": "00000110",
    "g.org/old": "10001010",
}
NOTES = {
    "c.org/2019": "gone, or missed? Not asked",
    "e.org/x?id=7": "captured once: tells nothing",
    "f.org/new": "nothing in between",
}
SHOWN_CRAWL = 4

# A white card with an edge reads alike on a light and on a dark page. Captures are told from
# misses by their filling, and known from unknown by the bar, so that grey paper will do.
_GROUND, _EDGE, _INK, _FAINT = "#ffffff", "#8c959f", "#1f2328", "#57606a"
_BAR, _COLUMN, _CAPTURED = "#d5dbe2", "#f3e3b3", "#0b3d91"
_FONT = "system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"
_WIDTH, _LEFT, _TOP = 800, 160, 122
_STEP, _ROW, _RADIUS = 50, 36, 9


def draw() -> str:
    """Return the figure: URLs as rows, crawls as columns, and what each crawl's column counts."""
    n_crawls = len(HISTORIES["a.org/"])
    bottom = _TOP + _ROW * len(HISTORIES)
    title = "Captured before and after: there to be captured in between"
    parts = [
        _text(24, 34, title, size=17, weight=600),
        _text(24, 58, "Bars: the URL is known to have been alive, whatever came before or after."),
        _draw_column(bottom),
        *(_text(_x(k), _TOP - 24, str(k + 1), anchor="middle") for k in range(n_crawls)),
        _text(_LEFT - 24, _TOP - 24, "crawl", anchor="end", fill=_FAINT),
        *(_draw_url(row, url, history) for row, (url, history) in enumerate(HISTORIES.items())),
        _draw_counts(n_crawls, bottom),
        _draw_key(bottom + 122),
    ]
    height = bottom + 150
    body = "\n".join(parts)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" \
width="{_WIDTH}" height="{height}" role="img" aria-labelledby="title">
<title id="title">{escape(title)}</title>
<rect x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" rx="6" \
fill="{_GROUND}" stroke="{_EDGE}"/>
<g font-family="{_FONT}">
{body}
</g>
</svg>
"""


def known_alive(history: str) -> range:
    """Return the crawls strictly between the first and the last capture."""
    return range(history.index("1") + 1, history.rindex("1"))


def count(crawl: int) -> tuple[int, int]:
    """Return how many of the URLs known to be alive at a crawl it captured, and how many exist."""
    known = [history[crawl] for history in HISTORIES.values() if crawl in known_alive(history)]
    return known.count("1"), len(known)


def _draw_url(row: int, url: str, history: str) -> str:
    y = _TOP + _ROW * row
    first, last = history.index("1"), history.rindex("1")
    marks = [_text(_LEFT - 24, y + 5, url, anchor="end")]
    if last > first:
        marks.append(
            f'<rect x="{_x(first)}" y="{y - 13}" width="{_x(last) - _x(first)}" height="26" '
            f'fill="{_BAR}"/>'
        )
    marks += [_draw_mark(k, y, mark == "1", first < k < last) for k, mark in enumerate(history)]
    if url in NOTES:
        marks.append(_text(_x(len(history) - 1) + 30, y + 5, NOTES[url], fill=_FAINT))
    return "\n".join(marks)


def _draw_mark(crawl: int, y: float, is_captured: bool, is_known: bool) -> str:
    if is_captured:
        return f'<circle cx="{_x(crawl)}" cy="{y}" r="{_RADIUS}" fill="{_CAPTURED}"/>'
    if is_known:
        return (
            f'<circle cx="{_x(crawl)}" cy="{y}" r="{_RADIUS - 1}" fill="{_GROUND}" '
            f'stroke="{_CAPTURED}" stroke-width="2"/>'
        )
    return _text(_x(crawl), y + 5, "?", anchor="middle", fill=_FAINT)


def _draw_column(bottom: float) -> str:
    return (
        f'<rect x="{_x(SHOWN_CRAWL) - 20}" y="{_TOP - 44}" width="40" '
        f'height="{bottom - _TOP + 98}" fill="{_COLUMN}"/>'
    )


def _draw_counts(n_crawls: int, bottom: float) -> str:
    captured, known = count(SHOWN_CRAWL)
    lines = [
        _text(_LEFT - 24, bottom + 20, "captured", anchor="end", fill=_FAINT),
        _text(_LEFT - 24, bottom + 42, "known alive", anchor="end", fill=_FAINT),
        _text(
            24,
            bottom + 82,
            f"Crawl {SHOWN_CRAWL + 1} captured {captured} of the {known} URLs that were surely "
            f"there: a coverage of {100 * captured / known:.0f} %, if they are like all others.",
        ),
    ]
    for crawl in range(n_crawls):
        counts = count(crawl) if 0 < crawl < n_crawls - 1 else ("–", "–")
        lines += [
            _text(_x(crawl), bottom + 20 + 22 * k, str(number), anchor="middle")
            for k, number in enumerate(counts)
        ]
    return "\n".join(lines)


def _draw_key(y: float) -> str:
    return "\n".join(
        (
            _draw_at(24, y, is_captured=True),
            _text(48, y + 5, "captured", fill=_FAINT),
            _draw_at(140, y, is_captured=False),
            _text(164, y + 5, "missed, though alive", fill=_FAINT),
            _text(330, y + 5, "?", fill=_FAINT),
            _text(350, y + 5, "missed, or not there: nobody knows", fill=_FAINT),
        )
    )


def _draw_at(x: float, y: float, *, is_captured: bool) -> str:
    mark = _draw_mark(0, y, is_captured, is_known=True)
    return f'<g transform="translate({x + _RADIUS - _x(0)} 0)">{mark}</g>'


def _x(crawl: int) -> int:
    return _LEFT + 20 + _STEP * crawl


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    fill: str = _INK,
    size: int = 14,
    weight: int = 400,
) -> str:
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{fill}" font-size="{size}" '
        f'font-weight="{weight}">{escape(text)}</text>'
    )


if __name__ == "__main__":
    FIGURE.write_text(draw(), encoding="utf-8")
