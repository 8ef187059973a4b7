"""From a batch of captures to the keys of their contents."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import SourceError
from crawlgauge.keys.levels import BY_CONTENT, BY_TEXT
from crawlgauge.sources.captures import NOT_HTML, Captures

if TYPE_CHECKING:
    from crawlgauge.keys.digest_kernel import DigestKeys

__all__ = ["KEYS_OF", "ContentKeys"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContentKeys:
    """The keys of the captures that have one.

    Parameters
    ----------
    keys
        In the order of the captures.
    reason
        Why the others have none.
    n_by_digest
        How many are told by their digest, at a level that is not that of digests.
    """

    keys: NDArray[np.uint64]
    reason: str
    n_by_digest: int = 0


def _digest_keys(captures: Captures) -> "DigestKeys":
    # Loads compiled code, which those who want URLs alone need not wait for.
    from crawlgauge.keys.digest_kernel import compute_digest_keys

    return compute_digest_keys(captures.digest, len(captures))


def _by_digest(captures: Captures) -> ContentKeys:
    keys, are_known = _digest_keys(captures)
    known = keys if are_known.all() else keys[are_known]
    return ContentKeys(keys=known, reason="no-digest")


def _by_text(captures: Captures) -> ContentKeys:
    keys, are_known = _digest_keys(captures)
    if len(captures) == 0:
        return ContentKeys(keys=keys, reason="no-text")
    if captures.text is None:
        raise SourceError(
            "the level text is made of the pages themselves, which an input does not hold; only "
            "WARC, ARC and WACZ files do. Leave text out of --levels, or add the crawl from them"
        )
    has_text = captures.text > NOT_HTML
    by_digest = (captures.text == NOT_HTML) & are_known
    keys = np.where(has_text, captures.text, keys)[has_text | by_digest]
    n_by_digest = np.count_nonzero(by_digest)
    return ContentKeys(keys=keys, reason="no-text", n_by_digest=int(n_by_digest))


KEYS_OF: dict[str, Callable[[Captures], ContentKeys]] = {
    BY_CONTENT: _by_digest,
    BY_TEXT: _by_text,
}
"""How the keys of each level come about, but for that of URLs."""
