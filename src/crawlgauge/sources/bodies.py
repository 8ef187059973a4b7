"""Read the bodies of records for what their headers do not tell: digests, and texts of pages."""

import numpy as np

from crawlgauge.sources import line_kernel, record_kernel
from crawlgauge.sources.captures import NOT_HTML
from crawlgauge.sources.page_text import MAX_PAGE_BYTES, fingerprint_page, is_html
from crawlgauge.sources.payloads import Payload
from crawlgauge.sources.record_batch import RecordBatch
from crawlgauge.sources.record_window import RecordWindow
from crawlgauge.sources.request import Request

__all__ = ["BodyReader"]


class BodyReader:
    """Gives the records of a batch the digests that they lack, and their texts.

    Parameters
    ----------
    window
        What is at hand of the input.
    batch
        The records that were found in it.
    request
        Whether texts are wanted.
    """

    def __init__(self, window: RecordWindow, batch: RecordBatch, request: Request) -> None:
        self._window = window
        self._batch = batch
        self._reads_texts = request.reads_texts
        self._open: tuple[int, Payload] | None = None

    def read(self, first: int, at: int) -> None:
        """Read the bodies of records that have just been found.

        Parameters
        ----------
        first
            The number of the first of them in the batch.
        at
            Where the last one ends, from the beginning of the bytes at hand on. One that should be
            longer is damaged, and has no payload to be known.
        """
        window, batch = self._window, self._batch
        new = slice(first, batch.n_records)
        is_captured = (
            (batch.verdicts[new] == line_kernel.ACCEPTED)
            & (batch.bodies[new, 0] >= 0)
            & (batch.bodies[new, 1] <= window.place + at)
        )
        lacks_digest = batch.spans[new, record_kernel.DIGEST, 0] < 0
        is_wanted = is_captured if self._reads_texts else is_captured & lacks_digest
        for number in (first + np.flatnonzero(is_wanted)).tolist():
            has_text = self._reads_texts and is_html(batch.media_type(number))
            if not has_text and not lacks_digest[number - first]:
                batch.texts[number] = NOT_HTML
                continue
            start, end, is_http = batch.bodies[number].tolist()
            payload = Payload(is_http=bool(is_http), max_kept=MAX_PAGE_BYTES if has_text else 0)
            payload.feed(window.between(start, min(end, window.end)))
            self._open = number, payload
            if end <= window.end:
                self.end(is_whole=True)

    def see(self, piece: bytes) -> None:
        """Take in what follows of a body that goes on beyond the bytes that were at hand."""
        if self._open is not None:
            self._open[1].feed(piece)

    def end(self, *, is_whole: bool) -> None:
        """Leave the body that was read last.

        Parameters
        ----------
        is_whole
            Whether its end has come.
        """
        if self._open is None:
            return
        number, payload = self._open
        self._open = None
        if not is_whole or not payload.is_found:
            return
        if self._batch.spans[number, record_kernel.DIGEST, 0] < 0:
            self._batch.add_digest(number, payload.digest())
        if self._reads_texts:
            content = payload.content()
            found = None if content is None else fingerprint_page(content, payload.header)
            self._batch.texts[number] = NOT_HTML if found is None else found
