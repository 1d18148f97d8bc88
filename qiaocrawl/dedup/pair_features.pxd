cimport cython
cimport libc.math as math

cdef Py_ssize_t _CLASSES, _NUMBER, _NAME


cdef class PairArrays:
    cdef public float[::1] idf, features
    cdef public unsigned char[::1] kinds, in_a, in_b, used, a_kept, b_kept
    cdef public int[::1] letters_at, a, b, row, run
    cdef public unsigned int[::1] letters
    cdef public long long[::1] a_letters, b_letters, a_bigrams, b_bigrams, numbers, names
    cdef public long long[:, ::1] by_class
    cdef public short[:, ::1] table
    cdef public double[::1] total, shared, top, lone
    cdef public Py_ssize_t a_size, b_size, longest_run


cdef class TreeArrays:
    cdef public int[::1] roots, lefts, rights
    cdef public short[::1] features
    cdef public float[::1] bounds, values
    cdef public double start


cpdef double pair_cosine(
    const int[::1] a, const int[::1] b, const float[::1] idf
) noexcept nogil

cdef class ScoreArrays:
    cdef float[::1] scores
    cdef int[::1] letters
    cdef unsigned char[::1] other_numbers

@cython.locals(count=Py_ssize_t, i=Py_ssize_t, k=Py_ssize_t)
cpdef void batch_features(
    const int[::1] words, const long long[::1] starts, PairArrays pair, float[::1] out
) noexcept nogil

@cython.locals(count=Py_ssize_t, i=Py_ssize_t)
cpdef void score_batch(
    const float[::1] features, TreeArrays trees, float[::1] scores
) noexcept nogil

@cython.locals(i=Py_ssize_t, one=Py_ssize_t, other=Py_ssize_t)
cpdef void score_rows(
    const int[::1] ones,
    const int[::1] others,
    const double[::1] cosines,
    const int[::1] words,
    const int[::1] starts,
    PairArrays pair,
    TreeArrays trees,
    ScoreArrays out,
) noexcept nogil

@cython.locals(i=Py_ssize_t)
cdef void _lay_out(
    PairArrays pair,
    const int[::1] words,
    Py_ssize_t a_start,
    Py_ssize_t a_end,
    Py_ssize_t b_start,
    Py_ssize_t b_end,
) noexcept nogil

@cython.locals(count=Py_ssize_t, i=Py_ssize_t)
cdef Py_ssize_t _count_letters(PairArrays pair, const int[::1] words, Py_ssize_t size) noexcept nogil

@cython.locals(at=Py_ssize_t)
cdef bint _has_lone_number(
    PairArrays pair, const int[::1] words, Py_ssize_t size, const unsigned char[::1] found
) noexcept nogil

@cython.locals(
    product=double, a_square=double, b_square=double, weight=double, lengths=double, i=Py_ssize_t,
    j=Py_ssize_t,
)
cdef double _cosine(
    const int[::1] a, Py_ssize_t a_size, const int[::1] b, Py_ssize_t b_size, const float[::1] idf
) noexcept nogil

@cython.locals(at=Py_ssize_t)
cdef void _fill(PairArrays pair, double cosine) noexcept nogil

@cython.locals(
    out="float[::1]", a_size=Py_ssize_t, b_size=Py_ssize_t, shared_words=Py_ssize_t, a_part=double,
    b_part=double, best=double, weight=double, at=Py_ssize_t, i=Py_ssize_t, k=Py_ssize_t,
)
cdef Py_ssize_t _fill_words(PairArrays pair) noexcept nogil

cdef double _share(double part, double whole) noexcept nogil

@cython.locals(count=Py_ssize_t, i=Py_ssize_t, j=Py_ssize_t)
cdef Py_ssize_t _find(
    const int[::1] words,
    Py_ssize_t size,
    const int[::1] others,
    Py_ssize_t others_size,
    unsigned char[::1] found,
) noexcept nogil

@cython.locals(
    total=double, shared=double, top=double, lone=double, weight=double, i=Py_ssize_t,
)
cdef void _weigh(
    PairArrays pair,
    Py_ssize_t side,
    const int[::1] words,
    Py_ssize_t size,
    const unsigned char[::1] found,
) noexcept nogil

@cython.locals(
    out="float[::1]", one="long long[::1]", other="long long[::1]", a_size=Py_ssize_t,
    b_size=Py_ssize_t, less=Py_ssize_t, more=Py_ssize_t, a_pairs=Py_ssize_t, b_pairs=Py_ssize_t,
    shared=Py_ssize_t, ordered=Py_ssize_t, first=Py_ssize_t, last=Py_ssize_t,
)
cdef Py_ssize_t _fill_letters(PairArrays pair, Py_ssize_t at) noexcept nogil

@cython.locals(count=Py_ssize_t, i=Py_ssize_t, at=Py_ssize_t)
cdef Py_ssize_t _spell(
    PairArrays pair,
    const int[::1] words,
    Py_ssize_t size,
    const unsigned char[::1] found,
    bint only_lone,
    long long[::1] out,
) noexcept nogil

@cython.locals(count=Py_ssize_t, i=Py_ssize_t)
cdef Py_ssize_t _pair_up(
    const long long[::1] letters, Py_ssize_t size, long long[::1] out
) noexcept nogil

@cython.locals(count=Py_ssize_t, i=Py_ssize_t, j=Py_ssize_t)
cdef Py_ssize_t _count_shared(
    const long long[::1] a,
    Py_ssize_t a_size,
    const long long[::1] b,
    Py_ssize_t b_size,
    unsigned char[::1] used,
) noexcept nogil

@cython.locals(
    longest=Py_ssize_t, i=Py_ssize_t, j=Py_ssize_t, letter=cython.longlong,
    corner=cython.int, run_corner=cython.int, left=cython.int, run=cython.int, above=cython.int,
    run_above=cython.int,
)
cdef Py_ssize_t _common_letters(
    PairArrays pair, Py_ssize_t a_size, Py_ssize_t b_size
) noexcept nogil

@cython.locals(
    out="float[::1]", a_size=Py_ssize_t, b_size=Py_ssize_t, kept=Py_ssize_t, exchanges=Py_ssize_t,
    insertions=Py_ssize_t, numbers=Py_ssize_t, names=Py_ssize_t, exchanged_top=double,
    exchanged=double, inserted=double, i=Py_ssize_t, j=Py_ssize_t,
)
cdef void _fill_order(PairArrays pair, Py_ssize_t at) noexcept nogil

@cython.locals(i=Py_ssize_t, j=Py_ssize_t, kept=Py_ssize_t)
cdef Py_ssize_t _align(PairArrays pair, Py_ssize_t a_size, Py_ssize_t b_size) noexcept nogil

@cython.locals(
    total=double, top=double, weight=double, numbers=Py_ssize_t, names=Py_ssize_t, term=Py_ssize_t,
)
cdef Py_ssize_t _gap(
    PairArrays pair,
    Py_ssize_t side,
    const int[::1] words,
    const unsigned char[::1] kept,
    Py_ssize_t start,
    Py_ssize_t size,
) noexcept nogil

@cython.locals(total=double, value=double, i=Py_ssize_t, node=Py_ssize_t)
cdef double _score(
    const float[::1] features, Py_ssize_t first, TreeArrays trees
) noexcept nogil
