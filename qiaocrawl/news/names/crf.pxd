cimport cython
cimport libc.math as math

cdef double _POSSIBLE

ctypedef fused real:
    float
    double

cdef class Room:
    cdef public double[:, :] scores, forward, backward, gradient, moves

@cython.locals(columns=Py_ssize_t, at=Py_ssize_t, label=Py_ssize_t, place=Py_ssize_t, row=Py_ssize_t)
cpdef void fill_scores(
    const long long[:] features, const real[:, :] weights, Py_ssize_t labels, double[:, :] scores
) noexcept nogil

@cython.locals(
    labels=Py_ssize_t, last=Py_ssize_t, at=Py_ssize_t, label=Py_ssize_t, other=Py_ssize_t,
    chosen=Py_ssize_t, top=double, value=double,
)
cpdef void find_best(
    const double[:, :] scores,
    const double[:, :] transitions,
    double[:, :] best,
    long long[:, :] before,
    long long[:] path,
) noexcept nogil

@cython.locals(
    labels=Py_ssize_t, last=Py_ssize_t, at=Py_ssize_t, label=Py_ssize_t, other=Py_ssize_t,
    top=double, value=double, total=double,
)
cpdef double sum_labellings(
    const double[:, :] scores,
    const double[:, :] transitions,
    double[:, :] forward,
    double[:, :] backward,
) noexcept nogil

@cython.locals(
    length=Py_ssize_t, labels=Py_ssize_t, columns=Py_ssize_t, one=Py_ssize_t, other=Py_ssize_t,
    at=Py_ssize_t, place=Py_ssize_t, row=Py_ssize_t, label=Py_ssize_t, log_sum=double,
    slope=double, root=double, gold_score=double,
)
cpdef double learn_sentence(
    const long long[:] features,
    const long long[:] gold,
    double[:, :] weights,
    double[:, :] transitions,
    double[:, :] weight_squares,
    double[:, :] transition_squares,
    double rate,
    double decay,
    Room room,
) noexcept nogil

@cython.locals(
    length=Py_ssize_t, labels=Py_ssize_t, at=Py_ssize_t, label=Py_ssize_t, one=Py_ssize_t,
    other=Py_ssize_t, value=double,
)
cdef void _fill_gradients(
    const long long[:] gold, const double[:, :] transitions, double log_sum, Room room
) noexcept nogil
