import dataclasses
import re

import numpy as np
import pytest

from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.report.overlaps_text import to_text


@pytest.mark.parametrize(
    ("name", "n_crawls", "others"),
    [
        ("pairs", 4, {"missing": [(0, 2)], "key_rule": "surt/1"}),
        ("matrix", 15, {"missing": [(3, 9)], "sample_rate": 1 / 64, "level": "content"}),
    ],
)
def test_the_output_is_the_golden_one(name, n_crawls, others, make_table, golden, capfd):
    assert to_text(make_table(n_crawls, **others)) == golden(f"overlaps_{name}.txt")
    assert capfd.readouterr() == ("", "")


def test_both_directions_are_shares_of_the_crawl_they_name(make_table):
    table = make_table(2)
    shared = int(table.n_shared[0, 1])
    assert (shared / 1_000_000, round(shared / 2_250_000, 3)) == (0.3956, 0.176)
    assert re.search(r"40 % +18 % +0\.139 +0\.243 +395,600$", to_text(table))


def test_every_pair_has_a_line_and_a_missing_one_has_dashes(make_table):
    lines = to_text(make_table(12, missing=[(4, 7)])).split("\n")[4:]
    assert len(lines) == 66
    assert [line.split()[2:] for line in lines if "–" in line] == [["–"] * 5]


def test_thirteen_crawls_become_a_matrix(make_table):
    table = make_table(13)
    text = to_text(table)
    row = next(line for line in text.split("\n") if line.startswith(" 1  2019-06"))
    shares = 100 * table.n_shared[0, 1:] / table.n_shared[0, 0]
    assert row.split()[2:] == [f"{share:.0f}" for share in shares]
    assert text.endswith("All numbers: crawlgauge overlaps -o overlaps.csv")


def test_more_crawls_than_fit_side_by_side_are_shown_with_their_neighbours(make_table):
    lines = to_text(make_table(40)).split("\n")
    assert "Each crawl with the next:" in lines
    assert sum(bool(re.match(r"20\d\d-\d\d  ", line)) for line in lines) == 39
    assert max(map(len, lines)) <= 100


def test_a_small_overlap_is_not_shown_as_none(make_table):
    table = make_table(13)
    n_shared = table.n_shared.copy()
    n_shared[0, 11] = n_shared[11, 0] = 3
    n_shared[0, 12] = n_shared[12, 0] = 0
    text = to_text(OverlapTable(crawls=table.crawls, n_shared=n_shared))
    assert re.search(r" 1  2019-06 .* <1 +0$", text, re.MULTILINE)


def test_standard_errors_are_shown_where_known(make_table):
    table = make_table(3)
    errors = np.full((3, 3), 1234.4)
    errors[0, 2] = errors[2, 0] = np.nan
    text = to_text(dataclasses.replace(table, se_shared=errors))
    assert "standard errors (±)" in text
    assert re.search(r"2019-06 +2019-12 .* 395,600 ± 1,234$", text, re.MULTILINE)
    assert re.search(r"2019-06 +2020-06 .* 340,216$", text, re.MULTILINE)


def test_damaged_crawls_are_named(make_table):
    table = make_table(3)
    crawls = (*table.crawls[:2], dataclasses.replace(table.crawls[2], damaged=True))
    text = to_text(dataclasses.replace(table, crawls=crawls))
    assert text.endswith("Incomplete, because the input was damaged: 2020-06")


def test_one_crawl_is_told_to_need_another(make_table):
    assert "One crawl has no overlaps; add another" in to_text(make_table(1))
