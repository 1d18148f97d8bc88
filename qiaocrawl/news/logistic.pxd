cimport cython
cimport libc.math as math


cdef class Rows:
    cdef const long long[:] starts
    cdef const long long[:] columns
    cdef const double[:] values


cdef class Weights:
    cdef double[:, :] weights
    cdef double[:] bias
    cdef double[:, :] squares
    cdef double[:] scores


@cython.locals(row=Py_ssize_t, at=Py_ssize_t, label=Py_ssize_t, column=Py_ssize_t, value=double)
cpdef void add_scores(
    Rows rows, const double[:, :] weights, Py_ssize_t classes, double[:, :] scores
) noexcept nogil

@cython.locals(
    scores="double[:]", weights="double[:, :]", squares="double[:, :]",
    classes=Py_ssize_t, place=Py_ssize_t, row=Py_ssize_t, begin=Py_ssize_t, end=Py_ssize_t,
    at=Py_ssize_t, label=Py_ssize_t, column=Py_ssize_t,
    loss=double, top=double, total=double, slope=double, own=double,
)
cpdef double learn_rows(
    const long long[:] order,
    Rows rows,
    const long long[:] labels,
    const double[:] importance,
    Weights learnt,
    double rate,
    double decay,
) noexcept nogil
