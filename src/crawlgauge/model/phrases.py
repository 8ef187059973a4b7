"""Numbers in words, the same in every sentence and table, and the sentences that they stand in."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from string import Formatter
from typing import Any

from crawlgauge.crawl import DAYS_PER_YEAR

_THINGS = {"url": "URLs", "content": "contents", "text": "texts"}
_UNITS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
_COUNT_DIGITS = 3
_MAX_NAMES = 5
_LEAST_PERCENT = 0.01
_WHOLE_PERCENT = 10
_MOST_DECIMALS = 2
_LEAST_GROWTH = 0.0005
_LEAST_MONTHS = 1.5
_WHOLE_YEARS = 10


def percent(share: float) -> str:
    """Write a share as a percentage that one can say aloud.

    Only 1 itself is "100 %", since just above it a coverage is impossible.

    Examples
    --------
    >>> [percent(share) for share in (0.4623, 0.046, 0.004, 1.2351, 0.9968, 1.0, 0.00001, 0.0)]
    ['46 %', '4.6 %', '0.4 %', '124 %', '99.7 %', '100 %', 'less than 0.01 %', '0 %']
    """
    value = 100 * share
    if value == 0:
        return "0 %"
    if value < _LEAST_PERCENT:
        return f"less than {_LEAST_PERCENT} %"
    return f"{_percent_number(value, 0)} %"


def percent_range(share: float, low: float, high: float) -> str:
    """Write a share with its range, with as many digits as the width of the range asks for.

    Parameters
    ----------
    share
        The estimate.
    low, high
        Ends of its range.

    Examples
    --------
    >>> percent_range(0.462, 0.448, 0.476)
    '46 % (45–48 %)'
    >>> percent_range(0.462, 0.4601, 0.4639)
    '46.2 % (46.0–46.4 %)'
    >>> percent_range(0.4623, 0.46229, 0.46231)
    '46.23 % (to within 0.01 %)'
    """
    value, ends = percent_with_ends(share, low, high)
    return f"{value} ({ends})"


def percent_with_ends(share: float, low: float, high: float) -> tuple[str, str]:
    """Write a share, and beside it the ends of its range."""
    # One digit of the half-width: ends that lie 0.2 to either side are written to the tenth.
    half_width = max(50 * (high - low), 1e-99)
    decimals = max(0, -math.floor(math.log10(half_width)))
    most = max(_MOST_DECIMALS, _percent_decimals(100 * share) + 1)
    if decimals > most:
        return f"{_percent_number(100 * share, most)} %", f"to within {10.0**-most:.{most}f} %"
    value, start, end = (_percent_number(100 * number, decimals) for number in (share, low, high))
    return f"{value} %", f"{start}–{end} %"


def per_year(share: float) -> str:
    """Write a persistence.

    Examples
    --------
    >>> per_year(0.731)
    '73 % a year'
    """
    return f"{percent(share)} a year"


def growth_per_year(growth: float) -> str:
    """Write a relative growth with its sign.

    Examples
    --------
    >>> [growth_per_year(growth) for growth in (0.03, -0.123, 0.0001)]
    ['+3 % a year', '−12 % a year', '0 % a year']
    """
    if abs(growth) < _LEAST_GROWTH:
        return per_year(0)
    return f"{'+' if growth > 0 else '−'}{per_year(abs(growth))}"


def span(years: float) -> str:
    """Write a time: years, months below one year, days below a month and a half.

    Examples
    --------
    >>> [span(years) for years in (2.203, 1.0, 13.4, 0.58, 0.1, 1 / 365.25)]
    ['2.2 years', '1 year', '13 years', '7 months', '37 days', '1 day']
    """
    months = 12 * years
    if months < _LEAST_MONTHS:
        return _plural(f"{years * DAYS_PER_YEAR:.0f}", "day")
    if years < 1:
        return _plural(f"{months:.0f}", "month")
    return _plural(f"{years:,.0f}" if years >= _WHOLE_YEARS else _trim(f"{years:.1f}"), "year")


def count(number: float) -> str:
    """Write a count in three digits.

    Examples
    --------
    >>> [count(number) for number in (217_345_678, 1.2e9, 94_000, 94_321, 999_999, 42, 1.4)]
    ['217 million', '1.2 billion', '94,000', '94,300', '1 million', '42', '1']
    """
    if number < 1:
        return "0" if number == 0 else "less than 1"
    digits = math.floor(math.log10(number)) + 1
    rounded = round(number, min(0, _COUNT_DIGITS - digits))
    for size, name in _UNITS:
        if rounded >= size:
            return f"{_trim(f'{rounded / size:,.2f}')} {name}"
    return f"{rounded:,.0f}"


def things(level: str) -> str:
    """Name what is counted at a level of comparison.

    Examples
    --------
    >>> things("url")
    'URLs'
    """
    return _THINGS[level]


def names(labels: Sequence[str]) -> str:
    """List labels in a sentence, the first few of them if they are many.

    Examples
    --------
    >>> names(["a"]), names(["a", "b", "c"]), names(list("abcdefgh"))
    ('a', 'a, b and c', 'a, b, c, d, e and 3 more')
    """
    shown = list(labels[:_MAX_NAMES])
    if len(labels) > _MAX_NAMES:
        shown.append(f"{len(labels) - _MAX_NAMES} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _percent_number(value: float, decimals: int) -> str:
    """Write a percentage with at least so many decimals."""
    own = _percent_decimals(value)
    if own <= decimals:
        return f"{value:,.{decimals}f}"
    text = f"{value:,.{own}f}"
    return _trim(text) if decimals == 0 and value < _WHOLE_PERCENT else text


def _percent_decimals(value: float) -> int:
    """Return the decimals of a percentage that stands alone."""
    if value <= 0:
        return 0
    if value < _WHOLE_PERCENT:
        return 1 - math.floor(math.log10(value))
    near_full = round(value) == 100 and not math.isclose(value, 100)  # noqa: PLR2004 - 100 %
    return 1 if near_full else 0


def _trim(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _plural(number: str, unit: str) -> str:
    return f"{number} {unit}" if number == "1" else f"{number} {unit}s"


# ---------------------------------------------------- sentences, which stand in files beside this


def say(code: str, **values: object) -> str:
    """Return a sentence with what its braces stand for.

    Parameters
    ----------
    code
        Its section and name in ``sentences.toml`` or ``checks.toml``.
    values
        By the names in the braces; ``{share:percent}`` is written as `percent` does.

    Examples
    --------
    >>> say("lack-of-fit.good", effect=0.011)
    'Overlaps miss the model by about 1.1 %, beyond the noise of counting: a good fit.'
    """
    section, _, name = code.partition(".")
    return _WRITER.format(_load_sentences()[section][name], **values)


def load_texts(file: str) -> Mapping[str, Mapping[str, str]]:
    """Return the texts of a file by their sections and names, each on one line."""
    import tomllib
    from importlib import resources

    text = resources.files("crawlgauge").joinpath("model", file).read_text("utf-8")
    return {
        section: {name: " ".join(of_name.split()) for name, of_name in texts.items()}
        for section, texts in tomllib.loads(text).items()
    }


@cache
def _load_sentences() -> Mapping[str, Mapping[str, str]]:
    return {**load_texts("sentences.toml"), **load_texts("checks.toml")}


_WAYS: dict[str, Callable[[Any], str]] = {
    way.__name__: way for way in (percent, per_year, growth_per_year, span, count, things, names)
}
# Of an estimate, which has all three.
_WAYS["percent_range"] = lambda share: percent_range(share.value, share.low, share.high)


class _Writer(Formatter):
    def format_field(self, value: object, format_spec: str) -> str:
        way = _WAYS.get(format_spec)
        return format(value, format_spec) if way is None else way(value)


_WRITER = _Writer()
