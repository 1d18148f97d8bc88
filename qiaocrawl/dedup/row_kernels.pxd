cimport cython
cimport libc.math as math

cdef double _STEPS, _SLACK
cdef Py_ssize_t _LAST_LEVEL
cdef unsigned long long _BITS, _ONE, _SPREAD, _OFFSET, _PRIME


cdef class TitleArrays:
    cdef public double threshold, norm
    cdef public Py_ssize_t count, found
    cdef public long long[::1] sizes
    cdef public int[::1] starts, terms, heads, slots
    cdef public unsigned long long[::1] signatures, bits
    cdef public int[::1] blocks, newest, entry_rows, places, ids
    cdef public unsigned char[::1] fill, entry_weights, entry_rests
    cdef public float[::1] idf, commonness
    cdef public double[::1] weights, parts, squares

cdef class PlacedTitles:
    cdef const int[::1] words, numbers
    cdef const long long[::1] starts
    cdef int[::1] member_row, member_next

cdef class FoundPairs:
    cdef int[::1] title, row, newest
    cdef double[::1] cosine


@cython.locals(
    count=Py_ssize_t, place_of_word=Py_ssize_t, word=Py_ssize_t, at=Py_ssize_t, i=Py_ssize_t,
    total=double, weight=double, rank=double,
)
cdef void _lay_out(
    TitleArrays index, const int[::1] words, Py_ssize_t start, Py_ssize_t end
) noexcept nogil

cdef unsigned long long _bit(unsigned long long word) noexcept nogil

cdef Py_ssize_t _capacity(Py_ssize_t block) noexcept nogil

@cython.locals(steps=Py_ssize_t)
cdef unsigned char _steps_up(double share) noexcept nogil

@cython.locals(blocks=Py_ssize_t, pool=Py_ssize_t, at=Py_ssize_t)
cdef void _post(
    TitleArrays index, Py_ssize_t term, Py_ssize_t row, double weight, double rest
) noexcept nogil

@cython.locals(
    value=cython.ulonglong, word=cython.ulonglong, mask=Py_ssize_t, at=Py_ssize_t, i=Py_ssize_t,
    row=Py_ssize_t, shift=Py_ssize_t,
)
cdef Py_ssize_t _slot(
    TitleArrays index, const int[::1] words, Py_ssize_t start, Py_ssize_t end
) noexcept nogil

@cython.locals(row=Py_ssize_t, start=Py_ssize_t, end=Py_ssize_t)
cpdef void refill_slots(TitleArrays index) noexcept nogil

@cython.locals(
    start=Py_ssize_t, end=Py_ssize_t, i=Py_ssize_t, j=Py_ssize_t, term=Py_ssize_t, met=Py_ssize_t,
    times=Py_ssize_t, product=double, total=double, weight=double,
)
cdef double _cosine(TitleArrays index, Py_ssize_t row, Py_ssize_t turn) noexcept nogil

@cython.locals(
    total=Py_ssize_t, count=Py_ssize_t, k=Py_ssize_t, later=Py_ssize_t, term=Py_ssize_t,
    block=Py_ssize_t, number=Py_ssize_t, fill=Py_ssize_t, at=Py_ssize_t, row=Py_ssize_t,
    least=double, bound=double, left=double, norm=double, weight=double, rest=double,
    entry_weight=double, entry_rest=double, shared=double, reach=double, cosine=double,
    signature=cython.ulonglong,
)
cdef Py_ssize_t _search(
    TitleArrays index, int[::1] out_row, double[::1] out_cosine, Py_ssize_t first
) noexcept nogil

@cython.locals(count=Py_ssize_t, head=Py_ssize_t, k=Py_ssize_t, word=Py_ssize_t)
cdef Py_ssize_t _look(
    TitleArrays index,
    const int[::1] words,
    Py_ssize_t start,
    Py_ssize_t end,
    Py_ssize_t own,
    int[::1] out_row,
    double[::1] out_cosine,
    Py_ssize_t first,
) noexcept nogil

@cython.locals(
    row=Py_ssize_t, to=Py_ssize_t, i=Py_ssize_t, k=Py_ssize_t, word=Py_ssize_t,
    signature=cython.ulonglong, norm=double, left=double, least=double, weight=double,
)
cdef Py_ssize_t _enter(
    TitleArrays index, const int[::1] words, Py_ssize_t start, Py_ssize_t end, Py_ssize_t slot
) noexcept nogil

@cython.locals(end=Py_ssize_t, at=Py_ssize_t, to=Py_ssize_t, row=Py_ssize_t, cosine=double)
cdef Py_ssize_t _keep_best(
    int[::1] rows, double[::1] cosines, Py_ssize_t first, Py_ssize_t count, Py_ssize_t limit
) noexcept nogil

@cython.locals(own=Py_ssize_t)
cpdef Py_ssize_t near(
    TitleArrays index, const int[::1] words, int[::1] out_row, double[::1] out_cosine
) noexcept nogil

@cython.locals(
    words="const int[::1]", starts="const long long[::1]",
    count=Py_ssize_t, title=Py_ssize_t, start=Py_ssize_t, end=Py_ssize_t, slot=Py_ssize_t,
    row=Py_ssize_t, more=Py_ssize_t, i=Py_ssize_t, number=Py_ssize_t,
)
cpdef Py_ssize_t place(
    TitleArrays index, PlacedTitles titles, Py_ssize_t first, FoundPairs pairs, Py_ssize_t limit
) noexcept nogil

@cython.locals(at=Py_ssize_t)
cpdef void unlink(
    int[::1] heads, int[::1] next_in_row, Py_ssize_t row, Py_ssize_t member
) noexcept nogil
