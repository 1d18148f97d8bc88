cimport cython

cdef long long _END


@cython.locals(
    a_top=double, b_top=double, shared_top=double, i=Py_ssize_t, j=Py_ssize_t,
    a_sentence=cython.longlong, b_sentence=cython.longlong, sentence=cython.longlong,
    in_a=cython.bint, in_b=cython.bint, a_leads=cython.bint, b_leads=cython.bint, weight=double,
    figure=double,
)
cpdef bint overlap(
    const unsigned int[::1] a,
    const unsigned int[::1] b,
    const double[::1] a_weights,
    const double[::1] b_weights,
    long long reach,
    long long[::1] counts,
    double[:, ::1] sums,
) noexcept nogil

cdef void _count(
    long long[::1] counts, double[:, ::1] sums, Py_ssize_t at, double weight, double figure
) noexcept nogil
