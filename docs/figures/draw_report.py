"""Draw the top of the demo's report as a picture: ``python draw_report.py``.

It needs Chromium and Playwright, which ``pip install --group browser`` brings.
"""
# ruff: noqa: INP001 - a script beside its figure, no package

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from crawlgauge.cli.demo import run_demo, write_demo_report

FIGURE = Path(__file__).with_name("report.png")

_WIDTH, _HEIGHT = 960, 800


def draw(report: Path) -> bytes:
    """Return a picture of a report's answer and first charts, side by side."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = chromium.new_page(
            viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light"
        )
        page.goto(report.resolve().as_uri())
        page.wait_for_selector("html[data-charts=drawn]", state="attached")
        # Everything between the answer and the charts is left out, as in a brochure.
        page.evaluate(
            """() => {
                for (const part of document.querySelectorAll("main > *")) {
                    if (!["answer", "time"].includes(part.id)) part.remove();
                }
                for (const part of document.querySelectorAll(
                    "header, footer, #time > *:not(.figures), #time details, .rests"
                )) part.remove();
                document.getElementById("answer").style.paddingTop = "2rem";
                document.getElementById("answer").style.marginBottom = "0.5rem";
                document.getElementById("time").style.marginBottom = "1rem";
            }"""
        )
        picture: bytes = page.screenshot(full_page=True)
        chromium.close()
    return picture


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "demo"
        _, fit = run_demo(place)
        FIGURE.write_bytes(draw(write_demo_report(place, fit)))
