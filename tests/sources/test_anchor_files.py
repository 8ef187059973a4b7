"""Sitemaps, access logs and crawlers' queues: whole, broken and hostile."""

import csv
import gzip
import re
import resource
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from crawlgauge.core.captures import hash_text
from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.keys.rules import RAW
from crawlgauge.sources.frontier import read_frontier
from crawlgauge.sources.inputs import InputFiles, find_inputs
from crawlgauge.sources.reading import read_inputs
from crawlgauge.sources.what_counts import Settings

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


class Target:
    key_threshold = 1 << 64
    row_threshold = 1

    def __init__(self):
        self.keys, self.left_out = set(), Counter()

    def add(self, captures):
        self.keys.update(captures.keys.tolist())
        self.left_out.update(captures.rejected)
        self.left_out.update(captures.excluded)


def read(*words, **wishes):
    target = Target()
    files = words[0] if isinstance(words[0], InputFiles) else find_inputs(map(str, words))
    result = read_inputs(files, Settings(key_rule=RAW, **wishes), target, n_threads=0)
    return target, result


def keys(*urls):
    return {hash_text(url.encode()) for url in urls}


def sitemap(*urls, root=f"urlset {NAMESPACE}"):
    entries = "".join(
        f"<url><loc>\n {url} </loc><lastmod>2021-01-01</lastmod></url>" for url in urls
    )
    return f"{HEAD}<{root}>{entries}</{root.split()[0]}>"


def index(*addresses):
    entries = "".join(f"<sitemap><loc>{address}</loc></sitemap>" for address in addresses)
    return f"{HEAD}<sitemapindex {NAMESPACE}>{entries}</sitemapindex>"


# ------------------------------------------------------------------------------------- sitemaps


def test_a_sitemap_lists_the_urls_of_its_host(tmp_path):
    path = tmp_path / "sitemap.xml"
    path.write_text(sitemap("https://a.org/x?y=1&amp;z=2", "https://a.org/ä", "https://a.org/x"))
    found, _ = read(path)
    assert found.keys == keys("https://a.org/x?y=1&z=2", "https://a.org/ä", "https://a.org/x")
    path.with_suffix(".gz").write_bytes(gzip.compress(path.read_bytes()))
    assert read(path.with_suffix(".gz"))[0].keys == found.keys


def test_prefixes_and_images_are_told_from_entries(tmp_path):
    path = tmp_path / "sitemap.xml"
    path.write_text(
        f'{HEAD}<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9" '
        'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><s:url>'
        "<s:loc><![CDATA[https://a.org/a?b&c]]></s:loc>"
        "<image:image><image:loc>https://a.org/i.png</image:loc></image:image>"
        "</s:url></s:urlset>"
    )
    assert read(path)[0].keys == keys("https://a.org/a?b&c")


def test_relative_and_foreign_urls_are_counted(tmp_path):
    path = tmp_path / "sitemap.xml"
    path.write_text(sitemap("https://a.org/1", "/2", "https://www.a.org/3", "https://b.org/4", ""))
    found, result = read(path)
    assert found.keys == keys("https://a.org/1", "https://www.a.org/3")
    assert found.left_out == {"no-absolute-url": 2, "foreign-host": 1}
    assert {one.reason for one in result.examples} == {"no-absolute-url", "foreign-host"}


def test_an_index_leads_to_files_beside_it(tmp_path):
    (tmp_path / "index.xml").write_text(index("https://a.org/1.xml", "https://a.org/x/2.xml.gz"))
    (tmp_path / "1.xml").write_text(sitemap("https://a.org/1"))
    (tmp_path / "2.xml.gz").write_bytes(gzip.compress(sitemap("https://a.org/2").encode()))
    found, result = read(tmp_path / "index.xml")
    assert found.keys == keys("https://a.org/1", "https://a.org/2")
    assert [item.through is None for item in result.inputs].count(True) == 1


def test_an_index_leads_to_addresses(tmp_path):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            here = f"http://127.0.0.1:{self.server.server_port}"
            text = index(f"{here}/1.xml") if self.path == "/i.xml" else sitemap(f"{here}/page")
            self.send_response(200)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def do_HEAD(self):
            self.do_GET()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        here = f"http://127.0.0.1:{server.server_port}"
        (tmp_path / "index.xml").write_text(index(f"{here}/1.xml"))
        assert read(tmp_path / "index.xml")[0].keys == keys(f"{here}/page")
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (index("https://a.org/1.xml", "https://b.org/2.xml"), "another host"),
        (index("file:///etc/passwd"), "no address"),
        (index("../2.xml"), "no address"),
        (
            '<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>&a;</loc></url></urlset>',
            "document type",
        ),
        ("<urlset>" + "<a>" * 40 + "</a>" * 40 + "</urlset>", "nested"),
    ],
)
def test_hostile_sitemaps_are_refused(tmp_path, text, says):
    (tmp_path / "s.xml").write_text(text)
    with pytest.raises(SourceError, match=says):
        read(tmp_path / "s.xml")


def test_an_index_leads_to_no_further_index(tmp_path):
    (tmp_path / "a.xml").write_text(index("https://a.org/b.xml"))
    (tmp_path / "b.xml").write_text(index("https://a.org/a.xml"))
    with pytest.raises(SourceError, match="another index leads to"):
        read(tmp_path / "a.xml")


def test_a_bomb_of_entities_is_refused_before_it_grows(tmp_path):
    levels = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    body = "<urlset><url><loc>&a9;</loc></url></urlset>"
    text = f'{HEAD}<!DOCTYPE urlset [<!ENTITY a0 "x">{levels}]>{body}'
    (tmp_path / "s.xml").write_text(text)
    with pytest.raises(SourceError, match="document type"):
        read(tmp_path / "s.xml")


@pytest.mark.parametrize("opens", ["<!-- ", '<url a="', "<url><loc>"])
def test_what_never_ends_takes_no_memory(tmp_path, opens):
    path = tmp_path / "s.xml.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(f"{HEAD}<urlset>{opens}".encode())
        for _ in range(200):
            file.write(b"x" * (1 << 20))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises((SourceError, DamagedInput)):
        read(path, max_expansion=1e6)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_a_cut_sitemap_is_damage_and_what_stands_before_is_kept_on_demand(tmp_path):
    path = tmp_path / "s.xml"
    path.write_text(sitemap("https://a.org/1", "https://a.org/2")[:-40])
    with pytest.raises(DamagedInput, match="well-formed"):
        read(path)
    found, result = read(path, keep_damaged=True)
    assert keys("https://a.org/1") <= found.keys
    assert len(result.damages) == 1


# ----------------------------------------------------------------------------------- access logs

LOG = """\
192.0.2.1 - - [10/Oct/2021:13:55:36 +0200] "GET /a HTTP/1.1" 200 2326
192.0.2.1 - - [10/Oct/2021:13:55:37 +0200] "GET /b?c=\\"d\\" HTTP/1.1" 304 - "-" "Mozilla/5.0"
192.0.2.1 - ann [10/Oct/2021:13:55:38 +0200] "POST /form HTTP/1.1" 200 12 "-" "Mozilla/5.0"
192.0.2.1 - - [10/Oct/2021:13:55:38 +0200] "GET /gone HTTP/1.1" 404 12 "-" "Mozilla/5.0"
192.0.2.9 - - [10/Oct/2021:13:55:39 +0200] "GET /own HTTP/1.1" 200 12 "-" "heritrix/3.4"
192.0.2.1 - - [10/Oct/2021:13:55:40 +0200] "\\x16\\x03\\x01" 400 226
192.0.2.1 - - [10/Oct/2021:13:55:40 +0200] "GET /cut HT
"""


def test_successful_gets_of_others_are_the_urls_of_a_site(tmp_path):
    path = tmp_path / "access.log"
    path.write_text(LOG)
    found, _ = read(path, site="https://www.a.org/", own_agents=("heritrix",))
    assert found.keys == keys("https://www.a.org/a", 'https://www.a.org/b?c="d"')
    assert found.left_out == {
        "method": 1,
        "error": 1,
        "own-crawler": 1,
        "no-request": 1,
        "not-a-log-line": 1,
    }


def test_lines_may_name_their_host(tmp_path):
    (tmp_path / "access.log").write_text(
        'www.a.org:80 192.0.2.1 - - [10/Oct/2021:13:55:36 +0200] "GET /a HTTP/1.1" 200 2 "-" "x"\n'
    )
    assert read(tmp_path / "access.log")[0].keys == keys("http://www.a.org:80/a")


def test_a_log_whose_host_nobody_names_is_refused(tmp_path):
    (tmp_path / "access.log").write_text(LOG)
    with pytest.raises(SourceError, match="--site"):
        read(tmp_path / "access.log")


# --------------------------------------------------------------------------------------- queues


@pytest.mark.parametrize(
    ("text", "n_urls", "is_all_known"),
    [
        ("1_200_000\n", 1_200_000, False),
        (
            (
                "[#urls] [#bytes] [host] [#robots] [#remaining] [#novel-urls]\n"
                "3 1793 a.org 0 40 3\n1 57 dns: 0 5 1\n2 9 b.org 0 2 2\nbroken\n"
            ),
            42,
            False,
        ),
        ("[#urls] [#bytes] [host] [#robots] [#remaining]\n3 17 a.org 0 7\n", 7, False),
        (
            (
                "Frontier report - 202003040557\n Job being crawled: basic\n\n"
                " -----===== STATS =====-----\n Discovered:    642\n Queued:        30\n"
                " Finished:      612\n"
            ),
            30,
            False,
        ),
        (
            (
                '{"format":"json-pages-1.0","id":"pages","title":"Skipped"}\n'
                '{"url":"https://a.org/1","reason":"pageLimit","depth":2}\n'
                '{"url":"https://a.org/1","reason":"pageLimit","depth":3}\n'
                '{"url":"https://b.org/","reason":"outOfScope","depth":1}\n{"url": '
            ),
            1,
            False,
        ),
        ("id,status,discovered_count,queued_count\n247905,FINISHED,3078,2061\n", 2061, False),
        (
            (
                "label,urls,db_fetched,db_notmodified,db_unfetched\n"
                "2021-06,5,100,10,1000\n2021-12,5,200,20,2000\n"
            ),
            2220,
            True,
        ),
    ],
)
def test_each_report_of_a_queue_is_read(tmp_path, text, n_urls, is_all_known):
    (tmp_path / "report").write_text(text)
    found = read_frontier(str(tmp_path / "report"), "2021-12")
    assert (found.n_urls, found.is_all_known) == (n_urls, is_all_known)


def test_what_tells_of_no_queue_is_refused(tmp_path):
    for text in ("https://a.org/\n", "a,b\n1,2\n", '{"url": "x"}\n', "", "\xff\xfe"):
        (tmp_path / "report").write_text(text, encoding="latin-1")
        with pytest.raises(SourceError):
            read_frontier(str(tmp_path / "report"), "2021-12")
    (tmp_path / "report").write_text("label,queued_count\nx,1\ny,2\n")
    with pytest.raises(SourceError, match="tells nothing of 2021-12"):
        read_frontier(str(tmp_path / "report"), "2021-12")


def test_the_states_of_common_crawls_database_give_the_bounds_that_the_page_tells():
    folder = Path(__file__).parents[2] / "docs" / "study"
    told = re.findall(
        r"\| (CC-MAIN-\S+) \|.*\| \*\*([\d.]+) %\*\* \|",
        (folder / "common-crawl.md").read_text(encoding="utf-8"),
    )
    table = folder / "common-crawl-crawldb.csv"
    with table.open(newline="") as file:
        n_urls = {row["label"]: int(row["urls"]) for row in csv.DictReader(file)}
    assert len(told) == 3
    for label, most in told:
        found = read_frontier(str(table), label)
        assert found.is_all_known
        assert f"{100 * n_urls[label] / found.n_urls:.1f}" == most
