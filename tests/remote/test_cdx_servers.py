"""CDX servers, asked directly, give what their WARC files hold, politely and resumably."""

import errno
import fcntl
import gzip
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from cdx_servers import CdxServer, read_rows

import crawlgauge as cg
from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources import cdx_server
from crawlgauge.sources.inputs import find_inputs

KINDS = ("wayback", "wayback-without-keys", "pywb", "pywb-plain", "outbackcdx")
PAGED = ("wayback", "pywb")
QUICK = {"rate": 60_000}


@pytest.fixture(autouse=True)
def cache(impatient, tmp_path, monkeypatch):  # noqa: ARG001 - for what it does
    """Keep pages in a folder of the test's own, and do not wait for long."""
    monkeypatch.setenv(cdx_server.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(cdx_server, "_REFUSAL_SECONDS", 0.05)
    return tmp_path / "cache"


@pytest.fixture
def serve(shared_data):
    """Start servers that hold the index of real WARC files."""
    servers = []

    def start(kind, *names):
        files = [shared_data / "formats" / "cdx" / f"{name}.cdx" for name in names or ("iana",)]
        servers.append(CdxServer(kind, read_rows(*files)))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def of_warc(shared_data, tmp_path):
    """The set of the WARC files that the servers' rows are the index of."""
    (tmp_path / "iana.txt").write_text("iana.org\n")
    added = cg.add_crawl(
        tmp_path / "warc-store",
        "warc",
        shared_data / "formats" / "warc" / "iana.warc.gz",
        scope=tmp_path / "iana.txt",
    )
    return added.crawl_set


def query(server, words="url=*.iana.org"):
    return f"cdx+{server.url}/cdx/search/cdx?{words}"


def kept(cache):
    return sorted(path.name for path in cache.rglob("*") if path.suffix == ".page")


@pytest.mark.parametrize("kind", KINDS)
def test_each_server_gives_the_set_of_its_warc_files(serve, of_warc, tmp_path, cache, kind, caplog):
    server = serve(kind)
    with caplog.at_level("INFO"):
        added = cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK).crawl_set
    assert (added.checksum, added.n_captures) == (of_warc.checksum, of_warc.n_captures)
    assert not added.damage
    assert not added.rejected
    assert f"{len(server.rows):,} rows" in caplog.text
    assert kept(cache) == []
    (agent,) = server.agents
    assert agent.startswith("crawlgauge/")


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_is_needed_is_asked_for(serve, tmp_path, kind):
    server = serve(kind)
    cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    asked = server.asked("fl")[-1].split(",")
    if kind in PAGED:
        assert len(asked) == 4
    assert not {"filename", "offset", "redirecturl", "robotflags"} & set(asked)
    cg.add_crawl(tmp_path / "other", "2014", query(server), levels="url,content", **QUICK)
    assert "digest" in server.asked("fl")[-1]


def test_the_keys_of_the_index_are_asked_for_where_they_are_wanted(serve, tmp_path):
    server = serve("wayback")
    added = cg.add_crawl(tmp_path / "store", "2014", query(server), identity="given", **QUICK)
    assert "urlkey" in server.asked("fl")[-1]
    assert added.crawl_set.crawl.n_urls == len({row[0] for row in server.rows if row[4] != "302"})


def test_a_collection_is_cut_by_time(serve, tmp_path):
    server = serve("wayback", "iana", "example-extra")
    server.rows = sorted([*server.rows, ["org,iana)/new", "20190101000000", *server.rows[0][2:]]])
    result = cg.split_collection(tmp_path / "store", query(server), period="year", **QUICK)
    assert [item.crawl_set.crawl.label for item in result.additions] == ["2014", "2019"]


FAULTS = {
    "busy": lambda number, _: 503 if number % 3 == 1 else None,
    "too many, with a pause": lambda number, _: (429, 1) if number == 2 else None,
    "too many, without": lambda number, _: 429 if number in (1, 2) else None,
    "dropped": lambda number, _: "drop" if number % 2 else None,
    "cut": lambda number, _: "cut" if number % 2 else None,
    "broken": lambda number, _: 500 if number % 2 else None,
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", PAGED)
def test_faults_that_pass_leave_no_trace(serve, of_warc, tmp_path, kind, fault):
    server = serve(kind)
    server.rules = FAULTS[fault]
    added = cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK).crawl_set
    assert (added.checksum, added.n_captures) == (of_warc.checksum, of_warc.n_captures)


@pytest.mark.parametrize("n_at_once", [1, 3])
def test_a_pause_that_is_asked_for_is_kept_by_all(serve, tmp_path, n_at_once):
    server = serve("wayback")
    server.rules = lambda number, _: (429, 1) if number == 2 else None
    words = [query(server, f"url=*.iana.org&x={number}") for number in range(n_at_once)]
    cg.add_crawls(tmp_path / "store", each=words, **QUICK)
    assert server.seen[3][0] - server.seen[2][0] >= 0.95


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_refuses_is_left_alone_before_it_blocks_us(
    serve, of_warc, tmp_path, cache, status
):
    server = serve("wayback")
    server.rules = lambda number, _: status if number >= 3 else None
    with pytest.raises(SourceError, match=rf"refuses to answer so often \(status {status}\); try"):
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    assert len(server.seen) == 3 + 3
    assert kept(cache) == ["00000.page", "00001.page"]
    # What was fetched stays, and is not asked for again.
    server.rules, before = lambda *_: None, server.asked("resumeKey")[0]
    added = cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK).crawl_set
    assert added.checksum == of_warc.checksum
    assert before not in [seen.get("resumeKey") for _, seen in server.seen[6:]]


def test_a_server_that_asks_for_an_hour_is_not_waited_for(serve, tmp_path):
    server = serve("wayback")
    server.rules = lambda *_: (429, 3600)
    with pytest.raises(SourceError, match="asks to come back in 3600 s; try again then"):
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    assert len(server.seen) == 1


@pytest.mark.parametrize("n_said", [0, 1, 3])
def test_more_pages_than_the_server_says_are_found(serve, of_warc, tmp_path, n_said, caplog):
    server = serve("pywb")
    server.n_pages_said = n_said
    with caplog.at_level("INFO"):
        added = cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK).crawl_set
    assert added.checksum == of_warc.checksum
    assert "there are more pages than its server says" in caplog.text


def test_a_server_without_pages_that_keeps_to_a_limit_is_asked_for_all(
    serve, of_warc, tmp_path, monkeypatch
):
    server = serve("wayback-without-keys")
    server.page_rows = 1_000_000
    server.rules = lambda _, asked: 400 if "showNumPages" in asked else None
    monkeypatch.setattr(cdx_server, "_ROWS_PER_PAGE", 50)
    added = cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK).crawl_set
    assert (added.checksum, added.n_captures) == (of_warc.checksum, of_warc.n_captures)


def test_a_server_that_gives_one_page_for_all_ends(serve, of_warc, tmp_path):
    server = serve("pywb")
    server.page_rows = len(server.rows)
    inner = server._pywb
    server._pywb = lambda query, fault: inner({**query, "page": "0"}, fault)
    added = cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK).crawl_set
    assert added.checksum == of_warc.checksum
    assert len(server.seen) == 3


def test_fewer_pages_than_the_server_says_are_a_loss(serve, of_warc, tmp_path):
    server = serve("pywb")
    n_pages = -(-len(server.rows) // server.page_rows)
    server.n_pages_said = n_pages + 2
    with pytest.raises(DamagedInput, match=f"says that there are {n_pages + 2} pages, but it answ"):
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    added = cg.add_crawl(tmp_path / "store", "2014", query(server), on_damage="keep", **QUICK)
    assert added.crawl_set.checksum == of_warc.checksum
    assert len(added.crawl_set.damage) == 2


@pytest.mark.parametrize("fault", [500, 404, "cut"])
def test_a_page_that_is_missing_is_a_loss_and_alone_is_asked_for_again(
    serve, of_warc, tmp_path, cache, fault
):
    server = serve("pywb")
    server.rules = lambda _, asked: fault if asked.get("page") == "2" else None
    with pytest.raises(
        DamagedInput,
        match=r"page 3 of it is missing.*lost: its rows\. Ask the server again later, or",
    ):
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    added = cg.add_crawl(tmp_path / "store", "kept", query(server), on_damage="keep", **QUICK)
    assert added.crawl_set.n_captures < of_warc.n_captures
    assert added.crawl_set.crawl.damaged
    # As if the second had been killed before it was stored.
    assert kept(cache) == []
    with pytest.raises(DamagedInput):
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    server.rules, n_before = lambda *_: None, len(server.seen)
    whole = cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    assert whole.crawl_set.checksum == of_warc.checksum
    pages = [asked["page"] for _, asked in server.seen[n_before:]]
    assert pages[0] == "2"
    assert not {"0", "1"} & set(pages)


def test_a_page_that_is_missing_between_keys_loses_all_behind_it(serve, tmp_path):
    server = serve("wayback")
    server.rules = lambda number, _: 500 if number > 2 else None
    added = cg.add_crawl(tmp_path / "store", "2014", query(server), on_damage="keep", **QUICK)
    (damage,) = added.crawl_set.damage
    assert damage.lost == "all that follows"
    assert added.crawl_set.n_captures < 2 * server.page_rows + 5


def test_what_a_server_says_to_be_incomplete_is_a_loss(serve, of_warc, tmp_path):
    server = serve("outbackcdx")
    server.rules = lambda *_: "warn"
    with pytest.raises(DamagedInput, match="says that it may be incomplete"):
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    added = cg.add_crawl(
        tmp_path / "store", "2014", query(server), on_damage="keep", replace=True, **QUICK
    )
    assert 0 < added.crawl_set.n_captures < of_warc.n_captures


def test_a_key_that_leads_nowhere_is_a_loss(serve, tmp_path):
    server = serve("wayback")
    inner = server._wayback
    server._wayback = lambda asked, fault: (
        inner(asked, fault)
        if "resumeKey" not in asked
        else (200, server._to_json(server.rows[:3], asked, ([], [asked["resumeKey"]])))
    )
    with pytest.raises(DamagedInput, match="gives the same resume key again and again"):
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)


NO_ROWS = {
    b"<!doctype html><p>Log in</p>": "a web page",
    b"\n <html>": "a web page",
    b"You have exceeded your quota.\n": "'You have exceeded your quota.'",
    b"Blocked": "'Blocked'",
    b'{"message": "no such collection"}\n': '\'{"message": ',
    b"org.archive.util.io.RuntimeIOException: Blocked Site Error\n": "'org.archive.util",
    b"0\n": "'0'",
}


@pytest.mark.parametrize("text", NO_ROWS)
@pytest.mark.parametrize("kind", PAGED)
def test_what_is_no_rows_is_no_answer_and_is_not_kept(serve, of_warc, tmp_path, cache, kind, text):
    server = serve(kind)
    server.rules = lambda *_: text
    said = f"it answers with {NO_ROWS[text]}"
    with pytest.raises(SourceError, match=rf"{re.escape(said)}.* not with rows; is the addr") as e:
        cg.add_crawl(tmp_path / "store", "2014", query(server), on_damage="keep", **QUICK)
    assert str(e.value).count("is the address that of a CDX server?") == 1
    assert kept(cache) == []
    # Nor is it taken for rows where others came before.
    server.rules = lambda _, asked: text if "resumeKey" in asked or asked.get("page") == "3" else 0
    with pytest.raises(DamagedInput, match=rf"is missing: .*{re.escape(said)}"):
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    server.rules = lambda *_: None
    added = cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    assert added.crawl_set.checksum == of_warc.checksum


@pytest.mark.parametrize("kind", KINDS)
def test_who_was_told_nothing_asks_again(serve, of_warc, tmp_path, cache, kind):
    server = serve(kind)
    rows, server.rows = server.rows, []
    with pytest.raises(SourceError, match="holds nothing for this query"):
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    server.rows = rows
    added = cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    assert added.crawl_set.checksum == of_warc.checksum
    assert kept(cache) == []


def test_who_was_told_a_part_asks_again(serve, of_warc, tmp_path):
    server = serve("outbackcdx")
    server.rules = lambda *_: "warn"
    with pytest.raises(DamagedInput, match="may be incomplete"):
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    server.rules = lambda *_: None
    added = cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    assert added.crawl_set.checksum == of_warc.checksum


def test_who_asks_for_the_first_page_of_a_site_alone_is_told(serve, tmp_path, caplog):
    server = serve("wayback")
    cg.add_crawl(tmp_path / "store", "all", query(server), **QUICK)
    assert "asks for one page" not in caplog.text
    server._select = lambda _: server.rows[:2]
    cg.add_crawl(tmp_path / "store", "one", query(server, "url=http://iana.org/"), **QUICK)
    assert "asks for one page; for a whole site write url=*.example.org" in caplog.text


# --------------------------------------------------------------------------- where pages are kept


def test_progress_tells_of_bytes_and_pages(serve, tmp_path):
    server, steps = serve("pywb"), []
    n_pages = -(-len(server.rows) // server.page_rows)
    cg.add_crawls(
        tmp_path / "store",
        each=[query(server), query(server, "url=iana.org/*")],
        progress=steps.append,
        **QUICK,
    )
    assert (n_pages, n_pages) in [(step.n_pages, step.n_pages_total) for step in steps]
    assert [step.n_bytes for step in steps] == sorted(step.n_bytes for step in steps)
    assert steps[-1].n_bytes > 0


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EFBIG])
def test_where_nothing_can_be_kept_the_place_is_named(
    serve, of_warc, tmp_path, cache, monkeypatch, error
):
    server = serve("wayback")
    n_left = 3

    def sync(_number):
        nonlocal n_left
        n_left -= 1
        if n_left == 0:
            raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(SourceError) as raised:
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    assert f"cannot be kept in {cache}: {os.strerror(error)}; name another" in str(raised.value)
    assert not list(cache.rglob("part"))
    added = cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    assert added.crawl_set.checksum == of_warc.checksum


def test_a_folder_in_which_nothing_can_be_kept_is_named(serve, tmp_path, monkeypatch):
    server = serve("wayback")
    (tmp_path / "file").touch()
    monkeypatch.setenv(cdx_server.CACHE_VARIABLE, str(tmp_path / "file"))
    for word in (query(server), f"cdx+{server.url}/collinfo.json?url=*.iana.org"):
        with pytest.raises(SourceError, match="name another folder by CRAWLGAUGE_CACHE"):
            cg.add_crawl(tmp_path / "store", "2014", word, **QUICK)


@pytest.mark.parametrize("name", ["00001.page", "00001.rows"])
@pytest.mark.parametrize("content", [b"", b"\x1f\x8b", b"[]", None])
def test_a_page_that_was_kept_and_is_damaged_is_fetched_anew(
    serve, of_warc, tmp_path, cache, name, content
):
    server = serve("wayback")
    server.rules = lambda number, _: 429 if number > 4 else None
    with pytest.raises(SourceError, match="refuses"):
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    server.rules = lambda *_: None
    (path,) = cache.rglob(name)
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    if content and name.endswith(".rows"):
        with pytest.raises(SourceError, match="kept is damaged, and is fetched anew if you try"):
            cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    added = cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    assert added.crawl_set.checksum == of_warc.checksum


def test_what_nobody_asked_for_again_is_deleted_after_a_week(serve, tmp_path, cache):
    server = serve("wayback")
    server.rules = lambda number, _: 429 if number > 2 else None
    with pytest.raises(SourceError):
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    (before,) = (path.parent for path in cache.rglob("00000.page"))
    os.utime(before / "00000.page", (time.time() - 8 * 86_400,) * 2)
    server.rules = lambda *_: None
    cg.add_crawl(tmp_path / "store", "2014", query(server, "url=iana.org/*"), **QUICK)
    assert not before.exists()


def test_what_another_process_is_reading_is_not_deleted(serve, of_warc, tmp_path, cache):
    server = serve("wayback")
    server.rules = lambda number, _: 429 if number > 2 else None
    with pytest.raises(SourceError):
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    (page,) = cache.rglob("00000.page")
    os.utime(page, (time.time() - 8 * 86_400,) * 2)
    with (page.parent / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cdx_server.forget_answers(find_inputs([query(server)]).names)
        with pytest.raises(SourceError, match="another process asks the same"):
            cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
        assert page.exists()
    server.rules = lambda *_: None
    added = cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    assert added.crawl_set.checksum == of_warc.checksum


@pytest.mark.parametrize("status", [400, 404, 500])
def test_an_address_that_is_no_cdx_server_is_not_taken_for_damage(serve, tmp_path, status):
    server = serve("wayback")
    server.rules = lambda *_: status
    with pytest.raises(SourceError, match=f"status {status}.*is the address that of") as error:
        cg.add_crawl(tmp_path / "store", "2014", query(server), on_damage="keep", **QUICK)
    assert not isinstance(error.value, DamagedInput)


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_holds_nothing_says_so(serve, tmp_path, kind):
    server = serve(kind)
    with pytest.raises(SourceError, match="the server holds nothing for this query"):
        cg.add_crawl(tmp_path / "store", "2014", query(server, "url=*.nowhere.net"), **QUICK)


# ------------------------------------------------------------------------- rate and interruption


@pytest.mark.parametrize("n_at_once", [1, 3])
def test_there_are_never_more_requests_than_the_rate(serve, tmp_path, n_at_once):
    server = serve("wayback")
    server.rules = FAULTS["broken"]

    def add(number):
        words = f"url=*.iana.org&x={number}"
        cg.add_crawl(tmp_path / f"store-{number}", "2014", query(server, words), rate=600)

    with ThreadPoolExecutor(n_at_once) as pool:
        list(pool.map(add, range(n_at_once)))
    gaps = [after - before for (before, _), (after, _) in itertools.pairwise(server.seen)]
    assert len(gaps) > 10
    assert min(gaps) > 0.09


@pytest.mark.parametrize("kind", PAGED)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_who_is_killed_fetches_only_the_rest(serve, of_warc, tmp_path, cache, kind, how):
    server = serve(kind)
    store = tmp_path / "store"
    words = ["add", "--store", store, "2014", query(server), "--rate"]
    command = [sys.executable, "-m", "crawlgauge", *words, "90"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while len(server.seen) < 5:
        time.sleep(0.01)
        assert process.poll() is None
    process.send_signal(how)
    errors = process.communicate()[1]
    if how == signal.SIGTERM:
        assert "pages kept; the same command fetches only the rest" in errors
    assert not store.exists() or not cg.list_crawls(store)
    n_before = len(server.seen)
    n_kept = len(list(cache.rglob("*.page")))
    assert n_kept >= 3
    command[-1] = "6000"
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{n_kept} of them fetched before" in result.stderr
    assert cg.list_crawls(store)[0].checksum == of_warc.checksum
    name = "resumeKey" if kind == "wayback" else "page"
    again = [asked.get(name) for _, asked in server.seen[n_before:]]
    first = [asked.get(name) for _, asked in server.seen[: n_kept + 1]]
    assert not set(again) & set(first)
    assert "showNumPages" not in server.seen[n_before][1]
    assert [path.name for path in cache.iterdir()] == [f"{server.url[7:].replace(':', '%3A')}.turn"]


def test_pages_of_long_ago_are_fetched_anew(serve, tmp_path, cache):
    server = serve("wayback")
    server.rules = lambda number, _: 429 if number > 3 else None
    with pytest.raises(SourceError):
        cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    for path in cache.rglob("*.page"):
        os.utime(path, (time.time() - 8 * 86_400,) * 2)
    server.rules, n_before = lambda *_: None, len(server.seen)
    cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    assert "showNumPages" in server.seen[n_before][1]


def test_the_same_query_is_not_asked_again_for_a_crawl_that_is_there(serve, tmp_path):
    server = serve("wayback")
    cg.add_crawl(tmp_path / "store", "2014", query(server), **QUICK)
    n_before = len(server.seen)
    assert cg.add_crawl(tmp_path / "store", "2014", query(server)).outcome == "unchanged"
    assert cg.add_crawl(tmp_path / "store", "2014", query(server), append=True).outcome == (
        "unchanged"
    )
    assert len(server.seen) == n_before
    assert cg.add_crawl(
        tmp_path / "store", "2014", query(server), replace=True, **QUICK
    ).outcome == ("replaced")


def test_what_is_secret_in_a_query_is_sent_and_neither_shown_nor_kept(
    serve, tmp_path, cache, caplog
):
    server = serve("wayback")
    server.rules = lambda number, _: 429 if number > 2 else None
    secret = "5d0nt-t3ll"  # noqa: S105 - it is one for the tests
    word = query(server, f"url=*.iana.org&api_key={secret}")
    with caplog.at_level("INFO"), pytest.raises(SourceError) as error:
        cg.add_crawl(tmp_path / "store", "2014", word, **QUICK)
    server.rules = lambda *_: None
    with caplog.at_level("INFO"):
        cg.add_crawl(tmp_path / "store", "2014", word, **QUICK)
    assert set(server.asked("api_key")) == {secret}
    assert secret not in caplog.text + str(error.value)
    written = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    written += [path for path in cache.rglob("*") if path.is_file()]
    assert not [path for path in written if secret.encode() in path.read_bytes()]


# ---------------------------------------------------------------------------------- what is asked


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("url=*.iana.org", "url=iana.org&matchType=domain"),
        ("url=iana.org/*", "url=iana.org/&matchType=prefix"),
        ("url=iana.org&matchType=host", "url=iana.org&matchType=host"),
        ("url=iana.org&output=text&fl=original&from=2014", "url=iana.org&from=2014"),
        ("url=http%3A%2F%2Fiana.org%2F%3Fa%26b&filter=!status:404", None),
    ],
)
def test_a_query_is_shown_as_it_is_asked(words, asked):
    (name,) = find_inputs([f"cdx+https://example.net/cdx?{words}"]).names
    expected = asked or "url=http://iana.org/%3Fa%26b&filter=!status:404"
    assert name == f"cdx+https://example.net/cdx?{expected}"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("cdx+https://example.net/cdx?url=a.org&limit=5", "leave out limit="),
        ("cdx+https://example.net/cdx?url=a.org&page=5", "leave out page="),
        ("cdx+https://example.net/cdx", "add \\?url="),
        ("cdx+s3://bucket/a", "stands before https://"),
        ("cdx+https://me:secret@example.net/cdx?url=a.org", "holds a user name or a password"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused(word, message):
    with pytest.raises(SourceError, match=message):
        find_inputs([word])


def test_collections_that_a_server_lists_are_crawls(serve, of_warc, tmp_path):
    server = serve("pywb")
    ids = ("CC-MAIN-2023-40", "CC-MAIN-2023-50", "CC-MAIN-2024-10")
    listed = [{"id": name, "cdx-api": f"{server.url}/{name}-index"} for name in ids]
    server.others["/collinfo.json"] = json.dumps(listed).encode()
    word = f"cdx+{server.url}/collinfo.json?url=*.iana.org"
    result = cg.split_collection(tmp_path / "store", word, period="collection", **QUICK)
    assert [item.crawl_set.crawl.label for item in result.additions] == list(ids)
    assert {item.crawl_set.checksum for item in result.additions} == {of_warc.checksum}
    n_before = len(server.seen)
    again = cg.split_collection(tmp_path / "store", word, period="collection", **QUICK)
    assert {item.outcome for item in again.additions} == {"unchanged"}
    assert len(server.seen) == n_before + 1
    assert cg.add_crawl(tmp_path / "other", "all", word, **QUICK).crawl_set.checksum == (
        of_warc.checksum
    )


def test_a_list_of_collections_leads_to_no_other_server(serve, tmp_path):
    server = serve("pywb")
    listed = [{"id": "one", "cdx-api": "https://example.net/one-index"}]
    server.others["/collinfo.json"] = json.dumps(listed).encode()
    word = f"cdx+{server.url}/collinfo.json?url=*.iana.org"
    with pytest.raises(SourceError, match=r"served elsewhere, at example\.net") as error:
        cg.split_collection(tmp_path / "store", f"{word}&token=x7f", period="collection", **QUICK)
    assert "x7f" not in str(error.value)
    server.others["/collinfo.json"] = b"[1]"
    with pytest.raises(SourceError, match="is no list of collections"):
        cg.split_collection(tmp_path / "store", word, period="collection", **QUICK)


def test_only_lists_of_servers_are_cut_by_collection(tmp_path):
    with pytest.raises(SourceError, match="only what a server lists is cut by collection"):
        cg.split_collection(tmp_path / "store", "a.cdx", period="collection")


def test_pages_that_were_saved_and_put_together_are_whole(serve, of_warc, tmp_path):
    server = serve("wayback")
    asked = {"url": "iana.org", "matchType": "domain", "fl": "timestamp,original,statuscode"}
    asked |= {"output": "json", "showResumeKey": "true"}
    pages = []
    while True:
        pages.append(server._wayback(asked, None)[1])
        rows = json.loads(pages[-1])
        if rows[-2]:
            break
        asked["resumeKey"] = rows[-1][0]
    path = tmp_path / "saved.json.gz"
    path.write_bytes(gzip.compress(b"".join(pages)))
    added = cg.add_crawl(tmp_path / "store", "2014", path)
    assert added.crawl_set.checksum == of_warc.checksum
    path.write_bytes(gzip.compress(b"".join(pages[:-1])))
    with pytest.raises(DamagedInput, match="ends with a resume key"):
        cg.add_crawl(tmp_path / "store", "cut", path)


ROW = "org,a)/ 20200101000000 http://a.org/ text/html 200 ABC 12\n"
KEY = "\norg%2Ca%29%2F+20200101000000%21\n"
WARNING = "warning: output may be incomplete, error occurred processing captures\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW + KEY, "ends with a resume key"),
        ("http://a.org/\n" + KEY, "ends with a resume key"),
        (ROW + WARNING, "says that it may be incomplete"),
        ('org,a)/ 20200101000000 {"url": "http://a.org/"}\n' + WARNING, "may be incomplete"),
    ],
)
def test_lines_that_were_saved_tell_that_they_are_not_all(tmp_path, text, message):
    path = tmp_path / "saved"
    path.write_text(text)
    with pytest.raises(DamagedInput, match=message):
        cg.add_crawl(tmp_path / "store", "2020-01", path)
    kept = cg.add_crawl(tmp_path / "store", "2020-01", path, on_damage="keep").crawl_set
    assert (kept.crawl.n_urls, kept.crawl.damaged, kept.rejected) == (1, True, {})
    # Where the rows that the key leads to follow, all is there.
    path.write_text(text.removesuffix(WARNING) + ROW.replace("/a.org", "/b.org"))
    if text.startswith(ROW):
        assert cg.add_crawl(tmp_path / "store", "2020-02", path).crawl_set.crawl.n_urls == 2
