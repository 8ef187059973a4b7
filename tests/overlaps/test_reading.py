import gzip
import hashlib
import io
import sys
import tracemalloc

import pytest

from crawlgauge.errors import OverlapError
from crawlgauge.overlaps.files import read_histories, read_overlaps, to_parquet
from crawlgauge.overlaps.json_table import to_json
from crawlgauge.provenance import Input, Provenance
from csv_tables import from_csv

CSV = "a,date_a,n_a,b,date_b,n_b,n_shared\nx,2013-12,10,y,2014-06,10,5\n"
TABLE = from_csv(CSV, name="t.csv")
CONTENTS = {
    "csv": CSV.encode(),
    "csv with a byte order mark": CSV.encode("utf-8-sig"),
    "json": to_json(TABLE).encode(),
    "json after white space": b"\n  " + to_json(TABLE).encode(),
    "parquet": to_parquet(TABLE),
}


def error_of(path):
    with pytest.raises(OverlapError) as caught:
        read_overlaps(path)
    return str(caught.value)


def give_to_stdin(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_the_format_is_told_from_content(tmp_path, content, pack):
    path = tmp_path / "table.dat"
    path.write_bytes(pack(content))
    assert read_overlaps(path).n_shared.tolist() == [[10, 5], [5, 10]]


def test_the_file_is_recorded_where_it_tells_no_provenance(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(CSV.encode(), mtime=0))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    origin = Input(name=str(path), checksum=f"sha256:{digest}", n_bytes=path.stat().st_size)
    assert read_overlaps(str(path)).provenance == Provenance(inputs=(origin,))


@pytest.mark.parametrize("content", [CONTENTS["csv"], CONTENTS["parquet"]], ids=["csv", "parquet"])
def test_a_dash_is_standard_input(monkeypatch, content):
    give_to_stdin(monkeypatch, content)
    assert read_overlaps("-").n_shared[0, 1] == 5


def test_messages_about_standard_input_say_so(monkeypatch):
    give_to_stdin(monkeypatch, b"a,b\n1,2\n")
    assert error_of("-").startswith("standard input: missing column")


def test_a_missing_file_and_a_directory_are_refused(tmp_path):
    assert error_of(tmp_path / "none.csv") == f"{tmp_path / 'none.csv'}: there is no such file"
    assert error_of(tmp_path).startswith(f"{tmp_path} is a directory")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", " is empty"),
        (b"\xef\xbb\xbf \n", " is empty"),
        (gzip.compress(b"", mtime=0), " is empty"),
        (gzip.compress(CSV.encode(), mtime=0)[:-12], " is damaged: "),
        (gzip.compress(CSV.encode(), mtime=0)[:-8] + bytes(8), " is damaged: "),
        (CSV.encode("utf-16"), " is UTF-16 text"),
        (CSV.encode() + b"\xe9,", ", line 3: byte 0xe9 is no UTF-8 text"),
        (b"\x00\x01\x02", " is UTF-16 text, or no text at all"),
        (CSV.replace("10,5", "10,11").encode(), ", line 2, column n_shared: "),
        (b'{"schema": "else"}', ", at $.schema: unknown schema"),
        (b"[1]", ", at $: an object is needed"),
        (b"PAR1PAR1", " cannot be read as Parquet"),
    ],
)
def test_what_is_no_table_is_refused_with_the_file(tmp_path, content, words):
    path = tmp_path / "table"
    path.write_bytes(content)
    assert error_of(path).startswith(f"{path}{words}")


def test_histories_are_read_with_both_files_recorded(tmp_path):
    histories, crawls = tmp_path / "h.csv", tmp_path / "c.csv"
    histories.write_bytes(gzip.compress(b"ch,freq\r\n10,3\r\n11,2\r\n", mtime=0))
    crawls.write_text("label,date\nx,2013-12\ny,2014-06\n")
    table = read_histories(histories, crawls)
    assert table.n_shared.tolist() == [[5, 2], [2, 2]]
    assert [origin.name for origin in table.provenance.inputs] == [str(histories), str(crawls)]


def test_histories_and_crawls_cannot_both_come_from_standard_input():
    with pytest.raises(OverlapError, match="cannot both come from standard input"):
        read_histories("-", "-")


def test_a_table_that_expands_beyond_all_measure_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(CSV.encode() + bytes(1 << 26)))
    monkeypatch.setattr("crawlgauge.overlaps.files._MAX_BYTES", 1 << 16)
    tracemalloc.start()
    message = error_of(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert message.startswith(f"{path} holds more than 65,536 bytes of content")
    assert peak < 1 << 23
