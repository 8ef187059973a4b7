"""The kernel finds the cells that a plain reading of the rules finds, on any bytes."""

import re

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from crawlgauge.sources.csv_kernel import (
    BAD_QUOTES,
    TOO_FEW_CELLS,
    UNCLOSED_QUOTE,
    find_cells,
)
from crawlgauge.sources.line_kernel import ACCEPTED, SKIPPED, TOO_LONG
from crawlgauge.sources.lines import Lines
from crawlgauge.sources.record_kernel import GROUP, N_FIELDS, STATUS, URL

SPACES = b" \t\n\v\f\r"
QUOTED = re.compile(rb' *"((?:[^"]|"")*+)(")?')
COLUMNS = {URL: 1, STATUS: 0, GROUP: 1}


def find(data, *, delimiter=b",", longest=1 << 20, trusted=0, is_end=True):
    """Return verdicts and cells by line, how many lines are done and what is trusted."""
    block = np.frombuffer(bytearray(data), dtype=np.uint8)
    n_lines = data.count(b"\n") + (not data.endswith(b"\n"))
    ends = Lines(data=data, place=0, n_lines=n_lines, n_before=0).find_ends()
    wanted = np.array([1 << STATUS, 1 << URL | 1 << GROUP], dtype=np.uint8)
    spans = np.zeros((ends.size, N_FIELDS, 2), dtype=np.int32)
    verdicts = np.full(ends.size, 99, dtype=np.uint8)
    bounds = np.zeros((ends.size, 2), dtype=np.int64)
    url_column = COLUMNS[URL]
    done, trusted = find_cells(
        block, ends, delimiter[0], wanted, url_column, longest, trusted, is_end, spans, verdicts,
        bounds,
    )  # fmt: skip
    cells = [
        {
            field: block[first:last].tobytes()
            for field, (first, last) in enumerate(spans[line].tolist())
            if first >= 0
        }
        for line in range(done)
        if verdicts[line] == ACCEPTED
    ]
    return verdicts[:done].tolist(), cells, done, trusted


def plain(data, *, delimiter=b",", longest=1 << 20, is_end=True):
    """Read rows with regular expressions, as the kernel's documentation has it."""
    verdicts, found = [], []
    place = trusted = 0
    while place < len(data):
        verdict, cells, end, reached = plain_row(data, place, delimiter, longest, place >= trusted)
        if verdict == "goes on" and not is_end:
            break
        if verdict in {BAD_QUOTES, UNCLOSED_QUOTE, "goes on"}:
            verdict = UNCLOSED_QUOTE if verdict == "goes on" else verdict
            trusted, end = max(trusted, reached), line_end(data, place)
        verdicts += [verdict] + [SKIPPED] * data.count(b"\n", place, end)
        if verdict == ACCEPTED:
            trimmed = {field: cells[at].strip(SPACES) for field, at in COLUMNS.items()}
            found.append(
                {field: cell for field, cell in trimmed.items() if cell not in (b"", b"-")}
            )
        place = end + 1
    return verdicts, found, len(verdicts)


def plain_row(data, start, delimiter, longest, may_go_on):
    end = place = line_end(data, start)
    if end - start > longest:
        return TOO_LONG, [], end, end
    if not data[start:end].strip(SPACES):
        return SKIPPED, [], end, end
    place, cells = start, []
    while True:
        match = QUOTED.match(data, place)
        if match is None:
            end = line_end(data, place)
            last = data.find(delimiter, place, end)
            last = end if last < 0 else last
            cells.append(data[place:last])
        else:
            verdict, last = plain_quoted(data, start, match, delimiter, longest, may_go_on)
            if verdict != ACCEPTED:
                return verdict, [], end, last
            end = line_end(data, match.end())
            cells.append(match[1].replace(b'""', b'"'))
        if last == end:
            break
        place = last + 1
    return (ACCEPTED if len(cells) > COLUMNS[URL] else TOO_FEW_CELLS), cells, end, end


def plain_quoted(data, start, match, delimiter, longest, may_go_on):
    """Return the verdict on a quoted cell, and the end of what was looked at for it."""
    for newline in re.finditer(b"\n", data[match.start(1) : match.end(1)]):
        place = match.start(1) + newline.start()
        if not may_go_on:
            return UNCLOSED_QUOTE, place
        if place + 1 == len(data):
            return "goes on", place
        if line_end(data, place + 1) - start > longest:
            return UNCLOSED_QUOTE, place
    if match[2] is None:
        return ("goes on" if may_go_on else UNCLOSED_QUOTE), len(data)
    after = re.compile(b"[" + SPACES.replace(b"\n", b"").replace(delimiter, b"") + b"]*")
    last = after.match(data, match.end()).end()
    if last == len(data) or data[last : last + 1] in (delimiter, b"\n"):
        return ACCEPTED, last
    return BAD_QUOTES, match.end() - 1


def line_end(data, place):
    end = data.find(b"\n", place)
    return len(data) if end < 0 else end


TOKENS = [b'"', b'""', b",", b";", b"\t", b"\n", b"\r\n", b" ", b"-", b"a", b"\xff", b"\0"]
TEXT = st.lists(st.sampled_from(TOKENS), max_size=40).map(b"".join)


@hypothesis.settings(max_examples=500)
@hypothesis.given(
    data=TEXT,
    delimiter=st.sampled_from([b",", b"\t", b";", b"\n"]),
    longest=st.sampled_from([5, 12, 1000]),
    is_end=st.booleans(),
)
def test_the_kernel_reads_as_its_plain_twin(data, delimiter, longest, is_end):
    hypothesis.assume(data)
    verdicts, cells, done, _ = find(data, delimiter=delimiter, longest=longest, is_end=is_end)
    expected = plain(data, delimiter=delimiter, longest=longest, is_end=is_end)
    assert (verdicts, cells, done) == expected


@hypothesis.given(data=st.binary(min_size=1, max_size=200), trusted=st.integers(0, 300))
def test_any_bytes_are_read_without_harm(data, trusted):
    verdicts, _, done, _ = find(data, trusted=trusted)
    assert done == len(verdicts) == data.count(b"\n") + (not data.endswith(b"\n"))


def test_a_row_that_goes_on_waits_for_more():
    verdicts, _, done, trusted = find(b'1,http://a/\n2,"http\n', is_end=False)
    assert (verdicts, done, trusted) == ([ACCEPTED], 1, 0)


@pytest.mark.parametrize("gap", [b"", b" ", b"  "])
def test_spaces_between_quotes_and_delimiters_do_not_matter(gap):
    _, cells, _, _ = find(gap + b'"1"' + gap + b"," + gap + b'"a,""b"""' + gap + b",x\n")
    assert cells == [{STATUS: b"1", URL: b'a,"b"', GROUP: b'a,"b"'}]


def test_what_was_looked_at_in_vain_is_read_line_by_line():
    verdicts, cells, _, _ = find(b'1,"open\n2,"a\nb"\n3,c\n')
    assert verdicts == [BAD_QUOTES, UNCLOSED_QUOTE, TOO_FEW_CELLS, ACCEPTED]
    assert cells == [{STATUS: b"3", URL: b"c", GROUP: b"c"}]
