cimport cython

cdef int CHARACTERS, DEPTH, DIRECTORIES, ENDING, FIRST_DIRECTORY, FLAGS, HAS_DOT, HAS_PARAMETERS
cdef int HOST, MAX_TEXT, NAME, PARTS, ROW, STEM, SUBDOMAIN, SUFFIX
cdef int W_DEPTH, W_FILE, W_FIRST, W_HOST, WEIGHTS
cdef unsigned long long _BITS
cdef double _SLACK

cdef class TextViews:
    cdef public const unsigned char[:] codes
    cdef public const long long[:] lengths
    cdef public const signed char[:] kinds

cdef class ExampleViews:
    cdef public Py_ssize_t ever
    cdef public const int[:, :] rows
    cdef public const unsigned long long[:] masks
    cdef public double[:, :] host_likeness

@cython.locals(bit=cython.ulonglong, character=Py_ssize_t, i=Py_ssize_t)
cpdef void fill_masks(
    const unsigned char[:] codes,
    Py_ssize_t start,
    Py_ssize_t length,
    unsigned long long[:] masks,
    Py_ssize_t place,
) noexcept nogil

@cython.locals(
    i=Py_ssize_t, distance=Py_ssize_t, bit=cython.ulonglong, top=cython.ulonglong,
    positive=cython.ulonglong, negative=cython.ulonglong, equal=cython.ulonglong,
    vertical=cython.ulonglong, horizontal=cython.ulonglong, rise=cython.ulonglong,
    fall=cython.ulonglong,
)
cpdef Py_ssize_t edit_distance(
    const unsigned long long[:] masks,
    Py_ssize_t place,
    Py_ssize_t length,
    const unsigned char[:] codes,
    Py_ssize_t start,
    Py_ssize_t other_length,
) noexcept nogil

@cython.locals(
    ours=Py_ssize_t, theirs=Py_ssize_t, length=Py_ssize_t, other_length=Py_ssize_t,
    longer=double, place=Py_ssize_t, distance=Py_ssize_t,
)
cdef double _likeness(
    const int[:, :] rows,
    Py_ssize_t i,
    ExampleViews examples,
    Py_ssize_t j,
    Py_ssize_t column,
    TextViews texts,
) noexcept nogil

@cython.locals(i=Py_ssize_t, j=Py_ssize_t, column=Py_ssize_t, likeness=double)
cpdef void compare_hosts(
    const int[:, :] rows, ExampleViews examples, TextViews texts
) noexcept nogil

@cython.locals(
    place=Py_ssize_t, column=Py_ssize_t, ours=Py_ssize_t, theirs=Py_ssize_t, likeness=double,
    whole=double, weight=double, same_type=double,
)
cdef double _paths(
    const int[:, :] rows,
    Py_ssize_t i,
    ExampleViews examples,
    Py_ssize_t j,
    TextViews texts,
    const double[:] weights,
) noexcept nogil

@cython.locals(
    ours=int, theirs=int, longer=Py_ssize_t, stems=Py_ssize_t, likeness=double, stem=double,
    same_suffix=cython.bint,
)
cdef double _files(
    const int[:, :] rows, Py_ssize_t i, ExampleViews examples, Py_ssize_t j, TextViews texts
) noexcept nogil

@cython.locals(beside=double, reachable=double)
cdef double _total(
    const int[:, :] rows,
    Py_ssize_t i,
    ExampleViews examples,
    Py_ssize_t j,
    TextViews texts,
    const double[:] weights,
    double directories,
    double least,
    double[:] parts,
) noexcept nogil

@cython.locals(
    most=Py_ssize_t, at=Py_ssize_t, last=Py_ssize_t, i=Py_ssize_t, first=Py_ssize_t,
    step=Py_ssize_t, number=Py_ssize_t, j=Py_ssize_t, part=Py_ssize_t, directories=double,
    whole=double, likeness=double,
)
cpdef void raise_to_nearest(
    const int[:, :] rows,
    const long long[:] since,
    const long long[:] host,
    ExampleViews examples,
    TextViews texts,
    const double[:] weights,
    double[:] best,
    double[:, :] parts,
    double[:] tried,
) noexcept nogil
