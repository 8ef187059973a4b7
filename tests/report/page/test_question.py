"""Further questions in the page: what stands on a terminal stands there, too."""

import re
from dataclasses import replace

import numpy as np
import pytest

import crawlgauge as cg
from crawlgauge.report.blocks import Column, Grid, Paragraph, Trend
from crawlgauge.report.page.document import make_question
from crawlgauge.report.section import Section

GRID = Grid(
    columns=(Column(header="host"), Column(header="missing", align="right")),
    rows=(("a.org", "1.2 million (1–2 million)"), ("b.org", "–"), ("c.org", "−3,400")),
)


@pytest.fixture(scope="module")
def table():
    return cg.simulate_table(n_crawls=6, population=5_000, seed=3)


@pytest.fixture(scope="module")
def fit(table):
    return cg.estimate(table)


def section(*blocks):
    return Section(name="hosts", title="Which hosts?", blocks=blocks)


def test_the_first_block_stands_before_the_figures_and_the_rest_behind():
    shown = make_question(section([Paragraph(text="One.", role="answer")], [GRID]))
    assert [piece.kind for piece in shown.first] == ["answer"]
    assert [piece.kind for piece in shown.rest] == ["table"]


def test_bullets_become_one_list_and_marks_that_say_something_stay():
    bullets = [Paragraph(text=text, first="• ", rest="  ") for text in ("One.", "Two.")]
    note = Paragraph(text="2013: unknown", first="– ", role="note")
    shown = make_question(section([Paragraph(text="Careful:", role="heading"), *bullets, note]))
    assert [(piece.kind, piece.texts) for piece in shown.first] == [
        ("heading", ("Careful",)),
        ("list", ("One.", "Two.")),
        ("note", ("– 2013: unknown",)),
    ]


def test_a_table_is_named_by_the_heading_above_it_and_sorted_by_its_numbers():
    shown = make_question(section([GRID], [Paragraph(text="By host:", role="heading"), GRID]))
    first, second = (piece.table for piece in (*shown.first, *shown.rest) if piece.table)
    assert (first.caption, second.caption) == ("Which hosts?", "By host")
    assert first.name != second.name
    assert [row[1] for row in first.grid.values] == [1.2e6, None, -3400]
    assert [column.align for column in first.grid.columns] == ["left", "right"]


def test_small_pictures_for_terminals_are_left_out():
    trend = Trend(name="coverage", values=(0.1, 0.2), text="from 10 to 20 %")
    assert make_question(section([trend])).first == ()


def test_every_report_checks_the_newest_crawl_follows_the_urls_and_plans(fit):
    page = fit.to_html()
    for name in ("newest-check", "history", "plan"):
        assert f'href="#{name}"' in page
        assert f'<section id="{name}"' in page
    assert 'data-name="turnover"' in page


@pytest.mark.parametrize("n_crawls", [2, 3])
def test_short_series_have_a_report_that_says_what_is_not_known(n_crawls):
    page = cg.estimate(cg.simulate_table(n_crawls=n_crawls, seed=1)).to_html()
    for name in ("newest-check", "history", "plan"):
        assert f'<section id="{name}"' in page


def test_a_drop_that_the_check_finds_stands_at_the_top_too(table):
    halves = [*(crawl.n_urls for crawl in table.crawls[:-1]), table.crawls[-1].n_urls // 2]
    scale = np.array(halves) / [crawl.n_urls for crawl in table.crawls]
    shared = np.round(table.n_shared * np.outer(scale, scale)).astype(np.int64)
    np.fill_diagonal(shared, halves)
    crawls = [replace(c, n_urls=n) for c, n in zip(table.crawls, halves, strict=True)]
    halved = replace(table, crawls=tuple(crawls), n_shared=shared, histories=None)
    page = cg.estimate(halved).to_html()
    newest = page[page.index('<section id="newest"') : page.index('<nav class="contents"')]
    assert "A drop" in newest
    assert "The crawl shrank" in newest


def test_answers_to_further_questions_become_sections(fit, tmp_path):
    class Asked:
        def section(self):
            return section([Paragraph(text="<b>None</b> & all.")])

    written = cg.write_report(fit, tmp_path / "report.html", [Asked()])
    page = written.path.read_text(encoding="utf-8")
    assert "&lt;b&gt;None&lt;/b&gt; &amp; all." in page
    assert page.index('id="history"') < page.index('<section id="hosts"')


def test_what_was_asked_stands_in_place_of_what_every_report_has(fit, table, tmp_path):
    asked = [
        cg.plan(fit, target=0.77),
        cg.check_newest(fit, threshold=0.5),
        cg.history(table),
    ]
    page = cg.write_report(fit, tmp_path / "report.html", asked).path.read_text(encoding="utf-8")
    assert "77 %" in page or "0.77" in page
    for name in ("plan", "newest-check", "history"):
        assert page.count(f'<section id="{name}"') == 1


def test_two_answers_to_one_question_are_refused(fit, table, tmp_path):
    with pytest.raises(cg.CrawlgaugeError, match="same question, history; a report shows one"):
        cg.write_report(fit, tmp_path / "report.html", [cg.history(table), cg.history(table)])
    assert not (tmp_path / "report.html").exists()


def test_a_heading_that_repeats_the_title_is_left_out():
    heading = Paragraph(text="Which hosts?:", role="heading")
    shown = make_question(section([heading, Paragraph(text="One.")]))
    assert [piece.kind for piece in shown.first] == ["text"]


class Asked:
    """Something that was asked further."""

    def section(self):
        return section([GRID], [GRID])


def test_no_id_occurs_twice(fit, tmp_path):
    cg.write_report(fit, tmp_path / "report.html", [Asked()])
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
