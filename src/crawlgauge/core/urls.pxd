"""What a URL is, and its canonical forms: as it is, without its scheme, as SURT."""
from crawlgauge.core.words cimport (
    Span, begins, find_far, find_near, is_digit, is_same, is_space, load64, trimmed, u8, u64,
)

cdef enum:
    MOST_URL_BYTES = 1 << 16    # longer texts are no URLs that any crawler fetched


cdef enum UrlVerdict:
    IS_URL, NO_URL, NO_SCHEME, NO_HOST, TOO_LONG, OTHER_SCHEME


cdef inline UrlVerdict judge_url(Span* url) noexcept nogil:
    """Tell whether a text is a URL that crawlers fetch, and trim it."""
    if url.start == NULL:
        return NO_URL
    url[0] = trimmed(url[0])
    if url.start == url.end:
        return NO_URL
    if url.end - url.start > MOST_URL_BYTES:
        return TOO_LONG
    cdef const u8* place = url.start
    # As almost all begin: http:// or https:// and more.
    if url.end - place > 8 and load64(place) == <u64> 0x2F2F3A7370747468:
        return _judge_host(place + 8)
    if url.end - place > 8 and (load64(place) & <u64> 0x00FFFFFFFFFFFFFF) == <u64> 0x2F2F3A70747468:
        return _judge_host(place + 7)
    return _judge_scheme(url[0])


cdef inline UrlVerdict _judge_host(const u8* host) noexcept nogil:
    """Tell whether a host can begin here; the caller has seen that the URL goes on."""
    if host[0] == c"/" or host[0] == c"?" or host[0] == c"#" or is_space(host[0]):
        return NO_HOST
    return IS_URL


cdef inline UrlVerdict _judge_scheme(Span url) noexcept nogil:
    cdef const u8* colon = url.start
    cdef Span scheme
    # A dot may stand in a scheme, but in practice it is a host without one (example.org:8080).
    while colon < url.end and (
        c"a" <= (colon[0] | 0x20) <= c"z"
        or (colon > url.start and (is_digit(colon[0]) or colon[0] == c"+" or colon[0] == c"-"))
    ):
        colon += 1
    if colon == url.start or colon == url.end or colon[0] != c":":
        return NO_SCHEME
    if url.end - colon <= 2 or colon[1] != c"/" or colon[2] != c"/":
        return OTHER_SCHEME
    scheme.start, scheme.end = url.start, colon
    if (scheme.end - 1)[0] | 0x20 == c"s":
        scheme.end -= 1
    if not (
        (scheme.end - scheme.start == 4 and begins(scheme, b"http", 4))
        or (scheme.end - scheme.start == 3 and begins(scheme, b"ftp", 3))
    ):
        return OTHER_SCHEME
    return NO_HOST if url.end - colon == 3 else _judge_host(colon + 3)


cdef inline bint is_robots(Span url) noexcept nogil:
    """Tell whether a URL's path is ``/robots.txt``."""
    cdef const u8* path = url.end - 11
    cdef const u8* authority
    if path <= url.start or not is_same(path, b"/robots.txt", 11):
        return False
    authority = find_near(url.start, url.end, c":") + 3
    return authority < path and find_near(authority, url.end, c"/") == path


cdef inline bint is_robots_key(Span key) noexcept nogil:
    """Tell the same of a SURT."""
    cdef const u8* path = key.end - 11
    if path <= key.start or not is_same(path, b"/robots.txt", 11):
        return False
    return find_near(key.start, key.end, c")") == path - 1


cdef inline Span raw_form(Span url) noexcept nogil:
    """Return a URL without its fragment and the space around it."""
    url.end = find_far(url.start, url.end, c"#")
    return trimmed(url)


cdef Span write_scheme_free(Span url, u8* room) noexcept nogil


# --------------------------------------------------------------------------------------------- SURT


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
