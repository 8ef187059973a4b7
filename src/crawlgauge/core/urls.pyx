"""The canonical forms of URLs that must be written: by the rules ``scheme-free`` and ``surt``."""
from libc.string cimport memmove, memset, strlen

from crawlgauge.core.words cimport (
    Span, begins, beyond, find_any, find_far, find_near, is_digit, is_same, is_text, load32, lower,
    memcpy, nearer, span_of, u8, u32,
)

# ------------------------------------ scheme-free: what an HTTP client asks for, over http or https


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


# ------------------------------------------ surt: as one mostly finds it, DEFER for all that is odd
# Most URLs are plain: a known host, then path and query without escapes. These are lowered sixteen
# bytes at a time, and only their trailing slash and the order of their parameters need care. What
# the form is in every case, the reference says (``crawlgauge.keys.surt``): a URL is written here as
# there, or left to it.

cdef enum:
    MOST_LABELS = 32
    MOST_SEGMENTS = 128
    MOST_PARAMETERS = 64
    MOST_DIGITS = 5
    CHUNK = 16
    NO_HEX = -1

cdef enum Kind:  # of a parameter
    KEPT, SESSION, CFID, CFTOKEN


cdef Py_ssize_t write_surt(SurtWriter* writer, Span url) noexcept nogil:
    """Write the canonical form of a URL to ``writer.form``; return its length or `DEFER`."""
    cdef const u8* rest = write_host(writer, url)
    if rest == NULL:
        return DEFER
    if rest < url.end and rest[0] == c"/" and _lower_plain(
        rest, url.end - rest, writer.form + writer.host_length
    ):
        return _finish_plain(writer, url.end - rest)
    return _write_carefully(writer, rest, url.end)


# ------------------------------------------------------------------------------ scheme and host


cdef const u8* write_host(SurtWriter* writer, Span url) noexcept nogil:
    """Write host and port to the beginning of ``writer.form``, with a closing parenthesis.

    Returns where they end in the URL, or NULL to defer.
    """
    if (
        writer.prefix_length
        and url.end - url.start >= writer.prefix_length
        and is_same(url.start, writer.prefix, writer.prefix_length)
    ):
        return url.start + writer.prefix_length - 1
    if url.end - url.start > LONGEST_URL:
        return NULL
    cdef u32 default_port
    cdef const u8* host = _find_host(url, &default_port)
    if host == NULL:
        return NULL
    cdef const u8* end = find_any(host, url.end, c"/", c"?", c"#")
    if end < url.end and end[0] < c"#":
        return NULL
    writer.prefix_length = 0
    if end - url.start >= LONGEST_PREFIX:
        return NULL
    cdef Py_ssize_t length = _write_authority(host, end, default_port, writer.form)
    if length == DEFER:
        return NULL
    writer.host_length = length
    if end < url.end and end[0] == c"/":
        # Without a slash behind the host nothing tells where a remembered prefix ends.
        writer.prefix_length = end + 1 - url.start
        memcpy(writer.prefix, url.start, writer.prefix_length)
    return end


cdef const u8* _find_host(Span url, u32* default_port) noexcept nogil:
    """Return where the host of an http or https URL begins, or NULL for any other."""
    cdef const u8* place = url.start
    if url.end - place < 9 or (load32(place) | 0x20202020) != 0x70747468:
        return NULL
    place += 4
    default_port[0] = 80
    if place[0] | 0x20 == c"s":
        place += 1
        default_port[0] = 443
    return place + 3 if is_same(place, b"://", 3) else NULL


cdef inline bint _lower_host(u8* text, Py_ssize_t length) noexcept nogil:
    """Put a host and port into lower case; return whether any byte is one that these have not."""
    cdef u8 byte, distance, odd = 0
    cdef Py_ssize_t place
    for place in range(length):
        byte = text[place]
        byte |= <u8> (<u8> (byte - c"A") < 26) << 5
        distance = beyond(byte - c"a", 25)
        distance = nearer(distance, beyond(byte - c"0", 10))  # a colon stands behind the nine
        distance = nearer(distance, beyond(byte - c"-", 1))  # as does a dot behind the dash
        odd |= nearer(distance, byte ^ c"_")
        text[place] = byte
    return odd != 0


cdef Py_ssize_t _write_authority(
    const u8* start, const u8* end, u32 default_port, u8* form
) noexcept nogil:
    """Write the labels of a host in reverse, and its port; defer user names and odd hosts."""
    cdef Span[MOST_LABELS] labels
    cdef u8[LONGEST_PREFIX + CHUNK] text
    cdef Span port, label
    cdef int n_labels = 0, first = 0, number
    cdef Py_ssize_t length = end - start, place
    memcpy(text, start, length)
    memset(text + length, c"-", CHUNK)
    if _lower_host(text, (length + CHUNK - 1) // CHUNK * CHUNK):  # no byte is left to be alone
        return DEFER
    port.end = text + length
    label.start, label.end = text, find_near(text, port.end, c":")
    port.start = label.end + 1
    if port.start == port.end:
        return DEFER  # as in http://http://example.org
    end = label.end
    while True:
        label.end = find_near(label.start, end, c".")
        if label.start == label.end or n_labels == MOST_LABELS:
            return DEFER
        labels[n_labels] = label
        n_labels += 1
        if label.end == end:
            break
        label.start = label.end + 1
    if is_digit(labels[n_labels - 1].start[0]):
        if not _is_address(labels, n_labels):
            return DEFER
    else:
        while first < n_labels - 2 and _is_www(labels[first]):
            first += 1
    length = 0
    for number in range(n_labels - 1, first - 1, -1):
        label = labels[number]
        place = length + (label.end - label.start)
        while length < place:
            # What is copied too much is written over.
            memcpy(form + length, label.start, CHUNK)
            length += CHUNK
            label.start += CHUNK
        form[place] = c"," if number > first else c")"
        length = place + 1
    return _write_port(port, default_port, form, length) if port.start < port.end else length


cdef Py_ssize_t _write_port(Span port, u32 default_port, u8* form, Py_ssize_t length) noexcept nogil:
    """Put a port between the host and its parenthesis, unless it is the scheme's own."""
    cdef int number = _read_number(port)
    if not 0 < number <= 65535:
        return DEFER
    if number == <int> default_port:
        return length
    form[length - 1] = c":"
    memcpy(form + length, port.start, port.end - port.start)
    length += port.end - port.start
    form[length] = c")"
    return length + 1


cdef bint _is_address(Span* labels, int n_labels) noexcept nogil:
    """Tell whether labels are the four numbers of an IPv4 address, as everybody writes them."""
    cdef int place
    if n_labels != 4:
        return False
    for place in range(4):
        if not 0 <= _read_number(labels[place]) <= 255:
            return False
    return True


cdef int _read_number(Span text) noexcept nogil:
    """Return a number of a few digits without leading zeros, or −1."""
    cdef Py_ssize_t place, length = text.end - text.start
    cdef int number = 0
    if length > MOST_DIGITS or (text.start[0] == c"0" and length > 1):
        return -1
    for place in range(length):
        if not is_digit(text.start[place]):
            return -1
        number = 10 * number + (text.start[place] - c"0")
    return number


cdef bint _is_www(Span label) noexcept nogil:
    """Match ``www`` and up to three digits."""
    cdef const u8* place = label.start + 3
    if not 3 <= label.end - label.start <= 6 or not begins(label, b"www", 3):
        return False
    while place < label.end:
        if not is_digit(place[0]):
            return False
        place += 1
    return True


# ---------------------------------------------------------------------------- plain path and query


cdef inline u8 _lower_chunk(const u8* source, u8* form) noexcept nogil:
    """Copy sixteen bytes in lower case; return zero if any of them needs a closer look.

    Odd are all but printable ASCII, what may be an escape, a session or a fragment, and a slash
    before a slash or dot. The result is how far the bytes are from the nearest odd one: minima of
    bytes become vector instructions on every processor, while gcc makes a bit test of
    ``byte == c"%" or ...``, which it cannot vectorise.
    """
    cdef u8 byte, nearest = 0xFF
    cdef int number
    for number in range(CHUNK):
        byte = source[number]
        nearest = nearer(nearest, byte ^ c"%")
        nearest = nearer(nearest, byte ^ c"#")
        nearest = nearer(nearest, byte ^ c";")
        nearest = nearer(nearest, byte ^ c"(")
        nearest = nearer(nearest, nearer(byte - 0x21, 0x5E) ^ 0x5E)  # not in 0x21..0x7e
        nearest = nearer(
            nearest, (source[number - 1] ^ c"/") | nearer(byte ^ c"/", byte ^ c".")
        )
        form[number] = byte | (<u8> (<u8> (byte - c"A") < 26) << 5)
    return nearest


cdef inline bint _lower_plain(const u8* source, Py_ssize_t length, u8* form) noexcept nogil:
    """Copy a text in lower case and tell whether all of it is plain.

    The byte before the text is read too. The last chunk overlaps the one before it, so that
    nothing behind the text is read; a short text goes through a chunk of its own.
    """
    cdef u8 nearest = 0xFF
    cdef u8[CHUNK + 1] short_source
    cdef u8[CHUNK] short_form
    cdef Py_ssize_t place = 0
    if length < CHUNK:
        for place in range(CHUNK + 1):
            short_source[place] = c"-"
        memcpy(short_source + 1, source, length)
        nearest = _lower_chunk(short_source + 1, short_form)
        memcpy(form, short_form, length)
        return nearest != 0
    while place + CHUNK <= length:
        nearest = nearer(nearest, _lower_chunk(source + place, form + place))
        place += CHUNK
    nearest = nearer(nearest, _lower_chunk(source + length - CHUNK, form + length - CHUNK))
    return nearest != 0


cdef Py_ssize_t _finish_plain(SurtWriter* writer, Py_ssize_t length) noexcept nogil:
    """Drop the slash that ends the path behind the host, and order the query."""
    cdef u8* path = writer.form + writer.host_length
    cdef u8* end = path + length
    cdef u8* mark = <u8*> find_far(path, end, c"?")
    if mark - path > 1 and (mark - 1)[0] == c"/":
        memmove(mark - 1, mark, end - mark)
        mark -= 1
        end -= 1
    if mark < end:
        end = _arrange_query(writer, mark, end)
        if end == NULL:
            return DEFER
    return end - writer.form


# -------------------------------------------------------------------------------------- parameters


cdef u8* _arrange_query(SurtWriter* writer, u8* mark, u8* end) noexcept nogil:
    """Sort the parameters behind a question mark and drop sessions; return the new end.

    NULL if there are too many. A query of which nothing is left takes its mark with it.
    """
    cdef Span[MOST_PARAMETERS] kept
    cdef Kind[MOST_PARAMETERS] kinds
    cdef int[4] n_of_kind = [0, 0, 0, 0]
    cdef int n_parameters = 0, n_kept = 0, number, slot
    cdef bint is_sorted = True, drops_pair
    cdef Span parameter
    cdef u8* place = mark + 1
    while True:
        if n_parameters == MOST_PARAMETERS:
            return NULL
        parameter.start, parameter.end = place, find_near(place, end, c"&")
        kept[n_parameters] = parameter
        kinds[n_parameters] = _kind_of(parameter)
        n_of_kind[<int> kinds[n_parameters]] += 1
        if n_parameters and _is_less(parameter, kept[n_parameters - 1]):
            is_sorted = False
        n_parameters += 1
        if parameter.end == end:
            break
        place = <u8*> parameter.end + 1
    drops_pair = n_of_kind[<int> CFID] > 0 and n_of_kind[<int> CFTOKEN] > 0
    if is_sorted and not n_of_kind[<int> SESSION] and not drops_pair:
        return end if end > mark + 1 else mark
    for number in range(n_parameters):  # insertion sort: equal parameters keep their order
        parameter = kept[number]
        if kinds[number] == SESSION or (kinds[number] != KEPT and drops_pair):
            continue
        slot = n_kept
        while slot and _is_less(parameter, kept[slot - 1]):
            kept[slot] = kept[slot - 1]
            slot -= 1
        kept[slot] = parameter
        n_kept += 1
    return _copy_ordered(writer, mark, kept, n_kept)


cdef u8* _copy_ordered(SurtWriter* writer, u8* mark, Span* kept, int n_kept) noexcept nogil:
    cdef Py_ssize_t length = 0
    cdef int number
    for number in range(n_kept):
        if number:
            writer.scratch[length] = c"&"
            length += 1
        memcpy(writer.scratch + length, kept[number].start, kept[number].end - kept[number].start)
        length += kept[number].end - kept[number].start
    if length == 0:
        return mark
    memcpy(mark + 1, writer.scratch, length)
    return mark + 1 + length


cdef bint _is_less(Span one, Span other) noexcept nogil:
    """Compare by name, then no value before an empty one, then by value."""
    cdef bint in_name = True
    while one.start < one.end and other.start < other.end:
        if one.start[0] != other.start[0]:
            if in_name and (one.start[0] == c"=" or other.start[0] == c"="):
                return one.start[0] == c"="
            return one.start[0] < other.start[0]
        in_name = in_name and one.start[0] != c"="
        one.start += 1
        other.start += 1
    return one.start == one.end and other.start < other.end


cdef Kind _kind_of(Span parameter) noexcept nogil:
    """Tell what a parameter in lower case is, by its name and the shape of its value."""
    cdef Py_ssize_t length = parameter.end - parameter.start
    if length < 6 or not parameter.start[0] in (c"j", c"p", c"s", c"a", c"c"):
        return KEPT
    if (
        (length == 43 and begins(parameter, b"jsessionid=", 11))
        or (length == 42 and begins(parameter, b"phpsessid=", 10))
        or (length == 36 and begins(parameter, b"sid=", 4))
    ):
        return SESSION if _is_word(parameter.end - 32, parameter.end, True) else KEPT
    if length == 45 and begins(parameter, b"aspsessionid", 12) and parameter.start[20] == c"=":
        if _is_word(parameter.start + 12, parameter.start + 20, False) and _is_word(
            parameter.start + 21, parameter.end, False
        ):
            return SESSION
    if begins(parameter, b"cfid=", 5):
        return CFID
    if length > 8 and begins(parameter, b"cftoken=", 8):
        return CFTOKEN
    return KEPT


cdef bint _is_word(const u8* place, const u8* end, bint has_digits) noexcept nogil:
    while place < end:
        if not (c"a" <= place[0] <= c"z" or (has_digits and is_digit(place[0]))):
            return False
        place += 1
    return True


# ------------------------------------------------------------------------------ with escapes


cdef Py_ssize_t _write_carefully(
    SurtWriter* writer, const u8* start, const u8* end
) noexcept nogil:
    """Write path and query that have escapes, empty segments, a fragment and the like."""
    cdef u8* form = writer.form + writer.host_length
    cdef const u8* mark
    cdef Py_ssize_t length
    end = find_far(start, end, c"#")
    if _has_stray(start, end):
        return DEFER
    while end > start and (end - 1)[0] <= 0x20:
        end -= 1
    mark = find_far(start, end, c"?")
    length = _unescape(start, mark, writer.plain, c"?", c"?")
    form = _write_path(writer, _escape(writer.plain, length, writer.scratch), form)
    if form == NULL or mark == end:
        return DEFER if form == NULL else form - writer.form
    length = _unescape(mark + 1, end, writer.plain, c"&", c"+")
    form[0] = c"?"
    form = _arrange_query(writer, form, _escape(writer.plain, length, form + 1))
    return DEFER if form == NULL else form - writer.form


cdef bint _has_stray(const u8* place, const u8* end) noexcept nogil:
    """Tell whether there is a tab or a line end, which no URL contains."""
    while place < end:
        if place[0] == c"\t" or place[0] == c"\n" or place[0] == c"\r":
            return True
        place += 1
    return False


cdef inline int _hex_value(u8 byte) noexcept nogil:
    if is_digit(byte):
        return byte - c"0"
    byte |= 0x20
    return byte - c"a" + 10 if c"a" <= byte <= c"f" else NO_HEX


cdef inline bint _is_escape(const u8* place) noexcept nogil:
    return (
        place[0] == c"%" and _hex_value(place[1]) != NO_HEX and _hex_value(place[2]) != NO_HEX
    )


cdef Py_ssize_t _unescape(
    const u8* place, const u8* end, u8* plain, u8 keep_one, u8 keep_other
) noexcept nogil:
    """Undo escapes until none is left, but for those of two bytes; return the length."""
    cdef Py_ssize_t length = 0
    cdef u8 byte
    while place < end:
        plain[length] = place[0]
        length += 1
        place += 1
        # What an escape stands for may end another: %2541 is %41 is A.
        while length >= 3 and _is_escape(plain + length - 3):
            byte = <u8> (16 * _hex_value(plain[length - 2]) + _hex_value(plain[length - 1]))
            if byte == keep_one or byte == keep_other:
                break
            length -= 2
            plain[length - 1] = byte
    return length


cdef u8* _escape(const u8* plain, Py_ssize_t length, u8* form) noexcept nogil:
    """Write a text in lower case, with escapes where it needs them; return where it ends."""
    cdef const u8* digits = b"0123456789abcdef"
    cdef Py_ssize_t place
    cdef u8 byte
    for place in range(length):
        byte = plain[place]
        if 0x20 < byte < 0x7F and byte != c"#" and (
            byte != c"%" or (place + 2 < length and _is_escape(plain + place))
        ):
            form[0] = lower(byte)
            form += 1
        else:
            form[0] = c"%"
            form[1] = digits[byte >> 4]
            form[2] = digits[byte & 15]
            form += 3
    return form


cdef u8* _write_path(SurtWriter* writer, const u8* end, u8* form) noexcept nogil:
    """Write the path that stands in ``scratch``; return where it ends, NULL to defer."""
    cdef Span[MOST_SEGMENTS] segments
    cdef Span segment
    cdef const u8* place = writer.scratch + 1  # behind the slash that it begins with
    cdef int n_segments = 0, number
    if end == writer.scratch:
        form[0] = c"/"
        return form + 1
    end = _drop_sessions(writer.scratch, <u8*> end)
    while True:
        segment.start, segment.end = place, find_near(place, end, c"/")
        if segment.end - segment.start == 2 and is_same(segment.start, b"..", 2):
            n_segments -= n_segments > 0
        elif segment.end - segment.start != 1 or segment.start[0] != c".":
            if n_segments == MOST_SEGMENTS or (
                segment.start < segment.end and segment.start[0] == c"("
            ):
                return NULL  # it may be a session of ASP.NET
            segments[n_segments] = segment
            n_segments += 1
        if segment.end == end:
            break
        place = segment.end + 1
    form[0] = c"/"
    form += 1
    for number in range(n_segments):
        segment = segments[number]
        if segment.start < segment.end:  # empty ones only stood in the way of two dots
            if (form - 1)[0] != c"/":
                form[0] = c"/"
                form += 1
            memcpy(form, segment.start, segment.end - segment.start)
            form += segment.end - segment.start
    return form


cdef const u8* _drop_sessions(u8* start, u8* end) noexcept nogil:
    """Take away the sessions of servlets, ``;jsessionid=…``; return where the path ends now."""
    cdef u8* place = start
    cdef u8* kept = start
    cdef Span rest
    if find_near(start, end, c";") == end:
        return end
    rest.end = end
    while place < end:
        rest.start = place
        if place[0] == c";" and begins(rest, b";jsessionid=", 12):
            place += 12
            while place < end and place[0] != c";" and place[0] != c"/":
                place += 1
        else:
            kept[0] = place[0]
            kept += 1
            place += 1
    return kept


def surt(bytes url not None):
    """Return the canonical form of a URL, or None if only the reference can tell it."""
    cdef SurtWriter writer
    writer.prefix_length = 0
    cdef Py_ssize_t length = write_surt(&writer, span_of(url))
    return None if length == DEFER else writer.form[:length]
