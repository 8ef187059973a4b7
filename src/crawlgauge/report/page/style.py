"""The look of the page: its style sheet, and charts that turn dark with it."""

from importlib import resources
from typing import Any

from crawlgauge.report.charts.theme import themed

__all__ = ["make_style", "read_asset"]

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
