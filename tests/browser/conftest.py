"""Reports opened in Chromium, with everything written down that a page should not do."""

from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path

import pytest

import crawlgauge as cg
from crawlgauge.crawl import Crawl
from crawlgauge.provenance import Provenance
from crawlgauge.report.charts.chart import Chart
from crawlgauge.report.charts.figures import try_charts
from crawlgauge.report.page.document import render_page
from crawlgauge.simulate.fitted_urn import find_panels


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            # One browser and one report for all.
            item.add_marker(pytest.mark.xdist_group("browser"))


@dataclass(frozen=True)
class Report:
    """A report on the disk, and what it was made from."""

    path: Path
    estimates: cg.model.estimates.Estimates
    charts: tuple[Chart, ...]

    @property
    def document(self):
        return cg.Fit(table=None, estimates=self.estimates).to_dict()

    def chart(self, name):
        (found,) = [chart for chart in self.charts if chart.name == name]
        return found


def write_report(folder, estimates):
    charts = try_charts(estimates, find_panels(estimates))
    path = folder / "report.html"
    path.write_text(render_page(estimates, charts, title="An archive"), encoding="utf-8")
    drawn = tuple(chart for chart in charts if isinstance(chart, Chart))
    return Report(path=path, estimates=estimates, charts=drawn)


@pytest.fixture(scope="session")
def table():
    """Seven crawls with capture histories: every section of the page has something to say."""
    return cg.simulate_table(n_crawls=7, population=20_000, seed=4, with_histories=True)


@pytest.fixture(scope="session")
def estimates(table):
    return cg.estimate(table).estimates


@pytest.fixture(scope="session")
def report(tmp_path_factory, estimates):
    return write_report(tmp_path_factory.mktemp("report"), estimates)


@pytest.fixture(scope="session")
def browser(chromium):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@dataclass(frozen=True)
class Opened:
    """A page in the browser, what it complained of, and what it asked the network for."""

    page: object
    complaints: list[str]
    requests: list[str]

    def count(self, selector):
        return self.page.locator(selector).count()


@pytest.fixture
def open_page(browser):
    """Give a function that opens a report in a window of its own."""
    contexts = []

    def open_page(path, *, width=1280, has_scripts=True, unfolded=True, **options):
        context = browser.new_context(
            viewport={"width": width, "height": 800}, java_script_enabled=has_scripts, **options
        )
        contexts.append(context)
        context.set_default_timeout(120_000)
        page = context.new_page()
        opened = Opened(page=page, complaints=[], requests=[])
        page.on("console", lambda message: note(opened, message))
        page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        page.on("dialog", lambda dialog: opened.complaints.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: opened.requests.append(request.url))
        page.goto(path.as_uri())
        if has_scripts:
            page.wait_for_selector("html[data-charts=drawn]", state="attached")
            if unfolded:
                page.locator("details.part").evaluate_all(
                    "all => all.forEach((one) => one.open = true)"
                )
        return opened

    yield open_page
    for context in contexts:
        context.close()


def note(opened, message):
    if message.type == "error" or "stays a picture" in message.text:
        opened.complaints.append(message.text)


@pytest.fixture
def opened(open_page, report):
    """The report in a window of usual width."""
    return open_page(report.path)


def rename(value, names):
    """Give crawls other labels wherever they occur, also such as no crawl may have."""
    if isinstance(value, Crawl):
        return replace(value, label=names.get(value.label, value.label))
    if isinstance(value, Provenance):
        return value
    if is_dataclass(value):
        return replace(
            value, **{f.name: rename(getattr(value, f.name), names) for f in fields(value)}
        )
    if isinstance(value, tuple):
        return tuple(rename(part, names) for part in value)
    if isinstance(value, str):
        return names.get(value, value)
    return value


@pytest.fixture
def write_renamed(tmp_path, estimates, monkeypatch):
    """Give a function that writes a report whose crawls and inputs have other names."""
    # No crawl can have such a label, but the page must not rely on that.
    monkeypatch.setattr("crawlgauge.crawl.check_label", lambda label: label)

    def write(labels, provenance):
        own = [crawl.label for crawl in estimates.crawls]
        names = dict(zip(own, [*labels, *own[len(labels) :]], strict=True))
        renamed = rename(estimates, names)
        return write_report(tmp_path, replace(renamed, provenance=provenance))

    return write
