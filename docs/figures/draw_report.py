"""Draw the first screen of the demo's report as a picture: ``python draw_report.py``.

It needs Chromium and Playwright, which ``pip install --group browser`` brings.
"""
# ruff: noqa: INP001 - a script beside its figure, no package

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import crawlgauge as cg
from crawlgauge.cli.demo import run_demo

FIGURE = Path(__file__).with_name("report.png")

_WIDTH, _HEIGHT = 1280, 720


def draw(report: Path) -> bytes:
    """Return a picture of a report's first screen."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = chromium.new_page(
            viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light"
        )
        page.goto(report.resolve().as_uri())
        page.wait_for_selector("html[data-charts=drawn]", state="attached")
        picture: bytes = page.screenshot()
        chromium.close()
    return picture


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "demo"
        _, fit = run_demo(place)
        hosts = cg.estimate_strata(place / "store", by="host")
        written = cg.write_report(
            fit, place / "report.html", [hosts], title="University web archive"
        )
        FIGURE.write_bytes(draw(written.path))
