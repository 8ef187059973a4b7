"""Lines of indexes, logs and lists: their fields are found, and each is taken by the collector.

A scanner reads lines as almost all of its format are. All others it hands back, for the reader in
Python to look at: those of another form, and those that the collector rejects.
"""
import sys

cimport cython
from libc.string cimport memset

from crawlgauge.core.captures cimport TAKEN, Collector, Outcome
from crawlgauge.core.fields cimport (
    DIGEST, GROUP, KEY, MIME, N_FIELDS, NO_TIME, STATUS, TIME, URL, Fields, clear_fields, is_none,
    read_time,
)
from crawlgauge.core.words cimport (
    Span, are_digits, find_any, find_far, find_near, is_digit, is_same, is_space, is_text,
    load64, memcpy, trimmed, u8, u64,
)

cdef enum:
    MOST_HANDED_BACK = 1000     # in one call: what is made of them takes memory
    MOST_CELLS = 40
    MOST_LAYOUTS = 8
    MOST_MEMBERS = 24           # of JSON objects that are wanted
    LONGEST_NAME = 40
    LEGEND_LENGTH = 4           # CDX behind one byte more

cdef enum Reading:  # of a line
    FOUND       # its fields
    SKIPPED     # blank or a comment
    HANDED_BACK # of another form
    STOPPED     # it changes how those that follow are read

FIELDS = ("url", "key", "time", "status", "mime", "digest", "group")
"""The fields of a record, in the order of their numbers."""

cdef inline bint starts_time(Span text) noexcept nogil:
    """Tell whether a text begins with a year; if not, it is another field."""
    return (
        text.end - text.start >= 4 and is_digit(text.start[0]) and is_digit(text.start[1])
        and is_digit(text.start[2]) and is_digit(text.start[3])
    )


cdef class LineScanner:
    """Scans lines into a collector; each format has its own way to read one.

    Parameters
    ----------
    collector
        Takes the captures.
    """
    cdef Collector _collector
    cdef Fields _fields
    cdef Outcome _outcome
    cdef Py_ssize_t _longest

    def __init__(self, Collector collector not None):
        self._collector = collector

    def scan(
        self,
        const u8[::1] data not None,
        Py_ssize_t start,
        Py_ssize_t end,
        Py_ssize_t longest=sys.maxsize,
    ):
        """Scan whole lines.

        Parameters
        ----------
        data
            Holds the lines.
        start, end
            Where they begin, and where the newline of the last of them ends.
        longest
            Lines of more bytes are handed back.

        Returns
        -------
        int
            Where the lines end that were scanned: not always at the end.
        int
            How many these were.
        list of (int, int, int)
            The lines that are handed back: their number among these, where they begin and where
            they end, without their newline.
        """
        if not 0 <= start <= end <= data.shape[0]:
            raise ValueError("no such part of the data")
        if start < end and data[end - 1] != c"\n":
            raise ValueError("the last line has no end")
        cdef const u8* first = &data[0] if start < end else NULL
        cdef const u8* place = first + start
        cdef Span line
        cdef Py_ssize_t n_lines = 0
        cdef Reading reading
        handed_back = []
        self._longest = longest
        while place < first + end and len(handed_back) < MOST_HANDED_BACK:
            self._collector.make_room()
            line.start = line.end = place
            with nogil:
                reading = self._scan_on(&line, first + end, &n_lines)
            if reading == SKIPPED:
                place = line.end
            elif reading == STOPPED:
                # Alone, so that the reader knows which one it is.
                place = line.start
                if not handed_back:
                    place = line.end + 1
                    handed_back.append((n_lines, line.start - first, line.end - first))
                    n_lines += 1
                break
            else:
                place = line.end + 1
                if reading == HANDED_BACK or (
                    self._collector.take_odd(&self._fields, 0, self._outcome) is not None
                ):
                    handed_back.append((n_lines - 1, line.start - first, line.end - first))
        return place - first, n_lines, handed_back

    cdef Reading _scan_on(
        self, Span* line, const u8* end, Py_ssize_t* n_lines
    ) except? FOUND nogil:
        """Take lines up to one that needs somebody's attention, or until there is no room."""
        cdef Reading reading = SKIPPED
        cdef Py_ssize_t n_room = self._collector.n_room()
        self._outcome = TAKEN
        while line.end < end and n_room:
            n_room -= 1
            line.start, line.end = line.end, find_far(line.end, end, c"\n")
            reading = HANDED_BACK
            if line.end - line.start <= self._longest:
                reading = self._read(line[0])
            if reading == STOPPED:
                return reading
            n_lines[0] += 1
            if reading == FOUND:
                self._outcome = self._collector.take(&self._fields, 0)
            if reading == HANDED_BACK or self._outcome != TAKEN:
                return reading
            line.end += 1
        return SKIPPED

    cdef Reading _read(self, Span line) noexcept nogil:
        """Find the fields of a line that ends at a newline."""
        return HANDED_BACK


# ------------------------------------------------------------------------------------- lists of URLs


@cython.final
cdef class UrlScanner(LineScanner):
    """Scans lists of URLs: one a line; blank lines and those that begin with # are passed over."""

    cdef Reading _read(self, Span line) noexcept nogil:
        line = trimmed(line)
        if line.start == line.end or line.start[0] == c"#":
            return SKIPPED
        if may_have_separator(line):
            return HANDED_BACK
        clear_fields(&self._fields)
        self._fields.texts[URL] = line
        return FOUND


cdef bint may_have_separator(Span line) noexcept nogil:
    """Tell whether a line may have several fields, or line ends of other systems.

    Blanks and control characters of ASCII; in Unicode NEL, LS and PS, which begin with C2 or E2.
    """
    cdef const u8* place = line.start
    cdef bint is_odd = False
    while place < line.end:
        is_odd |= (place[0] <= 0x20) | (place[0] == 0x7F) | (place[0] == 0xC2) | (place[0] == 0xE2)
        place += 1
    return is_odd


# --------------------------------------------------------------------------------------- CDX indexes


@cython.final
cdef class CdxScanner(LineScanner):
    """Scans CDX lines whose columns are known; at a legend line it stops.

    Parameters
    ----------
    collector
        Takes the captures.
    """
    cdef u8 _delimiter
    cdef int _fewest, _n_layouts
    cdef int[MOST_LAYOUTS][N_FIELDS] _columns
    cdef Span[MOST_CELLS] _cells

    def arrange(self, bytes delimiter not None, list layouts not None):
        """Say what stands where in the lines that follow.

        Parameters
        ----------
        delimiter
            What stands between columns.
        layouts
            For lines of each number of columns, without a gap, that number and the column of each
            field: a list by `FIELDS`, −1 for those that such lines lack.
        """
        if len(delimiter) != 1 or not 1 <= len(layouts) <= MOST_LAYOUTS:
            raise ValueError("no such layout")
        self._delimiter, self._n_layouts = delimiter[0], len(layouts)
        self._fewest = layouts[0][0]
        for number, (n_columns, columns) in enumerate(layouts):
            if n_columns != self._fewest + number or not 1 <= n_columns < MOST_CELLS:
                raise ValueError("layouts must be of rising numbers of columns")
            for field in range(N_FIELDS):
                if not -1 <= columns[field] < n_columns:
                    raise ValueError("no such column")
                self._columns[number][field] = columns[field]

    cdef Reading _read(self, Span line) noexcept nogil:
        cdef int n_cells, field
        cdef int* columns
        cdef Span* cells = self._cells
        cdef Span status
        cdef Py_ssize_t place
        if is_legend(line):
            return STOPPED
        if line.end > line.start and (line.end - 1)[0] == c"\r":
            line.end -= 1
        while line.start < line.end and line.start[0] == c" ":
            line.start += 1
        while line.end > line.start and (line.end - 1)[0] == c" ":
            line.end -= 1
        if line.start == line.end:
            return SKIPPED
        n_cells = split(line, self._delimiter, cells, self._fewest + self._n_layouts - 1)
        if not self._fewest <= n_cells < self._fewest + self._n_layouts:
            return HANDED_BACK
        columns = self._columns[n_cells - self._fewest]
        clear_fields(&self._fields)
        for field in range(N_FIELDS):
            if columns[field] >= 0 and not is_none(cells[columns[field]]):
                self._fields.texts[field] = cells[columns[field]]
        if self._fields.texts[TIME].start != NULL and not starts_time(self._fields.texts[TIME]):
            return HANDED_BACK
        if self._n_layouts > 1:
            # What stands in the place of the status tells lines of other layouts.
            status = self._fields.texts[STATUS]
            for place in range(status.end - status.start):
                if not is_digit(status.start[place]):
                    return HANDED_BACK
        return FOUND


cdef bint is_legend(Span line) noexcept nogil:
    """Tell whether a line says what the columns hold, or tries to."""
    cdef const u8* place = line.start
    while place < line.end and (place[0] == c" " or place[0] == c"\t"):
        place += 1
    if place < line.end and not is_space(place[0]) and not is_alphanumeric(place[0]):
        place += 1
    if line.end - place < 4 or not is_same(place, b"CDX", 3):
        return False
    return not is_alphanumeric(place[3]) and place[3] != c"\r"


cdef inline bint is_alphanumeric(u8 byte) noexcept nogil:
    return is_digit(byte) or c"a" <= (byte | 0x20) <= c"z"


cdef int split(Span line, u8 delimiter, Span* cells, int most) noexcept nogil:
    """Find the cells of a line; return how many, or one more than there may be."""
    cdef const u8* place = line.start
    cdef int n_cells = 0
    while n_cells < most:
        cells[n_cells].start = place
        cells[n_cells].end = find_near(place, line.end, delimiter)
        place = cells[n_cells].end + 1
        n_cells += 1
        if place > line.end:
            return n_cells
    # One delimiter too many at the end of a line stands before nothing.
    return n_cells if place == line.end else n_cells + 1


# ------------------------------------------------------------------------------- Heritrix's crawl.log


cdef enum:  # columns of a log
    LOG_TIME, LOG_STATUS, LOG_SIZE, LOG_URL, LOG_PATH, LOG_REFERRER, LOG_MIME, LOG_THREAD
    LOG_FETCHED, LOG_DIGEST, LOG_SOURCE, LOG_ANNOTATIONS
    N_LOG_COLUMNS


@cython.final
cdef class CrawlLogScanner(LineScanner):
    """Scans Heritrix's crawl.log.

    Parameters
    ----------
    collector
        Takes the captures.
    group
        Which column, from 0 on, captures are grouped by; −1 if by none.
    by_file
        Whether they are grouped by what the JSON object behind the columns says, which the reader
        must look at.
    """
    cdef int _group
    cdef bint _by_file
    cdef Span[N_LOG_COLUMNS] _columns

    def __init__(self, Collector collector not None, int group=-1, *, bint by_file=False):
        super().__init__(collector)
        if not -1 <= group < N_LOG_COLUMNS:
            raise ValueError("no such column")
        self._group, self._by_file = group, by_file

    cdef Reading _read(self, Span line) noexcept nogil:
        cdef Span* columns = self._columns
        cdef Span* fields = self._fields.texts
        cdef Span mime
        cdef int n_columns
        cdef const u8* rest
        line = trimmed(line)
        if line.start == line.end:
            return SKIPPED
        n_columns = find_words(line, columns)
        if n_columns <= LOG_THREAD or self._by_file or line.start[0] == c"m":
            return HANDED_BACK  # cut, or a header
        clear_fields(&self._fields)
        set_unless_dash(&fields[URL], columns[LOG_URL])
        set_unless_dash(&fields[STATUS], columns[LOG_STATUS])
        set_unless_dash(&fields[TIME], columns[LOG_TIME])
        mime = columns[LOG_MIME]
        if not is_text(mime, b"no-type", 7) and not is_text(mime, b"unknown", 7):
            set_unless_dash(&fields[MIME], mime)
        if n_columns > LOG_DIGEST:
            set_unless_dash(&fields[DIGEST], columns[LOG_DIGEST])
        if n_columns > LOG_FETCHED:
            use_begin_of_fetching(&fields[TIME], columns[LOG_FETCHED])
        # Early versions had no source tag, and later ones leave out annotations if there are none.
        if n_columns > LOG_SOURCE:
            rest = columns[min(n_columns - 1, LOG_ANNOTATIONS)].start
            self._fields.is_revisit = tell_of_revisit(rest, line.end)
        if 0 <= self._group < n_columns:
            set_unless_dash(&fields[GROUP], columns[self._group])
        return FOUND


cdef int find_words(Span line, Span* columns) noexcept nogil:
    """Find the columns between white space, up to the JSON object that may follow them."""
    cdef const u8* place = line.start
    cdef int n_columns = 0
    while n_columns < N_LOG_COLUMNS:
        while place < line.end and is_space(place[0]):
            place += 1
        if place == line.end or (n_columns > LOG_SOURCE and place[0] == c"{"):
            break
        columns[n_columns].start = place
        while place < line.end and place[0] > 0x20:
            place += 1
        if place < line.end and not is_space(place[0]):
            return 0  # a control character
        columns[n_columns].end = place
        n_columns += 1
    return n_columns


cdef inline void set_unless_dash(Span* field, Span text) noexcept nogil:
    if not is_none(text):
        field[0] = text


cdef void use_begin_of_fetching(Span* time, Span fetched) noexcept nogil:
    """Take the time when fetching began, which a plus and its duration follow, if it is one."""
    fetched.end = find_near(fetched.start, fetched.end, c"+")
    if read_time(fetched) != NO_TIME:
        set_unless_dash(time, fetched)


cdef bint tell_of_revisit(const u8* place, const u8* end) noexcept nogil:
    """Tell whether one of the annotations says that the capture repeats an earlier one."""
    cdef u8 before = c","
    while place < end:
        if place[0] == c"{" and is_space(before):
            return False
        if before == c"," or is_space(before):
            if end - place >= 10 and is_same(place, b"duplicate:", 10):
                return True
            if end - place >= 12 and is_same(place, b"warcRevisit:", 12):
                return True
        before = place[0]
        place += 1
    return False


# ------------------------------------------------------------------------------------- JSON objects


cdef struct Member:
    # One that is wanted of objects.
    int length
    int field
    u64 word                # its first eight bytes, or fewer
    u8[LONGEST_NAME] name


cdef class ObjectScanner(LineScanner):
    """Scans JSON Lines: an object a line.

    Parameters
    ----------
    collector
        Takes the captures.
    members
        The names of members that are wanted, and the number of the field that each stands for.
    """
    cdef Member[MOST_MEMBERS] _members
    cdef int _n_members, _wanted

    def __init__(self, Collector collector not None, list members not None):
        super().__init__(collector)
        cdef bytes name
        if len(members) > MOST_MEMBERS:
            raise ValueError("too many members")
        self._wanted = 0
        for number, (name, field) in enumerate(members):
            if len(name) > LONGEST_NAME or not 0 <= field < N_FIELDS:
                raise ValueError(f"no member can be called {name!r}, or hold field {field}")
            self._members[number].length, self._members[number].field = len(name), field
            memset(self._members[number].name, 0, LONGEST_NAME)
            memcpy(self._members[number].name, <const u8*> name, len(name))
            self._members[number].word = load64(self._members[number].name)
            self._wanted |= 1 << field
        self._n_members = len(members)

    cdef Reading _read(self, Span line) noexcept nogil:
        line = trimmed(line)
        if line.start == line.end:
            return SKIPPED
        clear_fields(&self._fields)
        if not self._read_object(line) or self._fields.texts[URL].start == NULL:
            return HANDED_BACK  # perhaps a server's message
        return FOUND

    cdef inline int _which(self, Span name, const u8* end) noexcept nogil:
        """Return the field that a member of this name holds, or −1."""
        cdef Py_ssize_t length = name.end - name.start
        cdef u64 word = first_bytes(name.start, length, end)
        cdef int number
        cdef Member* member
        for number in range(self._n_members):
            member = &self._members[number]
            if member.word == word and member.length == length and (
                length <= 8 or is_same(name.start, member.name, length)
            ):
                return member.field
        return -1

    cdef bint _read_object(self, Span text) noexcept nogil:
        """Find the wanted members of the object that a text is; False if it is not as most are.

        What follows the last wanted member is taken on trust, unless there is another brace: two
        lines that lack the newline between them are not one.
        """
        cdef const u8* place = text.start
        cdef Span name, value
        cdef int found = 0, field
        cdef bint is_number
        if text.end - place < 2 or place[0] != c"{" or (text.end - 1)[0] != c"}":
            return False
        place = skip_blank(place + 1)
        while place[0] == c'"':
            name.start = place + 1
            name.end = find_end(name.start, text.end)
            if name.end == text.end or name.end[0] != c'"':
                return False
            place = skip_blank(name.end + 1)
            if place[0] != c":":
                return False
            place = skip_blank(place + 1)
            field = self._which(name, text.end)
            if field < 0:
                place = skip_value(place, text.end)
            elif found >> field & 1:
                return False
            else:
                found |= 1 << field
                is_number = place[0] != c'"'
                place = read_value(place, text.end, &value)
                if place != NULL and value.start != NULL and not is_none(value):
                    self._fields.texts[field] = value
                    # Whether a number can be anything else differs between formats.
                    if is_number and not (field == STATUS or field == TIME or field == GROUP):
                        return False
            if place == NULL:
                return False
            place = skip_blank(place)
            if place[0] == c"}":
                return place + 1 == text.end
            if place[0] != c",":
                return False
            if found == self._wanted and find_far(place, text.end, c"}") == text.end - 1:
                return True
            place = skip_blank(place + 1)
        return False


# A newline stands behind each line: what looks for anything else may look at that byte too.


cdef inline const u8* skip_blank(const u8* place) noexcept nogil:
    while place[0] == c" " or place[0] == c"\t":
        place += 1
    return place


cdef inline const u8* find_end(const u8* place, const u8* end) noexcept nogil:
    """Return where a string ends, or has an escape or a control character, which it may not."""
    return find_any(place, end, c'"', c"\\", 0x1F)


cdef inline u64 first_bytes(const u8* place, Py_ssize_t length, const u8* end) noexcept nogil:
    """Return so many bytes, eight at most, as a word."""
    cdef u64 word = 0
    if length >= 8:
        return load64(place)
    if end - place >= 8:
        return load64(place) & ((<u64> 1 << 8 * length) - 1)
    memcpy(&word, place, length)
    return word


cdef inline const u8* read_value(const u8* place, const u8* end, Span* value) noexcept nogil:
    """Read a string without escapes, a whole number or null; return where it ends, or NULL."""
    value.start = value.end = NULL
    if place[0] == c'"':
        value.start = place + 1
        value.end = find_end(value.start, end)
        if value.end == end or value.end[0] != c'"':
            return NULL
        return value.end + 1
    if end - place >= 4 and is_same(place, b"null", 4):
        return place + 4
    value.start = place
    while is_digit(place[0]):
        place += 1
    value.end = place
    # JSON has no number with leading zeros; what is no whole number goes on.
    if place == value.start or (value.start[0] == c"0" and place > value.start + 1):
        return NULL
    if place[0] == c"." or (place[0] | 0x20) == c"e":
        return NULL
    return place


cdef const u8* skip_value(const u8* place, const u8* end) noexcept nogil:
    """Return where a value ends of which nobody wants to know, or NULL if it does not."""
    cdef int depth = 0
    while place < end:
        if place[0] == c'"':
            place = find_end(place + 1, end)
            while place < end and place[0] == c"\\":
                if end - place < 2:
                    return NULL
                place = find_end(place + 2, end)
            if place == end or place[0] != c'"':
                return NULL
            place += 1
        elif place[0] == c"{" or place[0] == c"[":
            depth += 1
            place += 1
        elif place[0] == c"}" or place[0] == c"]":
            if depth == 0:
                return NULL
            depth -= 1
            place += 1
        else:
            # A number or a word; between values of an object or array, what stands there.
            while place < end and place[0] not in b'",{}[]':
                place += 1
            if depth == 0:
                return place
            if place < end and place[0] == c",":
                place += 1
        if depth == 0:
            return place
    return NULL


# -------------------------------------------------------------------------------------- CDXJ indexes


@cython.final
cdef class CdxjScanner(ObjectScanner):
    """Scans CDXJ lines: a key, a time of 14 digits and a JSON object."""

    cdef Reading _read(self, Span line) noexcept nogil:
        cdef Span key, time
        if line.end > line.start and (line.end - 1)[0] == c"\r":
            line.end -= 1
        if line.start == line.end:
            return SKIPPED
        key.start, key.end = line.start, find_any(line.start, line.end, c" ", c" ", c" ")
        time.start = key.end + 1
        time.end = time.start + 14
        if key.start == key.end or key.start[0] == c"!" or key.start[0] == c"{":
            return HANDED_BACK
        if key.end - key.start <= LEGEND_LENGTH:
            return HANDED_BACK  # it may be a legend
        if line.end - key.end < 18:  # fourteen digits between spaces, and braces
            return HANDED_BACK
        if key.end[0] != c" ":
            return HANDED_BACK
        if not are_digits(load64(time.start)) or not are_digits(load64(time.start + 6)):
            return HANDED_BACK
        if time.end[0] != c" ":
            return HANDED_BACK
        clear_fields(&self._fields)
        line.start = time.end + 1
        if not self._read_object(line):
            return HANDED_BACK
        self._fields.texts[KEY], self._fields.texts[TIME] = key, time
        return FOUND
