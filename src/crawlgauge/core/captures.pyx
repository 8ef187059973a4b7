"""Captures of one crawl, as they are found: judged, keyed, counted, some of them with attributes.

Whatever the format, each record goes through `Collector.take`: compiled scanners call it for their
lines, readers in Python call `Collector.add`. No object is made of a record. What is odd (a URL
with a user name, say) is looked at by the reference in Python, and then taken all the same.
"""
cimport cython

import numpy as np

from crawlgauge.core.batch import LEFT_OUT, NO_CODE, ROW, Captures
from crawlgauge.core.fields cimport (
    DAY_SECONDS, DIGEST, FIRST_DAY, GROUP, KEY, MIME, N_DAYS, NO_STATUS, NO_TIME, STATUS, TIME, URL,
    Fields, clear_fields, status_of, time_of,
)
from crawlgauge.core.texts cimport TextTable
from crawlgauge.core.urls cimport (
    DEFER, IS_URL, NO_HOST, NO_SCHEME, NO_URL, OTHER_SCHEME, TOO_LONG,
    is_robots, is_robots_key, judge_url, raw_form, write_host, write_scheme_free, write_surt,
)
from crawlgauge.core.words cimport (
    Span, bytes_of, find_any, find_near, i16, i32, i64, is_text, memcpy, span_of, u8, u64,
    xxh64,
)

cdef enum:
    ROOM = 1 << 18              # captures that are held before they are handed on
    MOST_NAMES = 1 << 20
    FIRST_DIGEST_ROOM = 1 << 23  # enough for most
    FIRST_ORDINAL = 726468      # of the first day in Python's calendar
    LONGEST_HOST = 511          # in an index's key; longer ones are odd
    NO_ROW_STATUS = 32767

cdef enum:  # why a capture does not count, in the order of REASONS
    COUNTS, OTHER_KIND, NOT_FETCHED, REDIRECT, ERROR, OTHER_STATUS, STATUS_UNKNOWN, ROBOTS
    TYPE_UNKNOWN, OTHER_TYPE, OUT_OF_SCOPE
    UNDECIDED  # nobody has said yet whether the media type counts

REASONS = (
    "", "other-scheme", "not-fetched", "redirect", "error", "status", "no-status", "robots.txt",
    "no-mime", "mime", "out-of-scope",
)
"""Why a capture is left out, by number; the first stands for one that counts."""

_REJECTIONS = {
    NO_URL: "no-url", NO_SCHEME: "no-scheme", NO_HOST: "no-host", TOO_LONG: "too-long",
}
_RULES = {"raw": RAW, "scheme-free": SCHEME_FREE, "surt": SURT, "given": GIVEN}
_WHOLE = 1 << 64
_NO_NAMES = np.array([NO_CODE], np.int32)


@cython.final
cdef class Collector:
    """Collects the captures of inputs and hands them on in batches.

    Parameters
    ----------
    settings
        What counts and what is kept, a `crawlgauge.sources.what_counts.Settings`.
    sink
        Called with each batch, a `Captures`.
    """

    def __init__(self, settings, sink):
        self._settings, self._sink = settings, sink
        self._rule = _RULES[settings.rule]
        self._needs_url = settings.needs_url
        self.begin()
        self._choose_what_counts(settings)
        self._is_split = settings.is_split
        self._keeps_urls, self._keeps_texts = settings.keeps_urls, settings.keeps_texts
        self._keeps_digests = settings.keeps_digests or self._keeps_urls
        self._keeps_all = self._is_split or self._keeps_digests or self._keeps_texts
        self.limit_keys(_WHOLE)
        self.limit_rows(_WHOLE)
        self._keys, self._rows = np.empty(ROOM, np.uint64), np.empty(ROOM, ROW)
        self._row_groups = np.empty(ROOM if self._is_split else 0, np.int32)
        self._left = np.empty(ROOM if self._is_split else 0, LEFT_OUT)
        self._row_texts = np.empty(ROOM if self._keeps_texts else 0, np.uint64)
        self._digest_ends = np.empty(ROOM if self._keeps_digests else 0, np.int64)
        self._digests = np.empty(FIRST_DIGEST_ROOM if self._keeps_digests else 0, np.uint8)
        self._days = np.zeros(N_DAYS, np.int64)
        self._forget_names()
        self._empty()

    def _choose_what_counts(self, settings):
        self._wants_any = settings.wants_any_status
        self._wants_unknown = settings.wants_unknown_status
        self._wanted = settings.wanted_statuses.view(np.uint8)
        if self._wanted.shape[0] != N_STATUSES:
            raise ValueError(f"statuses are below {N_STATUSES}")
        self._judges_types = settings.judge_type is not None
        scope = settings.scope
        self._has_scope = scope is not None
        if self._has_scope:
            self._prefix_lengths, self._prefix_hashes = scope.lengths, scope.hashes
            self._is_prefix_whole = scope.is_whole.view(np.uint8)
            self._is_prefix_inside = scope.is_inside.view(np.uint8)
            self._is_open = scope.is_open

    # ------------------------------------------------------------------------------ for readers

    def begin(
        self,
        *,
        bint has_status=True,
        bint has_type=True,
        bint has_time=True,
        bint has_pages=False,
    ):
        """Begin another input, when the one before has been flushed.

        Parameters
        ----------
        has_status, has_type
            Whether inputs of its format tell the status and the media type of captures; where
            they do not, nothing is left out for want of one.
        has_time, has_pages
            Whether they tell when captures were made, and hold the pages that were captured.
        """
        self._has_status, self._has_type = has_status, has_type
        self._has_time, self._has_pages = has_time, has_pages

    def limit_keys(self, threshold):
        """Keep only keys below a threshold; captures of others count all the same."""
        self._last_key = threshold - 1

    def limit_rows(self, threshold):
        """Keep attributes of keys below a threshold, unless those of all are wanted."""
        self._last_row_key = _WHOLE - 1 if self._keeps_all else threshold - 1

    def add(
        self,
        bytes url,
        *,
        bytes key=None,
        bytes time=None,
        bytes status=None,
        bytes mime=None,
        bytes digest=None,
        bytes group=None,
        u64 text=0,
        bint is_revisit=False,
    ):
        """Take a record in; return why it is rejected, or None if it is not.

        Parameters
        ----------
        url, key, time, status, mime, digest, group
            The fields of the record, as they are written; None where it has none.
        text
            A fingerprint of its page's text, or `NO_TEXT` or `NOT_HTML`.
        is_revisit
            Whether something but the media type says that it repeats an earlier capture.
        """
        cdef Fields fields
        clear_fields(&fields)
        fields.texts[URL], fields.texts[KEY] = span_of(url), span_of(key)
        fields.texts[TIME], fields.texts[STATUS] = span_of(time), span_of(status)
        fields.texts[MIME] = span_of(mime)
        fields.texts[DIGEST], fields.texts[GROUP] = span_of(digest), span_of(group)
        fields.is_revisit = is_revisit
        self.make_room()
        cdef Outcome outcome = self.take(&fields, text)
        return None if outcome == TAKEN else self.take_odd(&fields, text, outcome)

    def reject(self, str reason not None):
        """Count a record that is no capture."""
        self._rejected[reason] = self._rejected.get(reason, 0) + 1

    def exclude(self, str reason not None, u64 n_records=1):
        """Count records that are not meant to be captures, such as requests."""
        self._excluded[reason] = self._excluded.get(reason, 0) + n_records

    def flush(self):
        """Hand on what is held."""
        excluded = dict(self._excluded)
        for reason in range(1, N_REASONS):
            if self._n_excluded[reason]:
                # Readers may have left out others for the same reason.
                n_before = excluded.get(REASONS[reason], 0)
                excluded[REASONS[reason]] = n_before + self._n_excluded[reason]
        if not (self._n_captures or self._n_left or self._rejected or excluded):
            return
        names = self._settings.names
        self._host_codes = _name_more(self._host_codes, self._hosts, names.name_hosts)
        self._type_codes = _name_more(self._type_codes, self._types, names.name_types)
        rows = self._list_rows()
        groups = left = None
        if self._is_split:
            self._group_codes = _name_more(self._group_codes, self._groups, names.name_groups)
            groups = self._group_codes[self._row_groups.base[: self._n_rows]]
            left = self._left.base[: self._n_left].copy()
            left["group"] = self._group_codes[left["group"]]
        is_timeless = self._last_time == NO_TIME
        captures = Captures(
            keys=self._keys.base[: self._n_keys].copy(),
            rows=rows,
            groups=groups,
            digests=self._list_digests() if self._keeps_digests else None,
            texts=self._row_texts.base[: self._n_rows].copy() if (
                self._keeps_texts and self._has_pages
            ) else None,
            left_out=left,
            n_captures=self._n_captures,
            n_no_status=self._n_no_status,
            has_times=self._has_time,
            days=self._list_days(),
            first_time=None if is_timeless else self._first_time,
            last_time=None if is_timeless else self._last_time,
            rejected=self._rejected,
            excluded=excluded,
        )
        self._empty()
        if max(len(self._hosts), len(self._types), len(self._groups)) > MOST_NAMES:
            self._forget_names()
        self._sink(captures)

    # -------------------------------------------------------------------------------- what is held

    cdef Py_ssize_t n_room(self) noexcept nogil:
        """Return how many more records can be taken at least."""
        return ROOM - max(self._n_keys, self._n_rows, self._n_left)

    cdef int make_room(self) except -1:
        if self.n_room() == 0:
            self.flush()
        return 0

    def _empty(self):
        cdef int reason
        self._n_keys = self._n_rows = self._n_left = 0
        self._n_captures = self._n_no_status = self._n_digest_bytes = 0
        for reason in range(N_REASONS):
            self._n_excluded[reason] = 0
        self._rejected, self._excluded = {}, {}
        self._first_time = self._last_time = NO_TIME

    def _forget_names(self):
        """Begin to number hosts and the like anew: those of long ago take memory."""
        self._hosts, self._types, self._groups = TextTable(), TextTable(), TextTable()
        self._host_codes = self._type_codes = self._group_codes = _NO_NAMES
        self._type_reasons = np.full(64, UNDECIDED, np.uint8)

    def _list_days(self):
        counts = self._days.base
        found = np.flatnonzero(counts)
        days = {FIRST_ORDINAL + day: n for day, n in zip(found.tolist(), counts[found].tolist())}
        counts[found] = 0
        return days

    def _list_rows(self):
        """Return the rows, with hosts and media types by what they are called outside."""
        cdef const i32[::1] hosts = self._host_codes, types = self._type_codes
        cdef Py_ssize_t number
        found = np.empty(self._n_rows, ROW)
        cdef Row[::1] rows = found
        for number in range(self._n_rows):
            rows[number] = self._rows[number]
            rows[number].host = hosts[rows[number].host]
            rows[number].mime = types[rows[number].mime]
        return found

    def _list_digests(self):
        cdef i64 start = 0, end
        cdef Py_ssize_t row
        found = []
        for row in range(self._n_rows):
            end = self._digest_ends[row]
            found.append((&self._digests[0])[start:end] if end > start else None)
            start = end
        return found

    # --------------------------------------------------------------------------------- one record

    cdef Outcome take(self, Fields* fields, u64 text) except? NO_KEY nogil:
        """Judge a record and collect what is wanted of it; there must be room."""
        cdef int status = NO_STATUS, reason
        cdef bint is_revisit = False
        cdef Span form = self._odd_form, host
        cdef Py_ssize_t length
        cdef Row* row
        cdef i64 time
        cdef u64 key
        # A record that has neither is none, whatever captures are known by.
        if fields.texts[URL].start != NULL or self._needs_url or fields.texts[KEY].start == NULL:
            self.verdict = judge_url(&fields.texts[URL])
            if self.verdict == OTHER_SCHEME:
                self._n_excluded[OTHER_KIND] += 1
                return TAKEN
            if self.verdict != IS_URL:
                return REJECTED
        if self._has_status:
            status = status_of(fields)
            is_revisit = fields.is_revisit or is_text(fields.texts[MIME], b"warc/revisit", 12)
        reason = self._judge(fields, status, is_revisit)
        if reason == UNDECIDED:
            return ODD_TYPE
        if (self._rule == SURT or self._has_scope) and form.start == NULL and reason == COUNTS:
            length = write_surt(&self._writer, fields.texts[URL])
            if length == DEFER:
                return ODD_URL
            form.start, form.end = self._writer.form, self._writer.form + length
        if reason == COUNTS and self._has_scope and not self._covers(form):
            reason = OUT_OF_SCOPE
        if reason != COUNTS:
            self._leave_out(reason, fields)
            return TAKEN
        if self._rule == RAW:
            form = raw_form(fields.texts[URL])
        elif self._rule == SCHEME_FREE:
            form = write_scheme_free(fields.texts[URL], self._form)
        elif self._rule == GIVEN:
            form = fields.texts[KEY]
            if form.start == NULL:
                return NO_KEY
        key = xxh64(form.start, form.end - form.start)
        time = time_of(fields)
        if key <= self._last_row_key:
            host = self._find_host(fields)
            if host.start == NULL:
                return ODD_URL
            row = &self._rows[self._n_rows]
            row.key, row.time, row.is_revisit, row.unused = key, time, is_revisit, 0
            row.host = 0 if host.start == host.end else number_name(self._hosts, host)
            row.mime = number_name(self._types, fields.texts[MIME])
            row.status = NO_ROW_STATUS
            if -NO_ROW_STATUS < status < NO_ROW_STATUS:
                row.status = <i16> status
            if self._is_split:
                self._row_groups[self._n_rows] = number_name(self._groups, fields.texts[GROUP])
            if self._keeps_texts:
                self._row_texts[self._n_rows] = text
            if self._keeps_digests:
                self._keep_digest(fields.texts[URL] if self._keeps_urls else fields.texts[DIGEST])
            self._n_rows += 1
        if key <= self._last_key:
            self._keys[self._n_keys] = key
            self._n_keys += 1
        self._n_captures += 1
        self._n_no_status += self._has_status and status == NO_STATUS and not is_revisit
        if time != NO_TIME:
            self._days[time // DAY_SECONDS - FIRST_DAY] += 1
            if self._last_time == NO_TIME or time < self._first_time:
                self._first_time = time
            self._last_time = max(self._last_time, time)
        return TAKEN

    cdef object take_odd(self, Fields* fields, u64 text, Outcome outcome):
        """Take a record whose media type or URL is odd; return why it is rejected, or None."""
        cdef bytes form = None, host = None, url, mime
        if outcome == ODD_TYPE:
            mime = bytes_of(fields.texts[MIME])
            self._learn_type(mime, self._settings.judge_type(mime or b""))
            outcome = self.take(fields, text)
        if outcome == ODD_URL:
            url = bytes_of(fields.texts[URL])
            if self._rule == SURT or self._has_scope:
                form = self._settings.canonical_surt(url)
            host = self._settings.host_of_capture(url, bytes_of(fields.texts[KEY]))
            self._odd_form, self._odd_host = span_of(form), span_of(host)
            try:
                outcome = self.take(fields, text)
            finally:
                self._odd_form = self._odd_host = span_of(None)
        if outcome == NO_KEY:
            raise self._settings.lacks_keys()
        return _REJECTIONS[self.verdict] if outcome == REJECTED else None

    def _learn_type(self, bytes mime, str reason):
        """Note whether a media type counts, so that nobody asks again."""
        cdef Py_ssize_t number = 0 if mime is None else 1 + self._types.number(mime)
        while number >= self._type_reasons.shape[0]:
            more = np.full(self._type_reasons.shape[0], UNDECIDED, np.uint8)
            self._type_reasons = np.concatenate([self._type_reasons, more])
        self._type_reasons[number] = REASONS.index(reason)

    # --------------------------------------------------------------------------------- what counts

    cdef int _judge(self, Fields* fields, int status, bint is_revisit) except -1 nogil:
        """Return why a capture does not count, as far as its URL's form has no say in it."""
        cdef int reason = COUNTS, number
        cdef Span url
        if self._has_status:
            reason = self._judge_status(status, is_revisit)
        if reason == COUNTS and not self._wants_any:
            # Where there is no URL, the key tells as much.
            url = fields.texts[URL]
            if is_robots_key(fields.texts[KEY]) if url.start == NULL else is_robots(url):
                return ROBOTS
        if reason == COUNTS and self._judges_types and self._has_type:
            number = number_name(self._types, fields.texts[MIME])
            reason = UNDECIDED
            if number < self._type_reasons.shape[0]:
                reason = self._type_reasons[number]
        return reason

    cdef int _judge_status(self, int status, bint is_revisit) noexcept nogil:
        if status != NO_STATUS and status <= 0:
            return NOT_FETCHED
        if self._wants_any:
            return COUNTS
        if is_revisit and (status == NO_STATUS or status == 304):
            status = 200
        if status == NO_STATUS:
            return COUNTS if self._wants_unknown else STATUS_UNKNOWN
        if self._wanted[min(status, N_STATUSES - 1)]:
            return COUNTS
        if status // 100 == 3:
            return REDIRECT
        return ERROR if status // 100 == 4 or status // 100 == 5 else OTHER_STATUS

    cdef bint _covers(self, Span form) noexcept nogil:
        """Tell whether the longest prefix that a canonical URL begins with is in scope."""
        cdef Py_ssize_t number, low, high, middle, length
        cdef u64 wanted
        cdef u8 after
        for number in range(self._prefix_lengths.shape[0]):  # the longest first
            length = self._prefix_lengths[number]
            if length > form.end - form.start:
                continue
            wanted = xxh64(form.start, length)
            low, high = 0, self._prefix_hashes.shape[0]
            while low < high:
                middle = (low + high) // 2
                if self._prefix_hashes[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle
            if low == self._prefix_hashes.shape[0] or self._prefix_hashes[low] != wanted:
                continue
            if self._is_prefix_whole[low] and length < form.end - form.start:
                after = form.start[length]
                if not (
                    after == c"," or after == c")" or after == c":" or after == c"/"
                    or after == c"?"
                ):
                    continue
            return self._is_prefix_inside[low]
        return self._is_open

    cdef int _leave_out(self, int reason, Fields* fields) except -1 nogil:
        """Count a capture that does not count; in its own crawl, if there are several."""
        cdef LeftOut* left
        if not self._is_split:
            self._n_excluded[reason] += 1
            return 0
        left = &self._left[self._n_left]
        left.group, left.reason = number_name(self._groups, fields.texts[GROUP]), reason
        left.time = time_of(fields)
        self._n_left += 1
        return 0

    # ---------------------------------------------------------------------------------- attributes

    cdef Span _find_host(self, Fields* fields) noexcept nogil:
        """Return a capture's host; without a start if only the reference can tell it.

        How hosts are written here, `names.name_hosts` must know: as in the canonical form, with a
        parenthesis at the end; as in an index's key, with one at both ends; or as in a URL.
        """
        cdef Span host = self._odd_host, url = fields.texts[URL], key = fields.texts[KEY]
        cdef Py_ssize_t length
        if host.start != NULL:
            return host
        if url.start != NULL:
            # For the form of the whole URL its host was written already.
            if self._rule == SURT or self._has_scope or write_host(&self._writer, url) != NULL:
                host.start = self._writer.form
                host.end = host.start + self._writer.host_length
            return host
        length = find_near(key.start, key.end, c")") + 1 - key.start
        if length <= min(key.end - key.start, LONGEST_HOST):
            self._form[0] = c"("
            memcpy(self._form + 1, key.start, length)
            host.end = self._form + 1 + length
            if find_any(self._form, host.end, c"/", c"?", 0) == host.end:
                host.start = self._form
        return host

    cdef int _keep_digest(self, Span digest) except -1 nogil:
        cdef i64 start = self._n_digest_bytes, length = digest.end - digest.start
        if start + length > self._digests.shape[0]:
            self._make_digest_room(2 * (start + length))
        if length:
            memcpy(&self._digests[start], digest.start, length)
        self._n_digest_bytes = self._digest_ends[self._n_rows] = start + length
        return 0

    cdef int _make_digest_room(self, i64 n_bytes) except -1 with gil:
        self._digests = np.resize(self._digests, n_bytes)
        return 0


cdef inline int number_name(TextTable names, Span name) except -1 nogil:
    """Return the number of a name, from 1 on; 0 if there is none."""
    return 0 if name.start == NULL else 1 + names.number_of(name)


cdef object _name_more(codes, TextTable table, name):
    """Return the codes of all names of a table, the first of which stands for none."""
    texts = table.texts(len(codes) - 1)
    return np.concatenate([codes, name(texts)]) if texts else codes


def hash_text(bytes text not None):
    """Return the key of a text as it is: XXH64 with seed 42."""
    return xxh64(text, len(text))


def hash_texts(texts):
    """Return the keys of texts as they are."""
    keys = np.empty(len(texts), np.uint64)
    cdef u64[::1] view = keys
    cdef Py_ssize_t number
    cdef bytes text
    for number, text in enumerate(texts):
        view[number] = xxh64(text, len(text))
    return keys
