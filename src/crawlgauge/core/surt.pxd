from crawlgauge.core.words cimport u8, Span

cdef enum:
    DEFER = -1              # instead of a length: the reference must look at this URL
    LONGEST_URL = 8192
    LONGEST_PREFIX = 264    # scheme, host and the slash behind it
    FORM_ROOM = 24960       # each byte of a URL becomes an escape at most; some more for signs


cdef struct SurtWriter:
    u8[FORM_ROOM] form              # what is written: host,reversed:port)/path?query
    Py_ssize_t host_length          # of host and port in `form`, with the closing parenthesis
    u8[LONGEST_PREFIX] prefix       # of the URL whose host stands in `form`, up to its slash
    Py_ssize_t prefix_length
    u8[LONGEST_URL + 8] plain       # room for a text without its escapes
    u8[FORM_ROOM] scratch           # room for a path or for parameters before they are ordered


cdef Py_ssize_t write_surt(SurtWriter* writer, Span url) noexcept nogil
cdef const u8* write_host(SurtWriter* writer, Span url) noexcept nogil
