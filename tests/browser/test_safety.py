"""The page connects to nothing, complains of nothing, and takes hostile names for what they are."""

import csv
import io
import json

import pytest

from crawlgauge.provenance import Input, Provenance

LABELS = (
    "<script>hacked=1</script>",
    '"onload="hacked=1',
    "</script><img src=x onerror=hacked=1>",
    "javascript:hacked=1",
    "a\u202egpj.exe\u202c",
    "\x1b[31mred\x1b[0m",
    "=cmd|' /C calc'!A0",
)


def test_the_page_asks_for_nothing_but_itself_and_complains_of_nothing(opened, report):
    assert opened.requests == [report.path.as_uri()]
    assert opened.complaints == []


def test_scripts_that_are_not_the_pages_own_do_not_run(opened):
    page = opened.page
    with page.expect_event("requestfailed") as failed:
        page.evaluate(
            """() => {
            const script = document.createElement("script");
            script.textContent = "window.hacked = 1";
            document.body.append(script);
            const image = document.createElement("img");
            image.setAttribute("onerror", "window.hacked = 1");
            image.src = "data:image/png;base64,none";
            document.body.append(image);
            const fetched = document.createElement("img");
            fetched.src = "http://example.org/beacon.png";
            document.body.append(fetched);
        }"""
        )
    assert (failed.value.url, failed.value.failure) == ("http://example.org/beacon.png", "csp")
    assert page.evaluate("() => window.hacked === undefined")
    assert sum("Content Security Policy" in complaint for complaint in opened.complaints) == 3


@pytest.fixture
def hostile(write_renamed):
    provenance = Provenance(
        created="<b>now</b>",
        settings={"</script><script>hacked=1</script>": "\u202e<img src=x onerror=hacked=1>"},
        inputs=(Input(name="\x1b]0;title\x07=cmd()<script>hacked=1</script>", checksum="x:<i>"),),
    )
    return write_renamed(LABELS, provenance)


def test_hostile_names_are_shown_and_do_nothing(open_page, hostile):
    opened = open_page(hostile.path)
    page = opened.page
    assert opened.complaints == []
    assert opened.requests == [hostile.path.as_uri()]
    assert page.evaluate("() => window.hacked === undefined")
    shown = page.locator("#table-crawls tbody th").all_inner_texts()[::-1]
    assert shown[:4] == list(LABELS[:4])
    assert shown[4:7] == [
        "a\\u202egpj.exe\\u202c",
        "\\u001b[31mred\\u001b[0m",
        "=cmd|' /C calc'!A0",
    ]
    assert opened.count("#methods script, #methods img, #methods b, #methods i") == 0
    text = page.locator("#methods").inner_text()
    assert "</script><script>hacked=1</script> = \\u202e<img src=x onerror=hacked=1>" in text
    # Every live chart still draws, and choosing such a crawl works.
    page.select_option("#choice", LABELS[0])
    assert opened.count("#table-crawls tr.chosen") == 1
    captions = "".join(page.locator("figcaption, h2, h3, p").all_inner_texts())
    assert not set(captions) & {"\x1b", "\u202e", "\u202c"}


def test_hostile_names_are_harmless_in_downloads(open_page, hostile):
    page = open_page(hostile.path, accept_downloads=True).page
    with page.expect_download() as download:
        page.click("#methods [data-download=crawls]")
    text = download.value.path().read_text(encoding="utf-8")
    labels = [row["label"] for row in csv.DictReader(io.StringIO(text, newline=""))]
    assert labels == [*LABELS[:6], f"'{LABELS[6]}"]
    with page.expect_download() as download:
        page.click("#methods [data-download=estimate]")
    assert json.loads(download.value.path().read_text(encoding="utf-8")) == hostile.document


def test_names_that_scripts_know_are_names_like_any_other(open_page, write_renamed):
    labels = ("constructor", "toString", "hasOwnProperty", "valueOf", "length", "null", "NaN")
    report = write_renamed(labels, Provenance())
    opened = open_page(report.path)
    assert opened.complaints == []
    for label in labels:
        opened.page.select_option("#choice", label)
        assert opened.count("#table-crawls tr.chosen") == 1
