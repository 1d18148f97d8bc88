cimport cython

cdef unsigned long long _BITS, _MULTIPLIER, _FIRST_FACTOR, _SECOND_FACTOR, _LOW, _NO_MARK
cdef unsigned int _PLANE
cdef int _LETTER, _WORD, _WIDE, _GRAM, _MOST_IN_LANES, _PHRASE, _WORDS_KEPT, _PHRASES_KEPT

cdef unsigned long long _mixed(unsigned long long value) noexcept nogil

@cython.locals(at=Py_ssize_t, value=cython.ulonglong)
cdef unsigned long long _run_hash(
    const unsigned long long[::1] codes, Py_ssize_t start, Py_ssize_t length
) noexcept nogil

cdef class GramCounts:
    cdef public const unsigned long long[::1] spread
    cdef public unsigned long long[::1] lanes, last
    cdef public long long[::1] counts
    cdef public Py_ssize_t in_lanes

@cython.locals(lane=Py_ssize_t)
cdef void _count(GramCounts grams, unsigned long long value) noexcept nogil

@cython.locals(bit=Py_ssize_t, lane=Py_ssize_t)
cdef void _empty_lanes(GramCounts grams) noexcept nogil

@cython.locals(
    last="unsigned long long[::1]", letters=Py_ssize_t, at=Py_ssize_t, place=Py_ssize_t, bit=Py_ssize_t,
    simhash=cython.ulonglong, one=cython.ulonglong,
)
cpdef unsigned long long simhash_of(
    const unsigned int[::1] points,
    const unsigned char[::1] kinds,
    GramCounts grams,
) noexcept nogil

cdef unsigned long long _crc_with(
    unsigned long long crc, unsigned long long byte, const unsigned int[::1] table
) noexcept nogil

@cython.locals(at=Py_ssize_t, crc=cython.ulonglong, point=cython.ulonglong)
cdef unsigned long long _crc_of(
    const unsigned int[::1] points, Py_ssize_t start, Py_ssize_t end, const unsigned int[::1] table
) noexcept nogil

@cython.locals(units=Py_ssize_t, at=Py_ssize_t, start=Py_ssize_t, kind=int)
cdef Py_ssize_t _fill_units(
    const unsigned int[::1] points,
    const unsigned char[::1] kinds,
    const unsigned int[::1] table,
    unsigned long long[::1] codes,
) noexcept nogil

@cython.locals(
    at=Py_ssize_t, units=Py_ssize_t, kept=Py_ssize_t, length=Py_ssize_t, phrases=Py_ssize_t,
    digest=cython.ulonglong,
)
cpdef Py_ssize_t fill_sample(
    const unsigned int[::1] points,
    const unsigned char[::1] kinds,
    const unsigned int[::1] table,
    unsigned long long[::1] codes,
    unsigned int[::1] digests,
) noexcept nogil

@cython.locals(place=Py_ssize_t, at=Py_ssize_t)
cdef Py_ssize_t _sort_in(
    unsigned int[::1] digests, Py_ssize_t first, Py_ssize_t end, unsigned long long digest
) noexcept nogil
