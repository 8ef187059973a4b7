"""Published overlaps and capture histories, read through the formats people exchange."""

import csv

import pytest

from crawlgauge.overlaps.csv_table import from_histories, read_sheet
from crawlgauge.overlaps.files import read_overlaps
from csv_tables import from_csv

pytestmark = pytest.mark.real


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_jaccard_as_published_gives_the_published_intersections(shared_data):
    """The intersections come from the Jaccard before it was rounded to five decimals."""
    folder = shared_data / "commoncrawl"
    crawls = {row["label"]: (row["date"], row["urls"]) for row in rows_of(folder / "crawls.csv")}
    published = {
        (row["a"], row["b"]): int(row["intersection"])
        for row in rows_of(folder / "url_intersections.csv")
    }
    # Estimates from sketches come out negative where hardly anything is shared.
    rows = [row for row in rows_of(folder / "url_jaccard.csv") if float(row["jaccard"]) > 0]

    def n_shared_with(rounding):
        lines = ["jaccard,a,date_a,n_a,b,date_b,n_b"]
        for row in rows:
            a, b = row["a"], row["b"]
            jaccard = max(0.0, float(row["jaccard"]) + rounding)
            lines.append(",".join([repr(jaccard), a, *crawls[a], b, *crawls[b]]))
        table = from_csv("\n".join(lines), name="url_jaccard.csv")
        assert table.n_crawls == 123
        return {(pair.a.label, pair.b.label): pair.n_shared for pair in table.pairs()}

    low, as_given, high = (n_shared_with(rounding) for rounding in (-0.5e-5, 0.0, 0.5e-5))
    assert len(as_given) == len(rows)
    assert [pair for pair in as_given if not low[pair] <= published[pair] <= high[pair]] == []


@pytest.mark.parametrize(
    ("name", "n_pairs"), [("overlaps_2013-2016.csv", 325), ("overlaps_2023-2025.csv", 349)]
)
def test_the_windows_in_the_own_format_are_read_whole(shared_data, name, n_pairs):
    table = read_overlaps(shared_data / "commoncrawl" / name)
    rows = rows_of(shared_data / "commoncrawl" / name)
    found = {(pair.a.label, pair.b.label): pair.n_shared for pair in table.pairs()}
    assert found == {(row["a"], row["b"]): int(row["n_shared"]) for row in rows}
    assert len(found) == n_pairs


@pytest.mark.parametrize("name", ["dipper.csv", "dipper_by_sex.csv"])
def test_the_dippers_are_294_birds_of_seven_years(shared_data, name):
    crawls = "label,date\n" + "".join(f"{year},{year}-06-15\n" for year in range(1981, 1988))
    text = (shared_data / "capture-recapture" / name).read_text()
    table = from_histories(read_sheet(text, name), read_sheet(crawls, "years.csv"))
    assert table.n_crawls == 7
    assert table.histories.n_urls == 294
    rows = rows_of(shared_data / "capture-recapture" / name)
    for year, crawl in enumerate(table.crawls):
        assert crawl.n_urls == sum(int(row["freq"]) for row in rows if row["ch"][year] == "1")
