"""Members of JSON objects: the compiled kernel against Python's own parser, on any bytes."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.sources import json_kernel
from crawlgauge.sources.json_kernel import MISSING, NUMBER, OTHER, STRING
from crawlgauge.sources.json_members import find_members, parse_members

NAMES = [b"url", b"status", b"mime", b"u"]
PIECES = [
    *(b'"url"', b'"status"', b'"u"', b'"mime-detected"', b'"', b'"', b":", b":", b",", b",", b": "),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b"{}",
        b"[]",
        b"\\",
        b'\\"',
        b"\\u00e4",
        b"\\ud83d\\ude00",
        b"\\ud83d",
    ),
    *(
        b"\\n",
        b"\\/",
        b"\\x",
        b"\\u12",
        b"true",
        b"false",
        b"null",
        b"nul",
        b"0",
        b"-",
        b"12",
        b"1.5",
    ),
    *(b"e+3", b"E", b".", b"01", b"NaN", b" ", b"\t", b"\r", b"\x00", b"\x1f", b"\x7f", b"\xff"),
    *(
        b'"a":"b"',
        b'"url":"http://a.org/"',
        b'"status":200',
        b'"u":{"url":[1,{"u":2}]}',
        b"\xc3\xa4",
    ),
]
hostile = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=2)), max_size=14)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
member_names = st.one_of(st.sampled_from(["url", "status", "mime", "u"]), st.text(max_size=4))


def find_one(text, names=NAMES, before=b"", after=b""):
    """Return kinds and values that are found in a text with other bytes around it."""
    bounds = np.array([[len(before), len(before) + len(text)]])
    found = find_members(before + text + after, bounds, names)
    if not found.is_object[0]:
        return None
    return [
        (kind, None if start < 0 else found.data[start:end].tobytes())
        for kind, (start, end) in zip(found.kinds[0].tolist(), found.spans[0].tolist(), strict=True)
    ]


def is_sure(text):
    """Tell whether the kernel alone understands a text."""
    answer = np.zeros(1, dtype=np.bool_)
    json_kernel.find_members(
        np.frombuffer(text, dtype=np.uint8),
        np.array([[0, len(text)]]),
        np.frombuffer(b"url", dtype=np.uint8),
        np.array([3]),
        np.empty((1, 1, 2), dtype=np.int32),
        np.empty((1, 1), dtype=np.uint8),
        answer,
    )
    return bool(answer[0])


@given(pieces=hostile, is_closed=st.booleans())
@settings(max_examples=1500)
def test_any_bytes_are_read_as_pythons_parser_reads_them(pieces, is_closed):
    text = b"".join([b"{", *pieces, b"}"]) if is_closed else b"".join(pieces)
    expected = parse_members(text, NAMES)
    assert find_one(text) == expected
    # What follows must not be looked at, what precedes must not matter.
    assert find_one(text, before=b'"url', after=b'":1}"},') == expected


@given(
    members=st.lists(st.tuples(member_names, values), max_size=5),
    is_ascii=st.booleans(),
    separators=st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", "\n:\r")]),
)
@settings(max_examples=800)
def test_what_json_writes_is_found_as_it_was_given(members, is_ascii, separators):
    def dump(value):
        return json.dumps(value, ensure_ascii=is_ascii, separators=separators)

    comma, colon = separators
    text = comma.join(f"{dump(name)}{colon}{dump(value)}" for name, value in members)
    wanted = ["url", "status", "mime", "u"]
    expected = [describe(dict(members).get(name), dump) for name in wanted]
    assert find_one(f"{{{text}}}".encode("utf-8", "surrogatepass")) == expected


def describe(value, dump):
    if value is None:
        return MISSING, None
    if isinstance(value, str):
        return STRING, value.encode()
    if isinstance(value, bool | list | dict):
        return OTHER, None
    return NUMBER, dump(value).encode()


@pytest.mark.parametrize(
    ("text", "url", "status"),
    [
        (rb'{"url": "http:\/\/a.org\/"}', b"http://a.org/", None),
        (rb'{"\u0075rl": "a", "status": "20\u0030"}', b"a", b"200"),
        (b'{"url": "a", "status": 200, "url": "b"}', b"b", b"200"),
        (b'{"url": "a", "url": null}', None, None),
        (b'{"x": {"url": "a"}, "y": [{"url": "b"}], "url": "c"}', b"c", None),
        (rb'{"x": "\"url\": \"a\"", "url": "c\\"}', b"c\\", None),
        (b'{"url": "http://a.org/\xe4"}', b"http://a.org/\xe4", None),
        (b'{"url": "\xe4\\u00e4"}', b"\xe4\xc3\xa4", None),
        (
            rb'{"url": "\ud83d\ude00 \ud83d"}',
            "\N{GRINNING FACE} \N{REPLACEMENT CHARACTER}".encode(),
            None,
        ),
        (b'{"url": ["a"], "status": true}', None, None),
        (b'{"url": "", "status": -5}', b"", b"-5"),
        (b'{"url": "a", "n": NaN}', b"a", None),
        (b' {"url": "a"}\r', b"a", None),
    ],
)
def test_escapes_nesting_repetition_and_odd_values_give_what_is_meant(text, url, status):
    (_, found_url), (_, found_status) = find_one(text, [b"url", b"status"])
    assert (found_url, found_status) == (url, status)


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"{", b"[]", b'"url"', b"{}{}", b'{"url": "a"', b'{"url": "a}', b'{"url" "a"}'),
        *(b'{"url": "a",}', b'{"url": 01}', b'{"url": "a\x01"}', b'{"x": "\\q"}', b'{"x": [1}'),
        *(b"{'url': 'a'}", b'{"x": tru}', b'{"x": 1 2}', b'{"x": "\\u12g4"}', b'{"x": -}'),
    ],
)
def test_what_is_no_object_is_told(text):
    assert find_one(text) is None


@pytest.mark.parametrize("n_levels", [59, 60, 61, 500, 200_000])
def test_deep_nesting_is_read_or_refused_but_never_breaks(n_levels):
    text = b'{"x": ' + b"[" * n_levels + b"]" * n_levels + b', "url": "a"}'
    found = find_one(text, [b"url"])
    assert found == ([(STRING, b"a")] if n_levels <= 500 else None)


def test_a_number_of_any_length_is_kept_as_it_is_written():
    digits = b"9" * 10_000
    assert find_one(b'{"url": %s}' % digits, [b"url"]) == [(NUMBER, digits)]
    assert find_one(b'{"url": %s, "x": NaN}' % digits, [b"url"]) == [(NUMBER, digits)]


def test_ordinary_records_never_leave_compiled_code():
    assert is_sure(
        b'{"url": "http://a.org/", "status": "200", "x": "\\u00e4\\"", "y": [1, {"z": null}]}'
    )
    assert not is_sure(rb'{"url": "http:\/\/a.org/"}')


def test_records_without_an_object_and_blocks_without_records_are_allowed():
    found = find_members(b'x{"url": "a"}', np.array([[-1, -1], [1, 13]]), [b"url"])
    assert found.is_object.tolist() == [False, True]
    assert found.spans.tolist() == [[[-1, -1]], [[10, 11]]]
    assert find_members(b"", np.empty((0, 2), dtype=np.int64), [b"url"]).is_object.size == 0
