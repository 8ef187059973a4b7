"""What is collected of captures: their keys, and attributes of some of them."""
cimport cython

from crawlgauge.core.fields cimport Fields
from crawlgauge.core.texts cimport TextTable
from crawlgauge.core.urls cimport MOST_URL_BYTES, SurtWriter, UrlVerdict
from crawlgauge.core.words cimport Span, i16, i32, i64, u8, u64

cdef enum:
    N_REASONS = 11
    N_STATUSES = 1000

cdef enum Rule:
    RAW, SCHEME_FREE, SURT, GIVEN

cdef enum Outcome:
    TAKEN           # or left out, and counted
    REJECTED        # `Collector.verdict` says why
    ODD_TYPE        # nobody has said yet whether this media type counts
    ODD_URL         # the reference must write its form, or its host
    NO_KEY          # of the index, which the rule takes

cdef packed struct Row:  # as ROW
    u64 key
    i64 time
    i32 host
    i32 mime
    i16 status
    u8 is_revisit
    u8 unused

cdef packed struct LeftOut:  # as LEFT_OUT
    i64 time
    i32 group
    i32 reason


@cython.final
cdef class Collector:
    cdef object _settings, _sink
    cdef dict _rejected, _excluded
    cdef UrlVerdict verdict
    # What counts.
    cdef Rule _rule
    cdef bint _needs_url, _has_status, _has_type, _has_time, _has_pages
    cdef bint _wants_any, _wants_unknown, _judges_types, _has_scope, _is_open
    cdef const u8[::1] _wanted
    cdef u8[::1] _type_reasons
    cdef const i64[::1] _prefix_lengths
    cdef const u64[::1] _prefix_hashes
    cdef const u8[::1] _is_prefix_whole, _is_prefix_inside
    # What is kept.
    cdef bint _keeps_all, _is_split, _keeps_digests, _keeps_texts, _keeps_urls
    cdef u64 _last_key, _last_row_key
    # Names, each with a number from 1 on, and what these numbers are called outside.
    cdef TextTable _hosts, _types, _groups
    cdef object _host_codes, _type_codes, _group_codes
    # What is held.
    cdef u64[::1] _keys
    cdef Row[::1] _rows
    cdef i32[::1] _row_groups
    cdef u64[::1] _row_texts
    cdef i64[::1] _digest_ends
    cdef LeftOut[::1] _left
    cdef i64[::1] _days
    cdef u64[N_REASONS] _n_excluded
    cdef Py_ssize_t _n_keys, _n_rows, _n_left
    cdef u64 _n_captures, _n_no_status
    cdef i64 _first_time, _last_time
    cdef u8[::1] _digests           # one behind the other
    cdef i64 _n_digest_bytes
    # What the reference has found out of an odd URL; without starts for all others.
    cdef Span _odd_form, _odd_host
    # Room for the form of one URL.
    cdef SurtWriter _writer
    cdef u8[MOST_URL_BYTES + 8] _form

    cdef Py_ssize_t n_room(self) noexcept nogil
    cdef int make_room(self) except -1
    cdef Outcome take(self, Fields* fields, u64 text) except? NO_KEY nogil
    cdef object take_odd(self, Fields* fields, u64 text, Outcome outcome)
    cdef int _judge(self, Fields* fields, int status, bint is_revisit) except -1 nogil
    cdef int _judge_status(self, int status, bint is_revisit) noexcept nogil
    cdef bint _covers(self, Span form) noexcept nogil
    cdef int _leave_out(self, int reason, Fields* fields) except -1 nogil
    cdef Span _find_host(self, Fields* fields) noexcept nogil
    cdef int _keep_digest(self, Span digest) except -1 nogil
    cdef int _make_digest_room(self, i64 n_bytes) except -1 with gil
