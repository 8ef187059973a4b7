"""``estimate --sensitivity``: from the store, from tables, and from files that are read again."""

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import jsonschema
import pytest

import crawlgauge as cg
from crawlgauge.report.result_json import load_schema

LABELS = ("2019-12", "2020-06", "2020-12", "2021-06")
PREFIX = ".crawlgauge-sensitivity-*"


@pytest.fixture
def mixed(folder):
    """Files of four crawls that write the same URLs with http or https, as it happens."""
    archive, rng = cg.simulate_urn(n_crawls=4, population=3000, seed=3), random.Random(1)
    lines = ["label,date,path"]
    for label, crawl in zip(LABELS, archive.crawls, strict=True):
        numbers = crawl.url_numbers.tolist()
        urls = (f"http{rng.choice(['', 's'])}://example.org/{number}" for number in numbers)
        (folder / f"{label}.txt").write_text("\n".join(urls))
        lines.append(f"{label},{crawl.date},{label}.txt")
    (folder / "crawls.csv").write_text("\n".join(lines))
    return archive.truth


def section(result):
    return " ".join(result.out[result.out.index("What moves the number:") :].split())


def test_a_mix_of_http_and_https_is_found_by_reading_again(run, mixed, folder):
    run("add", "--from", "crawls.csv", "--identity", "raw")
    run("estimate")
    before = sorted(folder.rglob("*"))
    document = json.loads(run("estimate", "--sensitivity", "--from", "crawls.csv", "--json").out)
    assert sorted(folder.rglob("*")) == before
    found = document["sensitivity"]
    assert found["schema"] == "crawlgauge.sensitivity/1"
    moves = {m["subject"]: m for m in found["movements"] if m["kind"] == "identity"}
    assert set(moves) == {"surt", "scheme-free", "given"}
    assert moves["surt"]["coverage"]["value"] == pytest.approx(mixed.coverage, rel=0.1)
    assert moves["surt"]["coverage_before"] == pytest.approx(mixed.coverage / 2, rel=0.15)
    assert moves["given"]["coverage"]["value"] is None
    assert {m["kind"] for m in found["movements"][:2]} == {"identity"}
    assert found["reading_rate"] == 1
    assert found["verdict"].startswith("What moves the coverage most: URLs the same by s")
    assert found["meanings"][0].startswith("It matters which URLs count as the same: URLs the same")


def test_the_usual_text_comes_first_and_the_usual_json_stays(run, mixed):  # noqa: ARG001
    run("add", "--from", "crawls.csv")
    usual, more = run("estimate"), run("estimate", "--sensitivity")
    assert more.out.startswith(usual.out.rstrip("\n"))
    assert "only part 1 of 4 of the URLs" in section(more)
    assert "without crawl 2020-06" in section(more)
    plain = json.loads(run("estimate", "--json").out)
    document = json.loads(run("estimate", "--sensitivity", "--json").out)
    jsonschema.validate(document, load_schema())
    assert document.pop("sensitivity")["part_rate"] == 0.25
    assert document == plain


def test_a_window_holds_for_every_change(run, mixed):  # noqa: ARG001
    run("add", "--from", "crawls.csv")
    words = ("estimate", "--exclude", "2019-12", "--sensitivity", "--from", "crawls.csv", "--json")
    found = json.loads(run(*words).out)
    left_out = [m["subject"] for m in found["sensitivity"]["movements"] if m["kind"] == "crawl"]
    assert sorted(left_out) == ["2020-06", "2020-12", "2021-06"]
    status = [m for m in found["sensitivity"]["movements"] if m["kind"] == "status"]
    assert [m["coverage_moves"] for m in status] == [0, 0]


def test_a_table_of_pairs_says_what_it_does_not_allow(run, folder):
    table = cg.simulate_table(n_crawls=6, population=20_000, seed=1, with_histories=False)
    cg.write_overlaps(table, "table.csv")
    text = section(run("estimate", "table.csv", "--sensitivity"))
    assert "overlaps of pairs cannot be divided" in text
    assert "--from crawls.csv" in text
    assert "without adjacent crawls" in text
    assert not list(folder.glob(PREFIX))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--from", "crawls.csv"), "--from goes with --sensitivity"),
        (("--sensitivity", "--sample", "1/4"), "go with --sensitivity --from"),
        (("--sensitivity", "--explain", "short-lag"), "give one of --explain and --sensitivity"),
    ],
)
def test_options_that_would_do_nothing_are_refused(run, mixed, words, message):  # noqa: ARG001
    run("add", "--from", "crawls.csv")
    result = run("estimate", *words)
    assert (result.code, message in result.err) == (2, True)


def test_a_list_that_cannot_be_used_is_an_error_before_anything_is_estimated(run, mixed, folder):  # noqa: ARG001
    run("add", "--from", "crawls.csv")
    short = (folder / "crawls.csv").read_text().rpartition("\n")[0]
    (folder / "short.csv").write_text(short)
    result = run("estimate", "--sensitivity", "--from", "short.csv")
    assert (result.code, result.out) == (1, "")
    assert "short.csv does not list 2021-06, which the estimate is made from" in result.err
    assert "name a file" in run("estimate", "--sensitivity", "--from", "-").err
    assert "cannot read none.csv" in run("estimate", "--sensitivity", "--from", "none.csv").err
    assert not list(folder.glob(PREFIX))


def test_a_table_of_contents_cannot_be_read_again(run, mixed):  # noqa: ARG001
    table = cg.simulate_table(n_crawls=4, population=500, seed=1)
    cg.write_overlaps(replace(table, level="content"), "table.json")
    result = run("estimate", "table.json", "--sensitivity", "--from", "crawls.csv")
    assert (result.code, "for their URLs only" in result.err) == (1, True)


def test_crawls_of_a_scope_are_read_again_within_it(run, mixed, folder):  # noqa: ARG001
    (folder / "scope.txt").write_text("example.org\n")
    run("add", "--from", "crawls.csv", "--scope", "scope.txt")
    words = ("estimate", "--sensitivity", "--from", "crawls.csv")
    assert "added with a scope; name the same file again" in run(*words).err
    (folder / "other.txt").write_text("example.com\n")
    assert "other.txt is not the scope" in run(*words, "--scope", "other.txt").err
    assert "read again in a sample of 1 in 2" in section(
        run(*words, "--scope", "scope.txt", "--sample", "1/2")
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_nothing_is_left_behind_when_it_is_stopped(run, mixed, folder, environment, number, code):  # noqa: ARG001
    run("add", "--from", "crawls.csv")
    run("estimate")
    before = sorted(folder.rglob("*"))
    words = ("estimate", "--sensitivity", "--from", "crawls.csv")
    process = subprocess.Popen(
        [sys.executable, "-m", "crawlgauge", *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A process started in the background would ignore the interrupt.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    for _ in range(2400):
        if list(folder.glob(f"{PREFIX}/store/crawls/*")):
            break
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (code, b"")
    assert b"Traceback" not in errors
    assert sorted(folder.rglob("*")) == before
