cimport cython

cdef int _END, _UNLISTED
cdef unsigned long long _BITS, _SPREAD


cdef class SentenceLists:
    cdef public unsigned int[::1] entries
    cdef public int[::1] following, heads


cdef Py_ssize_t _bucket(SentenceLists lists, unsigned long long sentence) noexcept nogil

@cython.locals(held=Py_ssize_t, entry=Py_ssize_t)
cdef Py_ssize_t _count(SentenceLists lists, unsigned int sentence) noexcept nogil

@cython.locals(at=Py_ssize_t, sentence=cython.uint, bucket=Py_ssize_t)
cpdef void link_entries(
    SentenceLists lists, Py_ssize_t first, Py_ssize_t last, Py_ssize_t limit
) noexcept nogil

@cython.locals(at=Py_ssize_t, bucket=Py_ssize_t, entry=Py_ssize_t, before=Py_ssize_t)
cpdef void unlink_entries(SentenceLists lists, Py_ssize_t first, Py_ssize_t last) noexcept nogil

@cython.locals(at=Py_ssize_t, bucket=Py_ssize_t)
cpdef void rebuild_postings(SentenceLists lists, Py_ssize_t size) noexcept nogil

@cython.locals(count=Py_ssize_t, at=Py_ssize_t, sentence=cython.uint, entry=Py_ssize_t)
cpdef Py_ssize_t find(
    SentenceLists lists, const unsigned int[::1] query, long long[::1] places,
    long long[::1] positions
) noexcept nogil

@cython.locals(at=Py_ssize_t, held=Py_ssize_t, share=double)
cpdef void weigh(
    SentenceLists lists, const unsigned int[::1] query, Py_ssize_t usual, double[::1] weights
) noexcept nogil
