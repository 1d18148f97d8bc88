cimport cython
cimport libc.math as math

cdef int BULLET, COMMA, DIGIT, DOT, HAN, LETTER, OTHER, QUOTE, SPACE, STOP
cdef int FEATURES, IMPRINT_CHARS, NOTICE_CHARS
cdef int _TAGS, _FLAGS, _WORDS, _LEGAL, _NOTICE, _LEVELS
cdef int _LENGTH, _HEAD, _SEEN, _LINKED_CHARS, _BOLD, _LINKS, _AFTER_BREAK, _ELEMENT
cdef int _TAG, _NAMES, _NAME_FLAGS, _FIRST, _END, _PARENT, _DEPTH, _IMAGES
cdef int _CHARS, _LINKED, _FREE, _STOPS, _PROSE, _WORDY, _SUMMED
cdef int _SIZE, _LINK_SHARE, _LOG_STOPS, _TITLED, _POINTS, _BLOCK_ROWS
cdef int _ALIKE, _START, _FIRST_KIND, _LAST_KIND, _KEY, _BLOCK_INTS
cdef int _CHARS_IN, _LINKS_IN, _PROSE_IN, _POINTS_IN, _POINTS_AROUND, _POINTS_FAR
cdef int _KIND, _GROUP, _OWN_FLAGS, _FLAGS_ABOVE, _TWIN_KEY, _AROUND_ROWS
cdef int _MEMBERS, _GROUP_PROSE, _GROUP_CHARS, _GROUP_LINKED
cdef unsigned long long _BITS, _MULTIPLIER

cdef class Given:
    cdef public Py_ssize_t n, m, title_block
    cdef public const long long[:, ::1] blocks, elements
    cdef public const long long[::1] hits, title_hits
    cdef public const unsigned int[::1] codes
    cdef public const unsigned char[::1] classes

cdef class Work:
    cdef public float[:, ::1] values, of_block, counts, words
    cdef public double[:, ::1] before, of_element, around, groups
    cdef public long long[:, ::1] block_ints, element_ints
    cdef public long long[::1] table
    cdef public Py_ssize_t row, table_bits
    cdef public double all_chars, all_prose

@cython.locals(
    codes=Py_ssize_t, heads=Py_ssize_t, i=Py_ssize_t, element=Py_ssize_t, e=Py_ssize_t,
    first=Py_ssize_t, end=Py_ssize_t, at=Py_ssize_t,
)
cdef bint _is_sound(Given given, Work work) noexcept nogil

@cython.locals(
    at=Py_ssize_t, i=Py_ssize_t, length=Py_ssize_t, kind=Py_ssize_t, place=Py_ssize_t,
    spaces=double, dots=double, chars=double, linked=double, stops=double, prose=double,
)
cdef void _count_characters(Given given, Work work) noexcept nogil

@cython.locals(low=Py_ssize_t, high=Py_ssize_t, middle=Py_ssize_t)
cdef Py_ssize_t _block_at(Given given, Work work, Py_ssize_t position) noexcept nogil

@cython.locals(
    start=Py_ssize_t, i=Py_ssize_t, at=Py_ssize_t, last_block=Py_ssize_t, last_word=Py_ssize_t,
    block=Py_ssize_t, word=Py_ssize_t, kind=Py_ssize_t, weight=double,
)
cdef void _count_words(Given given, Work work) noexcept nogil

@cython.locals(
    e=Py_ssize_t, flags=cython.longlong, parent=Py_ssize_t, i=Py_ssize_t, element=Py_ssize_t,
    level=Py_ssize_t, signal=Py_ssize_t,
)
cdef void _look_at_elements(Given given, Work work) noexcept nogil

@cython.locals(parent=Py_ssize_t)
cdef Py_ssize_t _around(Given given, Py_ssize_t element) noexcept nogil

@cython.locals(end=double)
cdef double _inside(Given given, Work work, Py_ssize_t signal, Py_ssize_t element) noexcept nogil

@cython.locals(i=Py_ssize_t)
cdef void _add_constant(Given given, Work work, double value) noexcept nogil

@cython.locals(i=Py_ssize_t, count=double, chars=double)
cdef void _add_share(Given given, Work work, Py_ssize_t kind) noexcept nogil

@cython.locals(i=Py_ssize_t)
cdef void _add_amount(Given given, Work work, Py_ssize_t kind) noexcept nogil

@cython.locals(i=Py_ssize_t)
cdef void _add_is_kind(Given given, Work work, Py_ssize_t place, Py_ssize_t kind) noexcept nogil

@cython.locals(row=Py_ssize_t, i=Py_ssize_t, chars=double, stops=double, bold=double)
cdef void _add_own(Given given, Work work) noexcept nogil

@cython.locals(
    kind=Py_ssize_t, i=Py_ssize_t, chars=double, weight=double, is_notice=cython.bint,
    is_imprint=cython.bint,
)
cdef void _add_words(Given given, Work work, unsigned char[::1] notices) noexcept nogil

@cython.locals(level=Py_ssize_t, i=Py_ssize_t)
cdef void _add_around(Given given, Work work, Py_ssize_t kind, Py_ssize_t levels) noexcept nogil

@cython.locals(bit=Py_ssize_t, i=Py_ssize_t, flags=cython.longlong)
cdef void _add_flags(
    Given given, Work work, Py_ssize_t kind, Py_ssize_t first, Py_ssize_t level
) noexcept nogil

@cython.locals(
    e=Py_ssize_t, count=double, blocks=double, chars=double, prose=double, links=double,
    kind=Py_ssize_t,
)
cdef void _add_elements(Given given, Work work) noexcept nogil

@cython.locals(i=Py_ssize_t, is_inside=cython.bint)
cdef void _add_beside(Given given, Work work, Py_ssize_t signal, Py_ssize_t step) noexcept nogil

@cython.locals(step=Py_ssize_t, i=Py_ssize_t, is_same=cython.bint)
cdef void _add_neighbours(Given given, Work work) noexcept nogil

@cython.locals(
    i=Py_ssize_t, low=Py_ssize_t, high=Py_ssize_t, chars=double, linked=double, free=double,
    stops=double,
)
cdef void _add_window(Given given, Work work, Py_ssize_t half) noexcept nogil

@cython.locals(
    at=Py_ssize_t, row=Py_ssize_t, blocks=double, i=Py_ssize_t, chars=double, prose=double,
    place=Py_ssize_t, since=double,
)
cdef void _add_position(Given given, Work work) noexcept nogil

@cython.locals(
    i=Py_ssize_t, free=double, stops=double, points=double, level=Py_ssize_t, element=Py_ssize_t,
    best=Py_ssize_t, highest=double, e=Py_ssize_t,
)
cdef Py_ssize_t _best_by_points(Given given, Work work) noexcept nogil

@cython.locals(best=Py_ssize_t, highest=double, e=Py_ssize_t, value=double)
cdef Py_ssize_t _best_by_text(Given given, Work work) noexcept nogil

@cython.locals(
    row=Py_ssize_t, size=double, i=Py_ssize_t, outside=Py_ssize_t, share=double, free=double
)
cdef void _add_range(
    Given given, Work work, Py_ssize_t place, Py_ssize_t low, Py_ssize_t high
) noexcept nogil

@cython.locals(
    element=Py_ssize_t, running=double, lowest=double, highest=double, lowest_at=Py_ssize_t,
    low=Py_ssize_t, high=Py_ssize_t, i=Py_ssize_t, linked=double,
)
cdef void _add_main_container(Given given, Work work) noexcept nogil

@cython.locals(
    size=Py_ssize_t, slot=Py_ssize_t, found=Py_ssize_t, at=Py_ssize_t, mixed=cython.ulonglong
)
cdef Py_ssize_t _number_equal(
    Work work,
    long long[:, ::1] keys,
    Py_ssize_t key,
    Py_ssize_t count,
    long long[:, ::1] numbers,
    Py_ssize_t number,
) noexcept nogil

@cython.locals(
    kinds=cython.longlong, i=Py_ssize_t, own=cython.longlong, around=cython.longlong,
    group=Py_ssize_t, size=double, chars=double,
)
cdef void _add_alike(Given given, Work work) noexcept nogil

@cython.locals(
    kinds=cython.longlong, e=Py_ssize_t, key=cython.longlong, count=Py_ssize_t,
    group=Py_ssize_t, i=Py_ssize_t,
)
cdef void _add_twins(Given given, Work work) noexcept nogil

@cython.locals(longest=double, han=double, i=Py_ssize_t, free=double)
cdef void _add_page(Given given, Work work) noexcept nogil

@cython.locals(i=Py_ssize_t)
cpdef bint fill_features(
    Given given, Work work, float[::1] chars, unsigned char[::1] notices
) noexcept nogil
