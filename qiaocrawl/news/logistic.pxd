cimport cython
cimport libc.math as math


@cython.locals(row=Py_ssize_t, at=Py_ssize_t, label=Py_ssize_t, column=Py_ssize_t, value=double)
cpdef void add_scores(
    const long long[:] starts,
    const long long[:] columns,
    const double[:] values,
    const double[:, :] weights,
    Py_ssize_t classes,
    double[:, :] scores,
) noexcept nogil

@cython.locals(
    classes=Py_ssize_t, place=Py_ssize_t, row=Py_ssize_t, at=Py_ssize_t, label=Py_ssize_t,
    column=Py_ssize_t, loss=double, top=double, total=double, slope=double, own=double,
)
cpdef double learn_rows(
    const long long[:] order,
    const long long[:] starts,
    const long long[:] columns,
    const double[:] values,
    const long long[:] labels,
    const double[:] importance,
    double[:, :] weights,
    double[:] bias,
    double[:, :] squares,
    double[:] scores,
    double rate,
    double decay,
) noexcept nogil
