"""The question of what became of URLs: its text, its JSON and its figure."""

import json
from dataclasses import replace

import pytest

import crawlgauge as cg
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count
from crawlgauge.overlaps.histories import Histories


@pytest.fixture(scope="module")
def table():
    return cg.simulate_table(n_crawls=6, population=5000, seed=2)


@pytest.fixture(scope="module")
def result(table):
    return cg.history(table)


def test_the_text_has_the_numbers_of_every_crawl(table, result):
    text = result.summary()
    for crawl, row in zip(table.crawls, result.turnover.per_crawl, strict=True):
        (held, left_out) = [line for line in text.splitlines() if line.startswith(crawl.label)]
        known = [getattr(row, name).value for name in ("kept", "recovered", "new")]
        cells = [*(f"{n:,}" if n is not None else "–" for n in known)]
        assert held.split()[2:5] == cells
        known = [getattr(row, name).value for name in ("dropped", "forgotten", "lost", "missed")]
        assert left_out.split()[1:5] == [f"{n:,}" if n is not None else "–" for n in known]


def test_what_is_unknown_is_explained_once_below_the_table(table, result):
    text = " ".join(result.summary().split())
    first, second, last = (table.crawls[k].label for k in (0, 1, -1))
    assert f"– {first}: first crawl: there is none before it" in text
    assert f"– {second} (recovered): second crawl:" in text
    assert f"– {last} (forgotten, lost, missed, share): not yet known" in text


def test_the_answer_says_what_is_kept_found_again_and_missed(result):
    answer = " ".join(result.summary().split("\n\n")[0].split())
    shares = [row.missed_at_least.value for row in result.turnover.per_crawl[1:-1]]
    assert f"{100 * result.turnover.self_overlap.value:.0f} % of the URLs are kept" in answer
    assert f"at least {100 * result.turnover.forgotten_share.value:.0f} % lived on" in answer
    assert f"at least {100 * min(shares):.0f} % to {100 * max(shares):.0f} % of the URLs" in answer


def test_the_json_has_every_number_and_says_why_one_is_missing(table, result):
    document = json.loads(result.to_json())
    assert next(iter(document)) == "schema"
    assert document["schema"] == "crawlgauge.history/1"
    assert [crawl["label"] for crawl in document["crawls"]] == [c.label for c in table.crawls]
    first, *_, last = document["crawls"]
    assert (first["kept"]["value"], last["missed"]["value"]) == (None, None)
    assert last["missed"]["reason"].startswith("not yet known")
    assert isinstance(last["kept"]["value"], int)
    assert document["n_distinct"]["value"] == table.histories.n_urls
    assert sum(n["value"] for n in document["capture_frequencies"]) == table.histories.n_urls


def test_pairs_alone_give_a_short_table_and_say_what_is_missing(table):
    text = cg.history(replace(table, histories=None)).summary()
    assert "not in the crawl before" in text
    assert "recovered  " not in text
    assert "takes capture histories, which this table does not have" in " ".join(text.split())


def test_one_crawl_is_told_that_there_is_nothing_to_follow():
    single = cg.simulate_table(n_crawls=2, population=500, seed=1)
    alone = replace(
        single, crawls=single.crawls[:1], n_shared=single.n_shared[:1, :1], histories=None
    )
    assert cg.history(alone).summary().startswith("There is nothing to follow yet")


def test_a_sample_is_named_and_its_counts_have_ranges(table):
    histories = table.histories
    halved = Histories(
        n_crawls=table.n_crawls,
        masks=histories.masks[histories.counts > 1],
        counts=histories.counts[histories.counts > 1] // 2,
        sample_rate=0.5,
    )
    result = cg.history(replace(table, histories=halved))
    text = " ".join(result.summary().split())
    assert "Counted in a sample of 1 in 2 URLs and scaled up. In brackets: 95 % intervals." in text
    missed = result.turnover.per_crawl[2].missed
    assert f"{count(missed.value)} ({count(missed.low)}–{count(missed.high)})" in text


def records(chart):
    return [dict(zip(chart.columns, row, strict=True)) for row in chart.rows]


def test_the_bars_of_a_crawl_add_up_to_its_urls_and_what_it_missed_goes_down(table, result):
    rows = records(result.figure())
    for crawl, row in zip(table.crawls, result.turnover.per_crawl, strict=True):
        heights = [item["height"] for item in rows if item["crawl"] == crawl.label]
        assert sum(height for height in heights if height > 0) == crawl.n_urls
        assert sum(height for height in heights if height < 0) == -(row.missed.value or 0)


def test_the_figure_is_drawn_and_saved(result, tmp_path):
    chart = result.figure()
    chart.save(tmp_path / "history.svg")
    svg = (tmp_path / "history.svg").read_text(encoding="utf-8")
    for part in ("kept", "recovered", "new", "missed"):
        assert f">{part}</text>" in svg
    assert "From one crawl to the next" in chart.caption


def test_the_figure_of_pairs_has_two_parts(table):
    rows = records(cg.history(replace(table, histories=None)).figure())
    assert {row["part"] for row in rows} == {
        "kept",
        "new",
        "not in the crawl before",
        "not compared",
    }


def test_numbers_that_are_not_known_are_never_drawn(result):
    hidden = replace(result.turnover.per_crawl[1], missed=Estimate.unknown("hidden"))
    rows = (result.turnover.per_crawl[0], hidden, *result.turnover.per_crawl[2:])
    chart = replace(result, turnover=replace(result.turnover, per_crawl=rows)).figure()
    assert not [r for r in records(chart) if r["crawl"] == hidden.label and r["part"] == "missed"]
