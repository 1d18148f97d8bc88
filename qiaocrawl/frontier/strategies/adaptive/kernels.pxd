cimport cython
cimport libc.math as math

cdef int GROUPS, LINK_NUMBERS, MAX_LINKS_HERE, MAX_NEW, URL_NUMBERS, _NEIGHBOURS
cdef double _REGION_K, _SIBLING_K, _NEIGHBOUR_K, _SAMPLE_K, _LEAST_RATE, _MOST_RATE
cdef double[4] _GROUP_K

cdef class NodeViews:
    cdef public int[:] first_link, number_of_words, link_start, link_count, new_start, new_count
    cdef public int[:, :] groups, words, plain_words
    cdef public unsigned char[:] fetched
    cdef public float[:, :] numbers
    cdef public double[:] links_here, depth, distance, similarity, relevance, value, score
    cdef public double[:] yield_sum, yield_count

cdef class LinkViews:
    cdef public int[:] source, target, next_here, region, discovered
    cdef public double[:] similarity, context, position
    cdef public float[:, :] numbers

cdef class ModelViews:
    cdef public double[:] weights, squares, word_weights, word_squares
    cdef public double[:] sums, counts, sample_sum, sample_count

@cython.locals(every=Py_ssize_t)
cpdef double base_rate(ModelViews learnt) noexcept nogil

@cython.locals(rate=double)
cpdef double evidence(double total, double count, double base, double k) noexcept nogil

cpdef double logistic(double value) noexcept nogil

@cython.locals(
    page=Py_ssize_t, first=Py_ssize_t, end=Py_ssize_t, distance=Py_ssize_t, side=Py_ssize_t,
    other=Py_ssize_t, total=double, weight=double,
)
cdef double _neighbours(
    NodeViews nodes, LinkViews links, Py_ssize_t link, double base
) noexcept nogil

@cython.locals(
    count=Py_ssize_t, beside=Py_ssize_t, link=Py_ssize_t, page=Py_ssize_t, region=Py_ssize_t,
    number=Py_ssize_t, best_page=double, best_region=double, best_sibling=double,
    first_place=double, neighbours=double, weight=double, told=double,
)
cdef void _link_features(
    NodeViews nodes,
    LinkViews links,
    ModelViews learnt,
    Py_ssize_t node,
    double base,
    double[:] features,
) noexcept nogil

@cython.locals(
    words=Py_ssize_t, position=Py_ssize_t, word=Py_ssize_t, number=Py_ssize_t, group=Py_ssize_t,
    total=double, best=double, weight=double, seen=double,
)
cdef void _own_features(
    NodeViews nodes, ModelViews learnt, Py_ssize_t node, double base, double[:] features
) noexcept nogil

@cython.locals(feature=Py_ssize_t, base=double)
cpdef void node_features(
    NodeViews nodes, LinkViews links, ModelViews learnt, Py_ssize_t node, double[:] features
) noexcept nogil

@cython.locals(
    words=Py_ssize_t, position=Py_ssize_t, feature=Py_ssize_t, total=double, logit=double
)
cdef double _logit(
    NodeViews nodes, ModelViews learnt, Py_ssize_t node, double[:] features
) noexcept nogil

@cython.locals(place=Py_ssize_t, node=Py_ssize_t)
cpdef void score_nodes(
    NodeViews nodes,
    LinkViews links,
    ModelViews learnt,
    const long long[:] wanted,
    double[:] scores,
    double[:] room,
) noexcept nogil

@cython.locals(
    count=Py_ssize_t, start=Py_ssize_t, place=Py_ssize_t, other=Py_ssize_t, at=Py_ssize_t,
    best=double, total=double, value=double,
)
cpdef double value_of(
    NodeViews nodes, LinkViews links, Py_ssize_t node, double[:] room
) noexcept nogil

@cython.locals(
    every=Py_ssize_t, number=Py_ssize_t, group=Py_ssize_t, link=Py_ssize_t, page=Py_ssize_t,
    region=Py_ssize_t, last_region=Py_ssize_t,
)
cpdef void add_yield(
    NodeViews nodes,
    LinkViews links,
    ModelViews learnt,
    Py_ssize_t node,
    double value,
    double count,
) noexcept nogil

@cython.locals(
    feature=Py_ssize_t, words=Py_ssize_t, position=Py_ssize_t, word=Py_ssize_t, error=double,
    gradient=double, change=double,
)
cpdef void step(
    NodeViews nodes,
    ModelViews learnt,
    Py_ssize_t node,
    double[:] features,
    double value,
    double rate,
    double word_rate,
) noexcept nogil

@cython.locals(
    place=Py_ssize_t, pick=Py_ssize_t, node=Py_ssize_t, feature=Py_ssize_t, value=double
)
cpdef void relearn(
    NodeViews nodes,
    LinkViews links,
    ModelViews learnt,
    const long long[:] pages,
    const double[:, :] features,
    const long long[:] picks,
    double rate,
    double word_rate,
    double[:] room,
) noexcept nogil
