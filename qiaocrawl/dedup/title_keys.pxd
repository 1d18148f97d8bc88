cimport cython

cdef int _FREE
cdef unsigned long long _BITS, _FIRST, _SECOND


@cython.locals(value=cython.ulonglong)
cdef unsigned long long _home(unsigned long long high, unsigned long long low) noexcept nogil

@cython.locals(
    high=cython.ulonglong, low=cython.ulonglong, mask=Py_ssize_t, slot=Py_ssize_t,
    member=Py_ssize_t,
)
cpdef Py_ssize_t find_slot(
    const unsigned long long[:, ::1] wanted,
    Py_ssize_t at,
    const unsigned long long[:, ::1] keys,
    const int[::1] slots,
) noexcept nogil

@cython.locals(at=Py_ssize_t, slot=Py_ssize_t)
cpdef void find_members(
    const unsigned long long[:, ::1] wanted,
    const unsigned long long[:, ::1] keys,
    const int[::1] slots,
    int[::1] members,
) noexcept nogil

@cython.locals(mask=Py_ssize_t, i=Py_ssize_t, number=Py_ssize_t, slot=Py_ssize_t)
cpdef void enter_members(
    const int[::1] numbers, const unsigned long long[:, ::1] keys, int[::1] slots
) noexcept nogil
