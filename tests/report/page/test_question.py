"""Further questions in the page: what stands on a terminal stands there, too."""

import re
from dataclasses import replace

import numpy as np
import pytest

import crawlgauge as cg
from crawlgauge.report.blocks import Column, Grid, Paragraph, Section, Trend
from crawlgauge.report.page.document import render_page

GRID = Grid(
    columns=(Column(header="host"), Column(header="missing", align="right")),
    rows=(("a.org", "1.2 million (1–2 million)"), ("b.org", "–"), ("c.org", "−3,400")),
    values=((None, 1.2e6), (None, None), (None, -3400.0)),
)
TREND = Trend(name="coverage", values=(0.1, 0.2), text="from 10 to 20 %")


@pytest.fixture(scope="module")
def table():
    return cg.simulate_table(n_crawls=6, population=5_000, seed=3)


@pytest.fixture(scope="module")
def fit(table):
    return cg.estimate(table)


def section(*blocks):
    return Section(name="hosts", title="Which hosts?", blocks=blocks)


@pytest.fixture
def show(full):
    """Give a function that returns what the page shows of a section, between its tags."""

    def show(*blocks):
        page = render_page(full, (), [section(*blocks)])
        return page[page.index('id="hosts"') :].partition('<details class="part"')[0]

    return show


def test_an_answer_at_the_beginning_stands_beside_the_title_and_nowhere_else(show):
    shown = show([Paragraph(text="One.", role="answer"), Paragraph(text="Two.")])
    assert shown.count("One.") == 1
    assert shown.index("One.") < shown.index("</summary>") < shown.index("Two.")


def test_bullets_become_one_list_and_marks_that_say_something_stay(show):
    bullets = [Paragraph(text=text, first="• ", rest="  ") for text in ("One.", "Two.")]
    note = Paragraph(text="2013: unknown", first="– ", role="note")
    shown = show([Paragraph(text="Careful:", role="heading"), *bullets, note])
    assert "<h3>Careful</h3>" in shown
    assert "<ul><li>One.</li>" in shown
    assert shown.count("<ul>") == shown.count("</ul>") == 1
    assert "– 2013: unknown" in shown


def test_a_table_is_named_by_the_heading_above_it_and_sorted_by_its_numbers(show):
    shown = show([GRID], [Paragraph(text="By host:", role="heading"), GRID])
    assert re.findall(r"<caption[^>]*>([^<]+)<", shown) == ["Which hosts?", "By host"]
    assert re.findall(r'<table data-name="([^"]+)"', shown) == ["hosts", "hosts-2"]
    assert re.findall(r'data-value="([^"]+)"', shown)[:2] == ["1200000.0", "-3400.0"]


def test_of_crawls_the_newest_stands_first_and_only_long_tables_scroll(show):
    columns = (Column(header="crawl", is_crawl=True),)
    short = Grid(columns=columns, rows=tuple((f"c{k:02}",) for k in range(50)))
    shown = show([short])
    assert shown.index("c49") < shown.index("c00")
    assert 'class="table long"' not in shown
    many = Grid(columns=columns, rows=tuple((f"c{k:02}",) for k in range(51)))
    assert 'class="table long"' in show([many])


def test_small_pictures_for_terminals_are_left_out(show):
    assert "from 10 to 20" not in show([TREND, Paragraph(text="One.")])


def test_every_report_checks_the_newest_crawl_follows_the_urls_and_plans(fit):
    page = fit.to_html()
    for name in ("newest-check", "history", "plan"):
        assert f'href="#{name}"' in page
        assert f'<details class="part" id="{name}"' in page
    assert 'data-name="turnover"' in page


@pytest.mark.parametrize("n_crawls", [2, 3])
def test_short_series_have_a_report_that_says_what_is_not_known(n_crawls):
    page = cg.estimate(cg.simulate_table(n_crawls=n_crawls, seed=1)).to_html()
    assert "too early to tell" in page
    for name in ("history", "plan"):
        assert f'<details class="part" id="{name}"' in page


def test_a_drop_that_the_check_finds_stands_at_the_top_too(table):
    halves = [*(crawl.n_urls for crawl in table.crawls[:-1]), table.crawls[-1].n_urls // 2]
    scale = np.array(halves) / [crawl.n_urls for crawl in table.crawls]
    shared = np.round(table.n_shared * np.outer(scale, scale)).astype(np.int64)
    np.fill_diagonal(shared, halves)
    crawls = [replace(c, n_urls=n) for c, n in zip(table.crawls, halves, strict=True)]
    halved = replace(table, crawls=tuple(crawls), n_shared=shared, histories=None)
    page = cg.estimate(halved).to_html()
    facts = page[page.index('<dl class="facts"') : page.index('<details class="part"')]
    assert "drop</span>" in facts
    assert "The crawl shrank" in facts
    assert "Find out what happened to" in facts


def test_shares_are_written_in_one_way_only(fit):
    shown = re.sub(r"<[^>]+>", " ", fit.to_html().partition("<main>")[2].partition("</main>")[0])
    assert "%" in shown
    assert not re.search(r"\d%", shown)


def test_answers_to_further_questions_become_sections(fit, tmp_path):
    class Asked:
        def section(self):
            return section([Paragraph(text="<b>None</b> & all.")])

    written = cg.write_report(fit, tmp_path / "report.html", [Asked()])
    page = written.path.read_text(encoding="utf-8")
    assert "&lt;b&gt;None&lt;/b&gt; &amp; all." in page
    assert page.index('id="history"') < page.index('id="hosts"')


def test_what_was_asked_stands_in_place_of_what_every_report_has(fit, table, tmp_path):
    asked = [
        cg.plan(fit, target=0.77),
        cg.check_newest(fit, threshold=0.5),
        cg.history(table),
    ]
    page = cg.write_report(fit, tmp_path / "report.html", asked).path.read_text(encoding="utf-8")
    assert "77 %" in page or "0.77" in page
    for name in ("plan", "newest-check", "history"):
        assert page.count(f'<details class="part" id="{name}"') == 1


def test_two_answers_to_one_question_are_refused(fit, table, tmp_path):
    with pytest.raises(cg.CrawlgaugeError, match="same question, history; a report shows one"):
        cg.write_report(fit, tmp_path / "report.html", [cg.history(table), cg.history(table)])
    assert not (tmp_path / "report.html").exists()


def test_a_heading_that_repeats_the_title_is_left_out(show):
    heading = Paragraph(text="Which hosts?:", role="heading")
    assert "<h3>" not in show([heading, Paragraph(text="One.")])


class Asked:
    """Something that was asked further."""

    def section(self):
        return section([GRID], [GRID])


def test_no_id_occurs_twice(fit, tmp_path):
    cg.write_report(fit, tmp_path / "report.html", [Asked()])
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
