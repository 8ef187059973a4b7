"""The machine: its memory and processors, and what the core was compiled with.

Files are seen in memory without being read, as sets of keys are. Python's own `mmap` holds a file
descriptor for each map, and of many crawls there would be too many.
"""
from cpython.buffer cimport PyBuffer_FillInfo
from posix.fcntl cimport O_RDONLY, open as open_file
from posix.mman cimport MAP_FAILED, MAP_SHARED, PROT_READ, mmap, munmap
from posix.stat cimport fstat, struct_stat
from posix.unistd cimport close

import os

POLARS_MEMORY = "dirty_decay_ms:30000"
"""Said to the allocator of Polars, jemalloc: to keep for half a minute what it frees."""

cdef extern from *:
    """
    #ifdef __GLIBC__
    #include <malloc.h>
    static void keep_freed(void) {
        mallopt(M_MMAP_THRESHOLD, 1 << 30);
        mallopt(M_TRIM_THRESHOLD, 1 << 30);
        mallopt(M_ARENA_MAX, 1);
    }
    #else
    static void keep_freed(void) {}
    #endif
    """
    void keep_freed()

cdef extern from "Python.h":
    object PyErr_SetFromErrnoWithFilenameObject(object kind, object name)


cdef class Mapping:
    """The content of a file, to be read only, as `memoryview` and numpy see it.

    Parameters
    ----------
    path
        The file, which nobody may shorten while it is mapped.

    Raises
    ------
    OSError
        If it cannot be opened.
    """
    cdef void* _start
    cdef Py_ssize_t _n_bytes

    def __cinit__(self, path):
        cdef bytes name = os.fsencode(path)
        cdef struct_stat found
        cdef int descriptor = open_file(name, O_RDONLY)
        if descriptor < 0:
            PyErr_SetFromErrnoWithFilenameObject(OSError, path)
        try:
            if fstat(descriptor, &found) != 0:
                PyErr_SetFromErrnoWithFilenameObject(OSError, path)
            self._n_bytes = found.st_size
            if self._n_bytes:
                self._start = mmap(NULL, self._n_bytes, PROT_READ, MAP_SHARED, descriptor, 0)
                if self._start == MAP_FAILED:
                    self._start = NULL
                    PyErr_SetFromErrnoWithFilenameObject(OSError, path)
        finally:
            close(descriptor)

    def __dealloc__(self):
        if self._start != NULL:
            munmap(self._start, self._n_bytes)

    def __len__(self):
        return self._n_bytes

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self._start, self._n_bytes, 1, flags)


def keep_freed_memory():
    """Let the C library keep what is freed, up to a gigabyte, and Polars, if it is not loaded yet.

    Pages that the system has just handed out cost more than what is done with most of them.
    """
    keep_freed()
    os.environ.setdefault("_RJEM_MALLOC_CONF", POLARS_MEMORY)


def count_processors():
    """Return how many processors there are for this process, which may be fewer than there are."""
    has_affinity = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


cdef extern from *:
    """
    #ifdef __clang__
    #define CRAWLGAUGE_COMPILER "clang " __clang_version__
    #else
    #define CRAWLGAUGE_COMPILER "gcc " __VERSION__
    #endif
    """
    const char *CRAWLGAUGE_COMPILER
    const char *CRAWLGAUGE_VARIANT
    const int CYTHON_HEX_VERSION


def describe_build():
    """Return the variant of the build, the compiler and the version of Cython."""
    version = CYTHON_HEX_VERSION
    numbers = ".".join(str(version >> shift & 255) for shift in (24, 16, 8))
    return f"{CRAWLGAUGE_VARIANT.decode()}, {CRAWLGAUGE_COMPILER.decode()}, Cython {numbers}"
