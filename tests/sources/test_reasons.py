"""Why records are left out is said in words, whatever the reason."""

import re
from pathlib import Path

import crawlgauge
from crawlgauge.core.captures import REASONS
from crawlgauge.report.crawls import _REASONS, list_reasons

ROOT = Path(crawlgauge.__file__).parent
NAMED = re.compile(
    r"""(?:return|reason(?::\ [a-z |]+)?\ =)[ ]"([a-z]+(?:-[a-z]+)+)"|  # why a record is rejected
        \b(?:reject|exclude|show)\("([^"]+)"                          # or left out
    """,
    re.VERBOSE,
)


def sources_of(*folders):
    paths = [path for folder in folders for path in (ROOT / folder).glob("*.py*")]
    return [path.read_text("utf-8") for path in paths if path.suffix in (".py", ".pyx")]


def test_each_reason_that_is_named_where_records_are_left_out_has_words():
    texts = sources_of("sources", "ingest")
    found = {name for text in texts for match in NAMED.findall(text) for name in match if name}
    assert len(found) > 12
    assert found | {*REASONS} - {""} <= _REASONS.keys()


def test_no_words_are_left_of_reasons_that_are_gone():
    text = "".join(sources_of("core", "sources", "ingest"))
    assert [reason for reason in _REASONS if f'"{reason}"' not in text] == []


def test_words_follow_the_number():
    assert list_reasons({"bad-json": 2, "warcinfo": 1}) == (
        "2 with broken JSON, 1 describing a WARC file"
    )
