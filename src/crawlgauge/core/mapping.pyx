"""Files in memory without reading them: sets of keys are mapped from where they lie.

Python's own `mmap` holds a file descriptor for each map, and of many crawls there would be too many.
"""
from cpython.buffer cimport PyBuffer_FillInfo
from posix.fcntl cimport O_RDONLY, open as open_file
from posix.mman cimport MAP_FAILED, MAP_SHARED, PROT_READ, mmap, munmap
from posix.stat cimport fstat, struct_stat
from posix.unistd cimport close

import os

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
