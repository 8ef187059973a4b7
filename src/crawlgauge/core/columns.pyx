"""Columns of a table, of which each row is a record: taken by the collector where they lie.

Tables come over Arrow's C stream interface (`__arrow_c_stream__`), as Polars and others give it.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.string cimport strcmp

from crawlgauge.core.captures cimport TAKEN, Collector, Outcome
from crawlgauge.core.fields cimport N_FIELDS, STATUS, TIME, URL, Fields, clear_fields
from crawlgauge.core.words cimport Span, bytes_of, i32, i64, memcpy, u8

cdef enum:
    MOST_EXAMPLES = 5
    INLINE_BYTES = 12       # so long texts stand in their view itself

cdef extern from *:
    """
    struct ArrowSchema {
        const char* format; const char* name; const char* metadata; int64_t flags;
        int64_t n_children; struct ArrowSchema** children; struct ArrowSchema* dictionary;
        void (*release)(struct ArrowSchema*); void* private_data;
    };
    struct ArrowArray {
        int64_t length; int64_t null_count; int64_t offset; int64_t n_buffers; int64_t n_children;
        const void** buffers; struct ArrowArray** children; struct ArrowArray* dictionary;
        void (*release)(struct ArrowArray*); void* private_data;
    };
    struct ArrowArrayStream {
        int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
        int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
        const char* (*get_last_error)(struct ArrowArrayStream*);
        void (*release)(struct ArrowArrayStream*); void* private_data;
    };
    """
    struct ArrowSchema:
        const char* format
        i64 n_children
        ArrowSchema** children
        void (*release)(ArrowSchema*) noexcept
    struct ArrowArray:
        i64 length
        i64 null_count
        i64 offset
        i64 n_children
        const void** buffers
        ArrowArray** children
        void (*release)(ArrowArray*) noexcept
    struct ArrowArrayStream:
        int (*get_schema)(ArrowArrayStream*, ArrowSchema*) noexcept
        int (*get_next)(ArrowArrayStream*, ArrowArray*) noexcept
        const char* (*get_last_error)(ArrowArrayStream*) noexcept

cdef struct Column:
    int field
    bint is_view            # of texts; else numbers
    const u8* validity      # NULL if nothing is missing
    const u8* values
    const void** buffers    # that longer texts stand in
    i64 offset


cdef inline bint is_there(Column* column, i64 row) noexcept nogil:
    row += column.offset
    return column.validity == NULL or column.validity[row >> 3] >> (row & 7) & 1


cdef inline Span read_view(Column* column, i64 row) noexcept nogil:
    """Return a text: its view holds it, or says in which buffer it stands, and where."""
    cdef const u8* view = column.values + 16 * (row + column.offset)
    cdef i32[4] words
    cdef Span text
    memcpy(words, view, 16)
    text.start = view + 4
    if words[0] > INLINE_BYTES:
        text.start = <const u8*> column.buffers[2 + words[2]] + words[3]
    text.end = text.start + words[0]
    return text


cdef void read_row(Column* columns, int n_columns, i64 row, Fields* fields) noexcept nogil:
    cdef int number
    cdef Column* column
    clear_fields(fields)
    for number in range(n_columns):
        column = &columns[number]
        if not is_there(column, row):
            continue
        if column.is_view:
            fields.texts[column.field] = read_view(column, row)
        elif column.field == TIME:
            fields.seconds = (<const i64*> column.values)[row + column.offset]
        else:
            fields.number = (<const i32*> column.values)[row + column.offset]


def add_columns(Collector collector not None, table not None, list fields not None):
    """Take the rows of a table in as records.

    Parameters
    ----------
    collector
        Takes the captures.
    table
        Anything with ``__arrow_c_stream__``. Its columns are texts or bytes as views; times may be
        64-bit numbers of seconds since 1970, and statuses 32-bit numbers.
    fields
        What each of its columns holds: a place in `FIELDS`.

    Returns
    -------
    list of (int, str, bytes)
        The first rows that are rejected: which, why, and their URL.
    """
    capsule = table.__arrow_c_stream__()
    cdef ArrowArrayStream* stream = <ArrowArrayStream*> PyCapsule_GetPointer(
        capsule, b"arrow_array_stream"
    )
    cdef Column[N_FIELDS] columns
    cdef ArrowSchema schema
    cdef ArrowArray array
    cdef i64 n_before = 0
    if stream.get_schema(stream, &schema) != 0:
        raise ValueError((stream.get_last_error(stream) or b"no schema").decode())
    try:
        _check_schema(&schema, columns, fields)
    finally:
        schema.release(&schema)
    examples = []
    while True:
        if stream.get_next(stream, &array) != 0:
            raise ValueError((stream.get_last_error(stream) or b"no data").decode())
        if array.release == NULL:
            return examples
        try:
            _add_array(collector, &array, columns, len(fields), n_before, examples)
            n_before += array.length
        finally:
            array.release(&array)


cdef int _check_schema(ArrowSchema* schema, Column* columns, list fields) except -1:
    cdef int number
    cdef const char* format
    if schema.n_children != len(fields) or len(fields) > N_FIELDS:
        raise ValueError("the table has another number of columns")
    for number, field in enumerate(fields):
        format = schema.children[number].format
        columns[number].field = field
        columns[number].is_view = strcmp(format, b"vu") == 0 or strcmp(format, b"vz") == 0
        if columns[number].is_view:
            continue
        if not (field == TIME and strcmp(format, b"l") == 0) and not (
            field == STATUS and strcmp(format, b"i") == 0
        ):
            raise ValueError(f"column {number} is of format {format.decode()!r}")
    return 0


cdef int _add_array(
    Collector collector, ArrowArray* array, Column* columns, int n_columns, i64 n_before, list examples
) except -1:
    cdef int number
    cdef ArrowArray* child
    cdef Fields fields
    cdef Outcome outcome = TAKEN
    cdef i64 row = 0
    for number in range(n_columns):
        child = array.children[number]
        columns[number].validity = <const u8*> child.buffers[0] if child.null_count else NULL
        columns[number].values = <const u8*> child.buffers[1]
        columns[number].buffers = child.buffers
        columns[number].offset = child.offset + array.offset
    while row < array.length:
        collector.make_room()
        with nogil:
            while row < array.length and collector.n_room():
                read_row(columns, n_columns, row, &fields)
                row += 1
                outcome = collector.take(&fields, 0)
                if outcome != TAKEN:
                    break
        if outcome != TAKEN:
            reason = collector.take_odd(&fields, 0, outcome)
            outcome = TAKEN
            if reason is not None:
                collector.reject(reason)
                if len(examples) < MOST_EXAMPLES:
                    url = bytes_of(fields.texts[URL]) or b""
                    examples.append((n_before + row - 1, reason, url))
    return 0
