"""From a batch of URLs to their 64-bit keys."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.keys.given import hash_given
from crawlgauge.keys.raw import hash_raw
from crawlgauge.keys.rules import GIVEN, RAW, SCHEME_FREE, SURT, KeyRule
from crawlgauge.keys.scheme_free import hash_scheme_free
from crawlgauge.keys.surt import canonical_surt
from crawlgauge.keys.surt_kernel import hash_surt
from crawlgauge.sources.texts import Texts

__all__ = ["KERNELS", "compute_keys"]

_Bytes = NDArray[np.uint8]
_Places = NDArray[np.int32]
_Keys = NDArray[np.uint64]

KERNELS: dict[KeyRule, Callable[[_Bytes, _Places, _Places, _Keys], NDArray[np.int64] | None]] = {
    RAW: hash_raw,
    SCHEME_FREE: hash_scheme_free,
    SURT: hash_surt,
    GIVEN: hash_given,
}
"""Each fills the keys; what it returns are the URLs that it leaves to the rule's reference."""


def compute_keys(urls: Texts | pa.Array, rule: KeyRule) -> NDArray[np.uint64]:
    """Return the key of each URL: XXH64, seed 42, of its canonical form.

    Parameters
    ----------
    urls
        Texts, or an Arrow binary column; without nulls.
    rule
        Which URLs are the same.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from crawlgauge.keys.rules import SURT
    >>> keys = compute_keys(pa.array([b"http://a.org/", b"https://www.a.org/#top"]), SURT)
    >>> bool(keys[0] == keys[1])
    True
    """
    texts = Texts.of(urls)
    keys = np.empty(len(texts), dtype=np.uint64)
    if len(texts) == 0:
        return keys
    deferred = KERNELS[rule](texts.data, texts.starts, texts.ends, keys)
    if deferred is not None and deferred.size:
        forms = [canonical_surt(url or b"") for url in texts.take(deferred).to_pylist()]
        keys[deferred] = compute_keys(pa.array(forms, pa.binary()), GIVEN)
    return keys
