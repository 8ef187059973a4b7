"""Whatever is parsed, hostile text ends in an error that says so, or is understood."""

import random

import pytest
from hostile_files import _change
from parsers import PARSERS

from amounts import TIMES
from crawlgauge.errors import CrawlgaugeError, printable_lines


@pytest.mark.parametrize("kind", PARSERS)
@pytest.mark.parametrize("n_times", [60, pytest.param(round(1500 * TIMES), marks=pytest.mark.slow)])
def test_hostile_text_is_understood_or_refused(tmp_path, kind, n_times):
    data, parse = PARSERS[kind]
    rng = random.Random(f"{kind}-{n_times}")
    for _ in range(n_times):
        hostile = _change(data, rng, rng.choice((1, 1, 2, 4)))[:100_000]
        try:
            parse(hostile, tmp_path)
        except CrawlgaugeError as error:
            # What is printed of it can be written as UTF-8.
            printable_lines(str(error)).encode()
        except Exception as error:
            error.add_note(f"{kind}: {hostile[:500]!r}")
            raise
