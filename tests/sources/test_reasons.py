"""Why records are left out is said in words, whatever the reason."""

import importlib
import pkgutil
import re
from pathlib import Path

import crawlgauge
from crawlgauge import sources
from crawlgauge.report.crawls_text import _REASONS, list_reasons

ROOT = Path(crawlgauge.__file__).parent
NAMED = re.compile(
    r"""leave_out\(\s*"([^"]+)"|              # what does not count
        \bAssignment\([^)]*reason="([^"]+)"|  # what belongs to no crawl
        excluded,\s*"([^"]+)":|              # what is out of scope
        \bContentKeys\([^)]*reason="([^"]+)"  # what has no content or text
    """,
    re.VERBOSE,
)


def reasons_of_readers():
    """Return the reasons in the tables of verdicts that the readers have."""
    found = set()
    for entry in pkgutil.iter_modules(sources.__path__):
        module = importlib.import_module(f"crawlgauge.sources.{entry.name}")
        for table in ("_REJECTED", "_EXCLUDED"):
            found.update(getattr(module, table, {}).values())
    return found


def reasons_in_the_text():
    """Return the reasons that are named where captures are left out."""
    texts = [path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py")]
    return {name for text in texts for match in NAMED.findall(text) for name in match if name}


def test_each_reason_has_words():
    assert reasons_of_readers() | reasons_in_the_text() == set(_REASONS)


def test_no_reader_hands_over_a_table_that_this_test_does_not_see():
    for path in (ROOT / "sources").glob("*.py"):
        for table in re.findall(r"(?:rejected|excluded)=(\{[^}\n]+)", path.read_text("utf-8")):
            assert " for " in table, f"{path.name}: {table}"


def test_words_follow_the_number():
    assert list_reasons({"bad-json": 2, "warcinfo": 1}) == (
        "2 with broken JSON, 1 describing a WARC file"
    )
