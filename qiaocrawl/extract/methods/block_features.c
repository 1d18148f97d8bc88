/* The features of the blocks of a page, as block_features.py works them out with numpy.
 *
 * A page has about two hundred blocks and 198 features: numpy spends its time on being called.
 * The order of the rows is that of block_features.py, and tests compare every value; what a
 * feature is for is said there. It is compiled without optional parts of the language or the
 * library, so that any C compiler will do (see kernels/c_library.py).
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* As in block_vocabulary.py. */
enum { LETTER, HAN, DIGIT, STOP, DOT, COMMA, QUOTE, BULLET, SPACE, OTHER, CLASSES };
enum { TAGS = 15, NAMES = 11, FLAGS = TAGS + NAMES, WORDS = 8, LEVELS = 4, RANGES = 3 };
enum { FEATURES = 198 };
enum { NOTICE_CHARS = 400, IMPRINT_CHARS = 150 };
/* Columns of a block and of an element, and the numbers before them. */
enum { LINKED, BOLD, LINKS, AFTER_BREAK, ELEMENT, MARKS };
enum { FIRST, END, PARENT, DEPTH, IMAGES, PLACES };
enum { N, M, CODES, TEXT, HITS, TITLE_HITS, TITLE_WORDS, TITLE_BLOCK, LEGAL, NOTICE, ROWS, HEADER };

enum { GIVEN_IS_WRONG = -1, NO_MEMORY = -2 };

/* Words to look for, a tree of their letters: the edges of node k are first[k] to first[k + 1],
 * by letter; 0 is no node. Found are the longest words, one behind the other. */
typedef struct {
    const uint16_t *han_roots, *latin_roots;    /* the node of each first letter */
    const int32_t *first, *targets, *kinds;     /* kinds: -1 where no word ends */
    const uint32_t *letters;
} Vocabulary;

typedef struct {
    int64_t members;
    double size, prose, chars, linked;
} Group;

typedef struct {
    int64_t value, place;
} Numbered;

/* What is given. */
typedef struct {
    int64_t n, m, hits, title_hits, title_words, title_block, legal, notice, codes_given, rows;
    const int64_t *lengths, *head_lengths, *seen, *marks;           /* a block each */
    const int64_t *tags, *names, *name_flags, *places;              /* an element each */
    const int64_t *word_hits, *title_word_hits;                     /* (position, kind) each */
    const uint32_t *codes, *text;               /* of all blocks; the heads, in lower case */
    int64_t text_length;
    const uint8_t *classes;
    const Vocabulary *vocabulary;
} Given;

/* What is worked out on the way. */
typedef struct {
    float *counts, *chars, *linked, *free, *stops, *prose;          /* of a block */
    float *size, *link_share, *log_stops, *wordy, *words, *titled;
    uint8_t *first_kind, *last_kind, *title_seen;
    int64_t *containers, *alike, *starts;
    double *chars_before, *linked_before, *free_before, *stops_before, *prose_before;
    double *wordy_before;                                           /* n + 1 each */
    double *chars_in, *links_in, *prose_in, *points, *points_around, *points_far;
    float *around;                                                  /* of an element */
    uint32_t *own, *above;
    int64_t *kind, *group_of;
    Numbered *sorted;
    Group *groups;
    float all_chars, all_prose;
    float *row;                                                     /* the next one to fill */
} Work;

/* A column of a block, of an element. */
static int64_t mark(const Given *page, int column, int64_t block)
{
    return page->marks[column * page->n + block];
}

static int64_t place(const Given *page, int column, int64_t element)
{
    return page->places[column * page->m + element];
}

static float least(float a, float b) { return a < b ? a : b; }
static float most(float a, float b) { return a > b ? a : b; }
static int64_t higher(int64_t a, int64_t b) { return a > b ? a : b; }

static float *next_row(const Given *page, Work *work)
{
    float *row = work->row;
    work->row += page->n;
    return row;
}

static void add_constant(const Given *page, Work *work, float value)
{
    float *row = next_row(page, work);
    for (int64_t i = 0; i < page->n; i++)
        row[i] = value;
}

/* --- what is given -------------------------------------------------------------------------- */

static void read_given(Given *page, const int64_t *numbers)
{
    page->n = numbers[N];
    page->m = numbers[M];
    page->codes_given = numbers[CODES];
    page->text_length = numbers[TEXT];
    page->hits = numbers[HITS];
    page->title_hits = numbers[TITLE_HITS];
    page->title_words = numbers[TITLE_WORDS];
    page->title_block = numbers[TITLE_BLOCK];
    page->legal = numbers[LEGAL];
    page->notice = numbers[NOTICE];
    page->rows = numbers[ROWS];
    const int64_t *at = numbers + HEADER;
    page->lengths = at;
    page->head_lengths = at += page->n;
    page->seen = at += page->n;
    page->marks = at += page->n;
    page->tags = at += MARKS * page->n;
    page->names = at += page->m;
    page->name_flags = at += page->m;
    page->places = at += page->m;
    page->word_hits = at += PLACES * page->m;
    page->title_word_hits = at += 2 * page->hits;
}

/* No number may lead outside of an array. */
static int is_sound(const Given *page)
{
    int64_t codes = 0, heads = 0;
    if (page->n < 1 || page->m < 1 || page->title_block >= page->n || page->rows != FEATURES)
        return 0;
    for (int64_t i = 0; i < page->n; i++) {
        int64_t element = mark(page, ELEMENT, i);
        if (page->lengths[i] < 1 || page->head_lengths[i] < 1 || element < 0 || element >= page->m)
            return 0;
        codes += page->lengths[i];
        heads += page->head_lengths[i] + 1;
    }
    for (int64_t e = 0; e < page->m; e++) {
        int64_t first = place(page, FIRST, e), end = place(page, END, e);
        int64_t parent = place(page, PARENT, e);
        if (first < 0 || first > end || end > page->n || parent >= e || parent < -1)
            return 0;
        if (page->tags[e] < 0 || page->tags[e] > TAGS || page->names[e] < 0
            || page->names[e] >= page->m)
            return 0;
    }
    for (int64_t h = 0; h < page->hits; h++)
        if (page->word_hits[2 * h] < 1 || page->word_hits[2 * h] >= heads
            || page->word_hits[2 * h + 1] < 0 || page->word_hits[2 * h + 1] >= WORDS)
            return 0;
    for (int64_t h = 0; h < page->title_hits; h++)
        if (page->title_word_hits[2 * h] < 1 || page->title_word_hits[2 * h] >= heads
            || page->title_word_hits[2 * h + 1] < 0
            || page->title_word_hits[2 * h + 1] >= page->title_words)
            return 0;
    return codes == page->codes_given && heads == page->text_length
           && page->legal >= 0 && page->legal < WORDS && page->notice >= 0 && page->notice < WORDS;
}

/* --- characters and words -------------------------------------------------------------------- */

static void count_characters(const Given *page, Work *work)
{
    const uint32_t *code = page->codes;
    double chars = 0, prose = 0;
    for (int64_t i = 0; i < page->n; i++) {
        float *counts = work->counts + CLASSES * i;
        int64_t length = page->lengths[i];
        uint8_t kind = OTHER;
        for (int64_t at = 0; at < length; at++, code++) {
            kind = page->classes[*code < 0xFFFF ? *code : 0xFFFF];
            counts[kind] += 1;
            if (at == 0)
                work->first_kind[i] = kind;
        }
        work->last_kind[i] = kind;
        float all = most((float)length - counts[SPACE], 1);
        work->chars[i] = all;
        work->linked[i] = least((float)mark(page, LINKED, i), all);
        work->free[i] = all - work->linked[i];
        /* An English sentence ends with a dot before a space; abbreviations are few. */
        work->stops[i] = counts[STOP] + least(counts[DOT], counts[SPACE] / 4 + 1);
        work->prose[i] = work->stops[i] > 0 ? work->free[i] : 0;
        work->size[i] = log1pf(all);
        work->link_share[i] = work->linked[i] / all;
        work->log_stops[i] = log1pf(work->stops[i]);
        chars += all;
        prose += work->prose[i];
    }
    work->all_chars = most((float)chars, 1);
    work->all_prose = most((float)prose, 1);
}

/* The block of a position in the joined beginnings of blocks, which begin at 1. */
static int64_t block_at(const Given *page, const Work *work, int64_t position)
{
    int64_t low = 0, high = page->n;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (work->starts[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int32_t next_node(const Vocabulary *words, int32_t node, uint32_t letter)
{
    for (int32_t edge = words->first[node]; edge < words->first[node + 1]; edge++)
        if (words->letters[edge] == letter)
            return words->targets[edge];
    return 0;
}

/* The kind of the longest word at *at*, and its length; -1 where none begins. */
static int32_t word_at(const Given *page, const uint16_t *roots, int64_t at, int64_t *length)
{
    const Vocabulary *words = page->vocabulary;
    int32_t kind = -1, node = page->text[at] <= 0xFFFF ? roots[page->text[at]] : 0;
    int64_t start = at;
    while (node != 0) {
        at++;
        if (words->kinds[node] >= 0) {
            kind = words->kinds[node];
            *length = at - start;
        }
        node = at < page->text_length ? next_node(words, node, page->text[at]) : 0;
    }
    return kind;
}

/* Latin words count at the beginning of a word only: behind a space, a line end or "(". */
static int32_t latin_word_behind(const Given *page, int64_t at, int64_t *length)
{
    uint32_t border = page->text[at];
    if ((border != ' ' && border != '\n' && border != '(') || at + 1 >= page->text_length)
        return -1;
    return word_at(page, page->vocabulary->latin_roots, at + 1, length);
}

static void find_words(const Given *page, Work *work)
{
    int64_t block = 0, han_from = 0, latin_from = 0, length = 0;
    for (int64_t at = 0; at < page->text_length; at++) {
        while (block + 1 < page->n && work->starts[block + 1] <= at)
            block++;
        int32_t kind = at < han_from ? -1
                       : word_at(page, page->vocabulary->han_roots, at, &length);
        if (kind >= 0) {
            work->words[kind * page->n + block] += 1;
            han_from = at + length;
        }
        kind = at < latin_from ? -1 : latin_word_behind(page, at, &length);
        if (kind >= 0) {
            /* The line end before a block is not its own. */
            int64_t own = block + 1 < page->n && work->starts[block + 1] == at + 1;
            work->words[kind * page->n + block + own] += 1;
            latin_from = at + 1 + length;
        }
    }
}

static void count_words(const Given *page, Work *work)
{
    int64_t start = 1;
    for (int64_t i = 0; i < page->n; i++) {
        work->starts[i] = start;
        start += page->head_lengths[i] + 1;
    }
    find_words(page, work);
    for (int64_t h = 0; h < page->hits; h++) {
        const int64_t *hit = page->word_hits + 2 * h;
        work->words[hit[1] * page->n + block_at(page, work, hit[0])] += 1;
    }
    for (int64_t h = 0; h < page->title_hits; h++) {
        const int64_t *hit = page->title_word_hits + 2 * h;
        int64_t block = block_at(page, work, hit[0]);
        uint8_t *seen = work->title_seen + hit[1] * page->n + block;
        work->titled[block] += !*seen;
        *seen = 1;
    }
    for (int64_t i = 0; i < page->n; i++) {
        float weight = 0;
        for (int kind = 0; kind < WORDS; kind++)
            weight += work->words[kind * page->n + i];
        work->wordy[i] = log1pf(weight);
    }
}

/* --- elements --------------------------------------------------------------------------------- */

static void sum_before(const Given *page, const float *values, double *before)
{
    before[0] = 0;
    for (int64_t i = 0; i < page->n; i++)
        before[i + 1] = before[i] + values[i];
}

static void look_at_elements(const Given *page, Work *work)
{
    int64_t n = page->n;
    for (int64_t e = 0; e < page->m; e++) {
        uint32_t tag = page->tags[e] < TAGS ? (uint32_t)1 << page->tags[e] : 0;
        work->own[e] = tag | (uint32_t)page->name_flags[e] << TAGS;
        int64_t parent = place(page, PARENT, e);
        work->above[e] = work->own[e] | (parent < 0 ? 0 : work->above[parent]);
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t element = mark(page, ELEMENT, i);
        for (int level = 0; level < LEVELS; level++) {
            int64_t around = place(page, PARENT, element);
            work->containers[level * n + i] = element;
            element = around < 0 ? element : around;
        }
    }
    sum_before(page, work->chars, work->chars_before);
    sum_before(page, work->linked, work->linked_before);
    sum_before(page, work->free, work->free_before);
    sum_before(page, work->stops, work->stops_before);
    sum_before(page, work->prose, work->prose_before);
    sum_before(page, work->wordy, work->wordy_before);
}

static double inside(const Given *page, const double *before, int64_t element)
{
    return before[place(page, END, element)] - before[place(page, FIRST, element)];
}

/* --- rows ------------------------------------------------------------------------------------- */

static void add_own(const Given *page, Work *work)
{
    static const int shares[] = {LETTER, HAN, DIGIT, OTHER, BULLET};
    static const int amounts[] = {COMMA, QUOTE, SPACE};
    static const int ends[] = {STOP, DOT, COMMA, QUOTE, BULLET};
    int64_t n = page->n;
    float *rows[7];
    for (int r = 0; r < 7; r++)
        rows[r] = next_row(page, work);
    for (int64_t i = 0; i < n; i++) {
        rows[0][i] = work->size[i];
        rows[1][i] = work->link_share[i];
        rows[2][i] = least((float)mark(page, BOLD, i) / work->chars[i], 1);
        rows[3][i] = log1pf((float)mark(page, LINKS, i));
        rows[4][i] = (float)mark(page, AFTER_BREAK, i);
        rows[5][i] = work->log_stops[i];
        rows[6][i] = least(work->stops[i] / work->chars[i] * 20, 3);
    }
    for (int k = 0; k < 5; k++) {
        float *row = next_row(page, work);
        for (int64_t i = 0; i < n; i++)
            row[i] = work->counts[CLASSES * i + shares[k]] / work->chars[i];
    }
    for (int k = 0; k < 3; k++) {
        float *row = next_row(page, work);
        for (int64_t i = 0; i < n; i++)
            row[i] = log1pf(work->counts[CLASSES * i + amounts[k]]);
    }
    for (int k = 0; k < 5; k++) {
        float *row = next_row(page, work);
        for (int64_t i = 0; i < n; i++)
            row[i] = work->last_kind[i] == ends[k];
    }
    float *row = next_row(page, work);
    for (int64_t i = 0; i < n; i++)
        row[i] = work->first_kind[i] == BULLET;
}

static void add_words(const Given *page, Work *work, uint8_t *notices)
{
    int64_t n = page->n;
    for (int64_t i = 0; i < WORDS * n; i++)
        work->row[i] = log1pf(work->words[i]);
    work->row += WORDS * n;
    float *share = next_row(page, work), *titled = next_row(page, work);
    for (int64_t i = 0; i < n; i++) {
        float weight = 0;
        for (int kind = 0; kind < WORDS; kind++)
            weight += work->words[kind * n + i];
        share[i] = least(8 * weight / work->chars[i], 3);
        titled[i] = log1pf(work->titled[i]);
        notices[i] = (work->words[page->notice * n + i] >= 2 && work->chars[i] <= NOTICE_CHARS)
                     || (work->words[page->legal * n + i] >= 2 && work->chars[i] <= IMPRINT_CHARS);
    }
}

/* *values* of elements for the four around each block. */
static void add_around(const Given *page, Work *work, const float *values, int levels)
{
    for (int level = 0; level < levels; level++) {
        float *row = next_row(page, work);
        for (int64_t i = 0; i < page->n; i++)
            row[i] = values[work->containers[level * page->n + i]];
    }
}

/* One row for each of the flags from *first* on of the element around each block. */
static void add_flags(const Given *page, Work *work, const uint32_t *flags, int first, int level)
{
    const int64_t *container = work->containers + level * page->n;
    for (int bit = first; bit < FLAGS; bit++) {
        float *row = next_row(page, work);
        for (int64_t i = 0; i < page->n; i++)
            row[i] = (float)(flags[container[i]] >> bit & 1);
    }
}

static void add_elements(const Given *page, Work *work)
{
    enum { KINDS = 7 };
    int64_t m = page->m;
    float *around = work->around;
    for (int64_t e = 0; e < m; e++) {
        double count = (double)(place(page, END, e) - place(page, FIRST, e));
        double blocks = count > 1 ? count : 1;
        double chars = work->chars_in[e] = inside(page, work->chars_before, e);
        double linked = inside(page, work->linked_before, e);
        work->prose_in[e] = inside(page, work->prose_before, e);
        work->links_in[e] = linked / (chars > 1 ? chars : 1);
        around[0 * m + e] = log1pf((float)chars);
        around[1 * m + e] = (float)work->links_in[e];
        around[2 * m + e] = log1pf((float)count);
        around[3 * m + e] = (float)log1p(inside(page, work->stops_before, e) / blocks);
        around[4 * m + e] = (float)(chars / work->all_chars);
        around[5 * m + e] = (float)(work->prose_in[e] / work->all_prose);
        around[6 * m + e] = (float)(inside(page, work->wordy_before, e) / blocks);
    }
    for (int kind = 0; kind < KINDS; kind++)
        add_around(page, work, around + kind * m, LEVELS);
    add_flags(page, work, work->own, 0, 0);
    add_flags(page, work, work->own, TAGS, 1);
    add_flags(page, work, work->above, 0, 0);
    for (int64_t e = 0; e < m; e++)
        around[e] = (float)(place(page, DEPTH, e) / 10.0);
    add_around(page, work, around, 1);
}

static void add_neighbours(const Given *page, Work *work)
{
    static const int steps[] = {-3, -2, -1, 1, 2, 3}, halves[] = {3, 8, 20};
    const float *signals[] = {work->size, work->link_share, work->log_stops, work->wordy};
    int64_t n = page->n;
    for (int s = 0; s < 6; s++) {
        int step = steps[s];
        for (int k = 0; k < 4; k++) {
            float *row = next_row(page, work);
            for (int64_t i = 0; i < n; i++)
                row[i] = i + step < 0 || i + step >= n ? -1 : signals[k][i + step];
        }
        if (step < -2 || step > 2)
            continue;
        float *row = next_row(page, work);
        for (int64_t i = 0; i < n; i++)
            row[i] = i + step >= 0 && i + step < n
                     && work->containers[i + step] == work->containers[i];
    }
    for (int h = 0; h < 3; h++) {
        float *free = next_row(page, work), *links = next_row(page, work);
        float *stops = next_row(page, work);
        for (int64_t i = 0; i < n; i++) {
            int64_t low = higher(i - halves[h], 0), high = i + halves[h] + 1;
            if (high > n)
                high = n;
            double chars = work->chars_before[high] - work->chars_before[low];
            double linked = work->linked_before[high] - work->linked_before[low];
            free[i] = log1pf((float)(work->free_before[high] - work->free_before[low]));
            links[i] = (float)(linked / (chars > 1 ? chars : 1));
            stops[i] = log1pf((float)(work->stops_before[high] - work->stops_before[low]));
        }
    }
}

static void add_position(const Given *page, Work *work)
{
    int64_t n = page->n, at = page->title_block;
    float *rows[9];
    for (int r = 0; r < 9; r++)
        rows[r] = next_row(page, work);
    for (int64_t i = 0; i < n; i++) {
        rows[0][i] = (float)((double)i / (double)n);
        rows[1][i] = (float)(work->chars_before[i] / work->all_chars);
        rows[2][i] = (float)(work->prose_before[i] / work->all_prose);
        rows[3][i] = log1pf((float)i);
        rows[4][i] = log1pf((float)(n - i));
        rows[5][i] = rows[6][i] = rows[7][i] = rows[8][i] = 0;
        if (at < 0)
            continue;
        double since = work->prose_before[i] - work->prose_before[at] - work->prose[at];
        rows[5][i] = (float)((i > at) - (i < at));
        rows[6][i] = log1pf((float)higher(i - at, 0));
        rows[7][i] = i > at && since > 0 ? log1pf((float)since) : 0;
        rows[8][i] = 1;
    }
}

/* --- where three plain rules see the body ------------------------------------------------------ */

typedef struct {
    int64_t first, end;
} Range;

static Range range_of(const Given *page, int64_t element)
{
    Range range = {place(page, FIRST, element), place(page, END, element)};
    return range;
}

/* As in Arc90's Readability: text gives points to its element and half to the next. */
static Range by_points(const Given *page, Work *work)
{
    int64_t n = page->n, best = 0;
    double highest = 0;
    for (int64_t i = 0; i < n; i++) {
        const float *counts = work->counts + CLASSES * i;
        if (work->free[i] < 20 || work->link_share[i] >= 0.5f)
            continue;
        float points = 1 + log1pf(counts[COMMA] + work->stops[i]) * 2;
        points += least(work->free[i] / 100, 5);
        work->points[work->containers[i]] += points;
        work->points_around[work->containers[n + i]] += points;
        work->points_far[work->containers[2 * n + i]] += points;
    }
    for (int64_t e = 0; e < page->m; e++) {
        double points = work->points[e] + work->points_around[e] + 0.5 * work->points_far[e];
        points *= 1 - work->links_in[e];
        if (e == 0 || points > highest) {
            best = e;
            highest = points;
        }
    }
    return range_of(page, best);
}

/* The element with most told text when every other character counts against it twice. */
static Range by_text(const Given *page, const Work *work)
{
    int64_t best = 0;
    double highest = 0;
    for (int64_t e = 0; e < page->m; e++) {
        double value = 3 * work->prose_in[e] - 2 * work->chars_in[e];
        if (e == 0 || value > highest) {
            best = e;
            highest = value;
        }
    }
    return range_of(page, best);
}

/* The run of blocks with the highest sum, as in maximum subsequence segmentation (Kadane). */
static Range best_run(const Given *page, const Work *work)
{
    double running = 0, lowest = 0, highest = 0;
    int64_t lowest_at = 0;
    Range best = {0, 1};
    for (int64_t i = 0; i < page->n; i++) {
        running += work->prose[i] - 1.5f * work->linked[i] - 12;
        if (i == 0 || running - lowest > highest) {
            highest = running - lowest;
            best.first = lowest_at;
            best.end = i + 1;
        }
        if (running < lowest) {
            lowest = running;
            lowest_at = i + 1;
        }
    }
    return best;
}

static void add_main_container(const Given *page, Work *work)
{
    int64_t n = page->n;
    Range ranges[RANGES] = {by_points(page, work), by_text(page, work), best_run(page, work)};
    float *within = work->row, *away = within + RANGES * n, *part = away + RANGES * n;
    work->row += 3 * RANGES * n;
    double all_free = work->free_before[n] > 1 ? work->free_before[n] : 1;
    for (int r = 0; r < RANGES; r++) {
        int64_t low = ranges[r].first, high = ranges[r].end;
        for (int64_t i = 0; i < n; i++) {
            int64_t at = r * n + i, outside = higher(higher(low - i, i - high + 1), 0);
            float share = (float)((double)(i - low) / (double)higher(high - low, 1));
            within[at] = i >= low && i < high;
            away[at] = (i >= low ? 1 : -1) * log1pf((float)outside);
            part[at] = most(least(share, 1), 0);
        }
        double free = work->free_before[high] - work->free_before[low];
        add_constant(page, work, (float)(free / all_free));
    }
}

/* --- what repeats ------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    int64_t first = ((const Numbered *)a)->value, second = ((const Numbered *)b)->value;
    return (first > second) - (first < second);
}

/* Number the *count* values of *sorted* by their order, equal ones alike, into *number_of*. */
static int64_t number_equal(Numbered *sorted, int64_t count, int64_t *number_of)
{
    int64_t number = -1;
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    for (int64_t i = 0; i < count; i++) {
        if (i == 0 || sorted[i].value != sorted[i - 1].value)
            number++;
        number_of[sorted[i].place] = number;
    }
    return number + 1;
}

/* Elements are alike when they and what is around them have the same tags and names. */
static void add_alike(const Given *page, Work *work)
{
    int64_t n = page->n, m = page->m;
    for (int64_t e = 0; e < m; e++)
        work->kind[e] = page->tags[e] * m + page->names[e];
    for (int64_t i = 0; i < n; i++) {
        int64_t own = work->kind[work->containers[i]];
        work->sorted[i].value = work->kind[work->containers[n + i]] * (TAGS + 1) * m + own;
        work->sorted[i].place = i;
    }
    number_equal(work->sorted, n, work->alike);
    for (int64_t i = 0; i < n; i++) {
        Group *group = work->groups + work->alike[i];
        group->size += 1;
        group->prose += work->prose[i];
        group->chars += work->chars[i];
        group->linked += work->linked[i];
    }
    float *of_group = work->row;
    work->row += 4 * n;
    for (int64_t i = 0; i < n; i++) {
        const Group *group = work->groups + work->alike[i];
        of_group[i] = log1pf((float)group->size);
        of_group[n + i] = (float)(group->prose / work->all_prose);
        of_group[2 * n + i] = (float)(group->linked / (group->chars > 1 ? group->chars : 1));
        of_group[3 * n + i] = (float)log1p(group->chars / group->size);
    }
}

static void add_twins(const Given *page, Work *work)
{
    int64_t m = page->m;
    for (int64_t e = 0; e < m; e++) {
        int64_t parent = place(page, PARENT, e);
        parent = parent < 0 ? e : parent;
        work->sorted[e].value = parent * (TAGS + 1) * m + work->kind[e];
        work->sorted[e].place = e;
    }
    int64_t count = number_equal(work->sorted, m, work->group_of);
    for (int64_t g = 0; g < count; g++)
        work->groups[g].members = 0;
    for (int64_t e = 0; e < m; e++)
        work->groups[work->group_of[e]].members++;
    for (int64_t e = 0; e < m; e++)
        work->around[e] = log1pf((float)work->groups[work->group_of[e]].members);
    add_around(page, work, work->around, 3);
    float *seen = next_row(page, work);
    for (int64_t i = 0; i < page->n; i++)
        seen[i] = log1pf((float)page->seen[i]);
    for (int64_t e = 0; e < m; e++)
        work->around[e] = log1pf((float)place(page, IMAGES, e));
    add_around(page, work, work->around, 2);
}

static void add_page(const Given *page, Work *work)
{
    int64_t n = page->n;
    float longest = 1;
    double han = 0;
    for (int64_t i = 0; i < n; i++) {
        longest = most(longest, work->free[i]);
        han += work->counts[CLASSES * i + HAN];
    }
    add_constant(page, work, log1pf(work->all_chars));
    add_constant(page, work, (float)(work->linked_before[n] / work->all_chars));
    add_constant(page, work, log1pf((float)n));
    add_constant(page, work, (float)(han / work->all_chars));
    add_constant(page, work, log1pf((float)work->prose_before[n]));
    add_constant(page, work, log1pf(longest));
    float *row = next_row(page, work);
    for (int64_t i = 0; i < n; i++)
        row[i] = work->free[i] / longest;
}

/* --- memory and the whole ---------------------------------------------------------------------- */

/* The next *count* values of *size* bytes of what is left at *at*; only counted where it is NULL. */
static void *take(char **at, size_t *used, int64_t count, size_t size)
{
    size_t bytes = ((size_t)count * size + 15) & ~(size_t)15;
    void *taken = *at == NULL ? NULL : *at + *used;
    *used += bytes;
    return taken;
}

static size_t lay_out(const Given *page, Work *work, char *memory)
{
    int64_t n = page->n, m = page->m, larger = higher(n, m);
    size_t used = 0;
    float **of_block[] = {&work->chars, &work->linked, &work->free, &work->stops, &work->prose,
                          &work->size, &work->link_share, &work->log_stops, &work->wordy,
                          &work->titled};
    double **before[] = {&work->chars_before, &work->linked_before, &work->free_before,
                         &work->stops_before, &work->prose_before, &work->wordy_before};
    double **of_element[] = {&work->chars_in, &work->links_in, &work->prose_in, &work->points,
                             &work->points_around, &work->points_far};
    for (size_t k = 0; k < sizeof of_block / sizeof *of_block; k++)
        *of_block[k] = take(&memory, &used, n, sizeof(float));
    for (size_t k = 0; k < sizeof before / sizeof *before; k++)
        *before[k] = take(&memory, &used, n + 1, sizeof(double));
    for (size_t k = 0; k < sizeof of_element / sizeof *of_element; k++)
        *of_element[k] = take(&memory, &used, m, sizeof(double));
    work->counts = take(&memory, &used, CLASSES * n, sizeof(float));
    work->words = take(&memory, &used, WORDS * n, sizeof(float));
    work->around = take(&memory, &used, 7 * m, sizeof(float));
    work->first_kind = take(&memory, &used, n, 1);
    work->last_kind = take(&memory, &used, n, 1);
    work->title_seen = take(&memory, &used, page->title_words * n, 1);
    work->containers = take(&memory, &used, LEVELS * n, sizeof(int64_t));
    work->alike = take(&memory, &used, n, sizeof(int64_t));
    work->starts = take(&memory, &used, n, sizeof(int64_t));
    work->kind = take(&memory, &used, m, sizeof(int64_t));
    work->group_of = take(&memory, &used, m, sizeof(int64_t));
    work->own = take(&memory, &used, m, sizeof(uint32_t));
    work->above = take(&memory, &used, m, sizeof(uint32_t));
    work->sorted = take(&memory, &used, larger, sizeof(Numbered));
    work->groups = take(&memory, &used, larger, sizeof(Group));
    return used;
}

/* Work out all features.
 *
 * numbers: the header (N and so on), then the columns in the order of read_given().
 * codes: the characters of all blocks, as code points.
 * text: those of the joined heads in lower case.
 * vocabulary: what to look for in it.
 * classes: the class of each character of the basic plane, 65,536 of them.
 * values: (rows, n), all filled. chars, notices: n each.
 *
 * 0, or another number when something given leads nowhere or memory is short.
 */
int block_features(const int64_t *numbers, const uint32_t *codes, const uint32_t *text,
                   const Vocabulary *vocabulary, const uint8_t *classes, float *values,
                   float *chars, uint8_t *notices)
{
    Given page = {.codes = codes, .text = text, .vocabulary = vocabulary, .classes = classes};
    Work work = {.row = values};
    read_given(&page, numbers);
    if (!is_sound(&page))
        return GIVEN_IS_WRONG;
    char *memory = calloc(1, lay_out(&page, &work, NULL));
    if (memory == NULL)
        return NO_MEMORY;
    lay_out(&page, &work, memory);
    count_characters(&page, &work);
    count_words(&page, &work);
    look_at_elements(&page, &work);
    add_own(&page, &work);
    add_words(&page, &work, notices);
    add_elements(&page, &work);
    add_neighbours(&page, &work);
    add_position(&page, &work);
    add_main_container(&page, &work);
    add_alike(&page, &work);
    add_twins(&page, &work);
    add_page(&page, &work);
    for (int64_t i = 0; i < page.n; i++)
        chars[i] = work.chars[i];
    free(memory);
    return 0;
}
