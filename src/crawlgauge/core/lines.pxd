"""The fields of records by number, for all that find them."""
from crawlgauge.core.fields cimport Fields
from crawlgauge.core.words cimport Span

cdef enum:
    URL, KEY, TIME, STATUS, MIME, DIGEST, GROUP
    N_FIELDS


cdef inline Span* field_of(Fields* fields, int field) noexcept nogil:
    if field == URL:
        return &fields.url
    if field == KEY:
        return &fields.key
    if field == TIME:
        return &fields.time
    if field == STATUS:
        return &fields.status
    if field == MIME:
        return &fields.mime
    return &fields.digest if field == DIGEST else &fields.group


cdef inline bint is_none(Span text) noexcept nogil:
    """Tell whether a text stands for nothing: it is empty or a dash."""
    return text.start == text.end or (text.end - text.start == 1 and text.start[0] == c"-")
