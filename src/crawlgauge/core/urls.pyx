"""The rule ``scheme-free``: what an HTTP client asks for, whether over http or https."""
from libc.string cimport strlen

from crawlgauge.core.words cimport (
    Span, begins, find_far, find_near, is_digit, is_text, lower, memcpy, span_of, u8,
)


cdef Span write_scheme_free(Span url, u8* room) noexcept nogil:
    """Write the canonical form of a URL; `room` is for one byte more than the URL has."""
    cdef Span form
    cdef const u8* authority
    form.start = room
    url.end = find_far(url.start, url.end, c"#")
    while url.start < url.end and url.start[0] <= 0x20:
        url.start += 1
    while url.end > url.start and (url.end - 1)[0] <= 0x20:
        url.end -= 1
    authority = _find_authority(url)
    if authority == NULL:
        return url
    form.end = _write(url, authority, room)
    return form


cdef const u8* _find_authority(Span url) noexcept nogil:
    """Return the place behind a scheme and ``://``, or NULL."""
    cdef const u8* place = url.start
    while place < url.end and (
        c"a" <= (place[0] | 0x20) <= c"z"
        or (
            place > url.start
            and (is_digit(place[0]) or place[0] == c"+" or place[0] == c"-" or place[0] == c".")
        )
    ):
        place += 1
    if place == url.start or url.end - place < 3 or place[0] != c":":
        return NULL
    return place + 3 if place[1] == c"/" and place[2] == c"/" else NULL


cdef u8* _write(Span url, const u8* authority, u8* form) noexcept nogil:
    cdef const u8* rest = authority
    cdef const u8* host = authority
    cdef Span scheme
    cdef const char* own_port = NULL
    scheme.start, scheme.end = url.start, authority - 3
    if scheme.end - scheme.start == 4 and begins(scheme, b"http", 4):
        own_port = b":80"
    elif scheme.end - scheme.start == 5 and begins(scheme, b"https", 5):
        own_port = b":443"
    else:
        form = _copy_lower(url.start, authority, form)
    while rest < url.end and rest[0] != c"/" and rest[0] != c"?":
        if rest[0] == c"@":
            host = rest + 1
        rest += 1
    memcpy(form, authority, host - authority)
    form += host - authority
    form = _copy_lower(host, _find_host_end(host, rest, own_port), form)
    if own_port != NULL and (rest == url.end or rest[0] != c"/"):
        form[0] = c"/"
        form += 1
    memcpy(form, rest, url.end - rest)
    return form + (url.end - rest)


cdef const u8* _find_host_end(const u8* host, const u8* end, const char* own_port) noexcept nogil:
    """Return where the colon of the scheme's own port stands, or `end`."""
    cdef const u8* colon = find_near(host, end, c":")
    cdef bint is_own
    if host < end and host[0] == c"[":
        # The colons of an IPv6 address stand in brackets.
        colon = find_near(host, end, c"]") + 1
    cdef Span port
    port.start, port.end = colon, end
    is_own = own_port != NULL and colon < end and is_text(port, own_port, strlen(own_port))
    return colon if is_own else end


cdef u8* _copy_lower(const u8* place, const u8* end, u8* form) noexcept nogil:
    while place < end:
        form[0] = lower(place[0])
        form += 1
        place += 1
    return form


def scheme_free(bytes url not None):
    """Return the canonical form of a URL."""
    room = bytearray(len(url) + 1)
    cdef u8[::1] view = room
    cdef Span form = write_scheme_free(span_of(url), &view[0])
    return form.start[: form.end - form.start]
