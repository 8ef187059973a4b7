"""Real ARC files: each is read with exact counts or refused."""

import datetime as dt

import pytest
from readings import read_bytes

from crawlgauge.errors import DamagedInput
from crawlgauge.sources.arc import looks_like_arc, read_arc
from crawlgauge.sources.decompress import Stream


def read(path, *, keep_damaged=False):
    """Return rows of captures, the counts of what was left out, and the damage."""
    with Stream(str(path)) as stream:
        assert looks_like_arc(stream.beginning())
    found = read_bytes(read_arc, path.read_bytes(), name="x.arc", keep=keep_damaged)
    rows = [
        (row.url, dt.datetime.fromtimestamp(row.time, tz=dt.UTC), row.status, row.mime)
        for row in found.rows
    ]
    return rows, found.rejected | found.excluded, found.damages


def plain_read(data):
    """Return the fields of all records' lines, by splitting them."""
    place = 0
    while data[place:].strip(b"\n"):
        place += len(data[place:]) - len(data[place:].lstrip(b"\n"))
        end = data.index(b"\n", place)
        url, _, time, mime, length = data[place:end].rsplit(b" ", 4)
        place = end + 1 + int(length)
        yield url, time.decode(), mime


@pytest.mark.parametrize(
    ("name", "n_captures", "n_left"),
    [
        ("2-metadata-1.arc", 0, {"filedesc": 1, "other-scheme": 18}),
        ("IAH-20080430204825-00000-blackbook-truncated.arc", 7, {"filedesc": 1, "other-scheme": 1}),
        ("example.arc", 1, {"filedesc": 1}),
    ],
)
def test_a_whole_file_gives_exactly_what_a_plain_reading_gives(
    shared_data, name, n_captures, n_left
):
    path = shared_data / "formats/arc" / name
    rows, left, damages = read(path)
    assert (len(rows), left, damages) == (n_captures, n_left, [])
    plain = list(plain_read(path.read_bytes()))
    assert len(plain) == n_captures + sum(n_left.values())
    assert [(url, f"{time:%Y%m%d%H%M%S}", mime) for url, time, _, mime in rows] == [
        record for record in plain if record[0].startswith(b"http")
    ]
    assert {status for _, _, status, _ in rows} <= {200}


def test_the_compressed_file_equals_the_plain_one(shared_data):
    folder = shared_data / "formats/arc"
    assert read(folder / "example.arc.gz") == read(folder / "example.arc")


def test_a_file_whose_line_ends_were_changed_is_too_short_and_says_so(shared_data):
    path = shared_data / "formats/arc/example-space-in-url.arc"
    with pytest.raises(DamagedInput, match="ends inside the record that begins at byte 151"):
        read(path)
    ((url, _, status, mime),), left, damages = read(path, keep_damaged=True)
    assert url.endswith(b"EmailTitle=Examples From The Live Web&IsPopUp=False")
    assert (status, mime, left, len(damages)) == (200, b"text/html", {"filedesc": 1}, 1)


def test_a_file_of_wrong_lengths_gives_its_one_good_record(shared_data):
    path = shared_data / "formats/arc/bad.arc"
    with pytest.raises(DamagedInput, match=r"damaged at byte 0: the length of a record is missing"):
        read(path)
    rows, left, damages = read(path, keep_damaged=True)
    assert [(row[0], row[2]) for row in rows] == [(b"http://example.com/", None)]
    assert not left
    assert [damage.byte for damage in damages] == [0, 262]
