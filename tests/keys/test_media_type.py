"""Media types: in lower case, without parameters, and the same in compiled code."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawlgauge.keys.dictionary_kernel import Dictionary
from crawlgauge.keys.media_type import UNKNOWN_TYPES, canonical_type
from crawlgauge.keys.media_type_kernel import code_types, write_type
from crawlgauge.keys.recent_kernel import make_recent

pieces = st.sampled_from(
    [*b"text /html ; charset=UTF-8 , Image/PNG - unk a".split(), b" ", b"\xe4"]
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"text/html", b"text/html"),
        (b" Text/HTML;charset=utf-8", b"text/html"),
        (b"text/html charset=utf-8", b"text/html"),
        (b"text/html, text/html", b"text/html"),
        (b"application/vnd.ms-excel.12\t", b"application/vnd.ms-excel.12"),
        (b"video", b"video"),
        (b"", b""),
        (b";charset=utf-8", b""),
        (b"text/h\xc3\xa4ml", b""),
        (b"a" * 255, b"a" * 255),
        (b"a" * 256, b""),
        *((text, b"") for text in UNKNOWN_TYPES),
        (b"WARC/Revisit", b""),
    ],
)
def test_media_types_have_one_form(text, kind):
    assert canonical_type(text) == kind


@given(st.one_of(st.lists(pieces, max_size=8).map(b"".join), st.binary(max_size=300)))
@example(b"a" * 255)
@example(b"a" * 256)
@example(b"warc/revisit;a")
def test_the_kernel_agrees_with_the_reference(text):
    kind = np.empty(255, dtype=np.uint8)
    n_bytes = write_type(np.frombuffer(text + b"x", dtype=np.uint8), 0, len(text), kind)
    assert kind[:n_bytes].tobytes() == canonical_type(text)


def test_codes_are_those_of_the_canonical_types():
    rng = np.random.default_rng(1)
    texts = [b"Type/%d%s" % (n, b" ; a=1" * (n % 3)) for n in rng.integers(3_000, size=20_000)]
    texts += [b"", b"-", b"text/html"] * 3
    data = np.frombuffer(b"".join(texts), dtype=np.uint8)
    ends = np.cumsum([*map(len, texts)], dtype=np.int32)
    places = data, np.concatenate((np.zeros(1, dtype=np.int32), ends[:-1])), ends
    dictionary, recent = Dictionary(), make_recent()
    chosen, codes = np.arange(len(texts)), np.empty(len(texts), dtype=np.int32)
    kind, done = np.empty(255, dtype=np.uint8), 0
    while done < len(texts):
        done = code_types(*places, chosen, codes, done, *dictionary.table, *recent, kind)
        dictionary.make_room()
    found, starts = dictionary.texts()
    kinds = [found[a:b].tobytes() for a, b in itertools.pairwise(starts)]
    expected = [canonical_type(text) for text in texts]
    assert [kinds[code] if code >= 0 else b"" for code in codes.tolist()] == expected
