"""Codes for the hosts and media types of captures: each distinct text is kept once."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.keys.dictionary_kernel import NO_CODE, Dictionary, renumber
from crawlgauge.keys.host import host_of_capture
from crawlgauge.keys.host_kernel import DEFERRED, code_hosts, make_host_room
from crawlgauge.keys.media_type_kernel import code_types
from crawlgauge.keys.recent_kernel import make_recent
from crawlgauge.sources.captures import Captures, binary_buffers
from crawlgauge.sources.texts import Texts

__all__ = ["HostCoding", "TypeCoding"]

_Codes = NDArray[np.int32]
_Numbers = NDArray[np.int64]


class _Coding:
    """A dictionary, and what was last looked up in it."""

    def __init__(self) -> None:
        self.dictionary = Dictionary()
        self._recent = make_recent()
        self._room = make_host_room()

    def __len__(self) -> int:
        return len(self.dictionary)

    def enter(self, texts: pa.Array) -> _Codes:
        """Return the codes of strings, and behind them `NO_CODE`, so that −1 finds it."""
        if len(texts) == 0:
            return np.array([NO_CODE], dtype=np.int32)
        data, offsets = binary_buffers(texts.cast(pa.binary()))
        return np.append(self.dictionary.codes(data, offsets), np.int32(NO_CODE))

    def drop_unused(self, codes: _Codes) -> None:
        """Forget the texts that are not among `codes`, which are written anew, from 0 on."""
        self.dictionary.keep(renumber(codes, len(self.dictionary)))
        self._recent = make_recent()

    def strings(self) -> pa.Array:
        """Return all texts, each in the place that its code says."""
        data, starts = self.dictionary.texts()
        buffers = [None, pa.py_buffer(starts.astype(np.int32)), pa.py_buffer(data.tobytes())]
        return pa.Array.from_buffers(pa.string(), len(self), buffers)


class HostCoding(_Coding):
    """Codes for hosts."""

    def code(self, captures: Captures, chosen: _Numbers) -> _Codes:
        """Return the codes of the hosts of some captures, `NO_CODE` for those without one.

        Parameters
        ----------
        captures
            A batch; where a capture has no URL, its key tells the host.
        chosen
            Numbers of captures.
        """
        if captures.url.null_count == 0:
            return self._code_column(captures, captures.url, chosen)
        codes = np.full(chosen.size, NO_CODE, dtype=np.int32)
        for column in (captures.url, captures.key):
            is_left = codes == NO_CODE
            if column is not None:
                is_left &= _are_there(column, chosen)
                codes[is_left] = self._code_column(captures, column, chosen[is_left])
        return codes

    def _code_column(self, captures: Captures, column: Texts, chosen: _Numbers) -> _Codes:
        codes = np.empty(chosen.size, dtype=np.int32)
        data, firsts, lasts = column.data, column.starts, column.ends
        are_keys = column is captures.key
        done = 0
        while True:
            tables = (*self.dictionary.table, *self._recent, *self._room)
            done = code_hosts(data, firsts, lasts, are_keys, chosen, codes, done, *tables)
            if done == chosen.size:
                break
            self.dictionary.make_room()
        for place in np.flatnonzero(codes == DEFERRED):
            codes[place] = self._code_deferred(captures, int(chosen[place]))
        return codes

    def _code_deferred(self, captures: Captures, number: int) -> int:
        key = None if captures.key is None else captures.key[number]
        host = host_of_capture(captures.url[number], key)
        return self.dictionary.code(host) if host else NO_CODE


class TypeCoding(_Coding):
    """Codes for media types."""

    def code(self, captures: Captures, chosen: _Numbers) -> _Codes:
        """Return the codes of the media types of some captures, `NO_CODE` for those without one.

        Parameters
        ----------
        captures
            A batch.
        chosen
            Numbers of captures.
        """
        if captures.mime is None:
            return np.full(chosen.size, NO_CODE, dtype=np.int32)
        if captures.mime.null_count == 0:
            return self._code_column(captures.mime, chosen)
        codes = np.full(chosen.size, NO_CODE, dtype=np.int32)
        are_there = _are_there(captures.mime, chosen)
        codes[are_there] = self._code_column(captures.mime, chosen[are_there])
        return codes

    def _code_column(self, column: Texts, chosen: _Numbers) -> _Codes:
        codes = np.empty(chosen.size, dtype=np.int32)
        data, firsts, lasts = column.data, column.starts, column.ends
        done = 0
        while True:
            tables = (*self.dictionary.table, *self._recent, self._room[0])
            done = code_types(data, firsts, lasts, chosen, codes, done, *tables)
            if done == chosen.size:
                return codes
            self.dictionary.make_room()


def _are_there(column: Texts, chosen: _Numbers) -> NDArray[np.bool_]:
    return column.starts[chosen] >= 0
