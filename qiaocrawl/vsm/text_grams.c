/* Hashes of the runs of a text: its SimHash, and the sample of its words and phrases.
 *
 * As dedup/bodies/fingerprints.py and discovery/generated_text.py work them out with numpy, which
 * for one page spends its time on being called; what they are for is said there, and tests compare
 * every bit. It is compiled without optional parts of the language or the library, so that any C
 * compiler will do (see kernels/c_library.py).
 */

#include <stdint.h>
#include <stdlib.h>

enum { LETTER = 1 };                            /* of a SimHash, as in fingerprints.py */
enum { WORD = 1, WIDE = 2 };                    /* of a sample, as in generated_text.py */
enum { GRAM = 4, PHRASE = 5, UNITS = 800, PLANE = 1 << 16 };
enum { WORDS_KEPT = 4, PHRASES_KEPT = 8 };

/* As in gram_hashes.py: a polynomial in the multiplier, then the finaliser of splitmix64. */
static const uint64_t MULTIPLIER = 0x9E3779B97F4A7C15u;

static uint64_t mixed(uint64_t hash)
{
    hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9u;
    hash = (hash ^ hash >> 27) * 0x94D049BB133111EBu;
    return hash ^ hash >> 31;
}

static uint64_t run_hash(const uint64_t *codes, int length)
{
    uint64_t hash = codes[0];
    for (int at = 1; at < length; at++)
        hash = hash * MULTIPLIER + codes[at];
    return mixed(hash);
}

/* How many hashes have each bit. Eight bits of a byte are counted at once, each in a byte of its
 * own of a lane, until one of those may be full. */
typedef struct {
    uint64_t spread[256], lanes[8];
    int64_t counts[64];
    int in_lanes;
} BitCounts;

static void begin(BitCounts *bits)
{
    for (int byte = 0; byte < 256; byte++) {
        bits->spread[byte] = 0;
        for (int bit = 0; bit < 8; bit++)
            bits->spread[byte] |= (uint64_t)(byte >> bit & 1) << 8 * bit;
    }
    for (int lane = 0; lane < 8; lane++)
        bits->lanes[lane] = 0;
    for (int bit = 0; bit < 64; bit++)
        bits->counts[bit] = 0;
    bits->in_lanes = 0;
}

static void empty_lanes(BitCounts *bits)
{
    for (int bit = 0; bit < 64; bit++)
        bits->counts[bit] += bits->lanes[bit / 8] >> 8 * (bit % 8) & 0xFF;
    for (int lane = 0; lane < 8; lane++)
        bits->lanes[lane] = 0;
    bits->in_lanes = 0;
}

static void count(BitCounts *bits, uint64_t hash)
{
    for (int lane = 0; lane < 8; lane++)
        bits->lanes[lane] += bits->spread[hash >> 8 * lane & 0xFF];
    if (++bits->in_lanes == 255)
        empty_lanes(bits);
}

/* The SimHash of a text of n characters: 0 for one without letters. */
uint64_t text_simhash(const uint32_t *points, const uint8_t *kinds, int64_t n)
{
    BitCounts bits;
    uint64_t last[GRAM] = {0}, simhash = 0;
    int64_t letters = 0, grams = 0;
    begin(&bits);
    for (int64_t i = 0; i < n; i++) {
        if (kinds[i] != LETTER)
            continue;
        for (int at = 1; at < GRAM; at++)
            last[at - 1] = last[at];
        last[GRAM - 1] = points[i];
        if (++letters >= GRAM) {
            count(&bits, run_hash(last, GRAM));
            grams++;
        }
    }
    if (!letters)
        return 0;
    if (!grams) {
        /* Shorter than one gram: zeros behind it. */
        uint64_t padded[GRAM] = {0};
        for (int at = 0; at < letters; at++)
            padded[at] = last[GRAM - letters + at];
        count(&bits, run_hash(padded, GRAM));
        grams = 1;
    }
    empty_lanes(&bits);
    /* Bit 0 of a hash, that of 1, is the first of a byte in memory there, the last one here. */
    for (int bit = 0; bit < 64; bit++)
        if (2 * bits.counts[bit] > grams)
            simhash |= (uint64_t)1 << (56 - 8 * (bit / 8) + bit % 8);
    return simhash ? simhash : 1;
}

static uint32_t crc_of_byte(uint32_t crc, uint32_t byte)
{
    crc ^= byte;
    for (int bit = 0; bit < 8; bit++)
        crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1)));
    return crc;
}

/* CRC-32 of characters of the basic plane in UTF-8. */
static uint32_t crc_of(const uint32_t *table, const uint32_t *points, int64_t n)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (int64_t i = 0; i < n; i++) {
        uint32_t point = points[i], bytes[3];
        int size = 0;
        if (point < 0x80) {
            bytes[size++] = point;
        } else if (point < 0x800) {
            bytes[size++] = 0xC0 | point >> 6;
            bytes[size++] = 0x80 | (point & 0x3F);
        } else {
            bytes[size++] = 0xE0 | point >> 12;
            bytes[size++] = 0x80 | (point >> 6 & 0x3F);
            bytes[size++] = 0x80 | (point & 0x3F);
        }
        for (int at = 0; at < size; at++)
            crc = table[(crc ^ bytes[at]) & 0xFF] ^ crc >> 8;
    }
    return ~crc;
}

/* The first units of a text: a wide character each, or a word; how many. */
static int units_of(const uint32_t *points, int64_t n, const uint8_t *kinds, uint64_t *codes)
{
    uint32_t table[256];
    int units = 0;
    for (uint32_t byte = 0; byte < 256; byte++)
        table[byte] = crc_of_byte(0, byte);
    for (int64_t i = 0, end; i < n && units < UNITS; i = end) {
        int kind = kinds[points[i]];
        end = i + 1;
        if (kind != WORD && kind != WIDE)
            continue;
        while (kind == WORD && end < n && kinds[points[end]] == WORD)
            end++;
        codes[units++] = mixed(crc_of(table, points + i, end - i));
    }
    return units;
}

/* The high half of a hash, bit 0 clear, as the digest of a run; whether it is among those kept. */
static int keeps(const uint64_t *codes, int length, int one_of, uint32_t *digest)
{
    *digest = (uint32_t)(run_hash(codes, length) >> 32) & 0xFFFFFFFEu;
    return *digest < 0xFFFFFFFFu / one_of + 1;
}

static int by_size(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

/* The sample of a text of n characters, into out, which holds 3 * UNITS; how many there are, or -1
 * for a text with a character outside of the basic plane. kinds: of each character of that. */
int64_t text_sample(const uint32_t *points, int64_t n, const uint8_t *kinds, uint32_t *out)
{
    uint64_t codes[UNITS];
    int64_t kept = 0, phrases, last;
    int units;
    for (int64_t i = 0; i < n; i++)
        if (points[i] >= PLANE)
            return -1;
    units = units_of(points, n, kinds, codes);
    for (int length = 1; length <= 2; length++)
        for (int at = 0; at + length <= units; at++)
            kept += keeps(codes + at, length, WORDS_KEPT, out + kept);
    phrases = kept;
    for (int at = 0; at + PHRASE <= units; at++)
        kept += keeps(codes + at, PHRASE, PHRASES_KEPT, out + kept);
    if (kept == phrases)
        return kept;
    qsort(out + phrases, (size_t)(kept - phrases), sizeof *out, by_size);
    last = phrases;
    for (int64_t at = phrases + 1; at < kept; at++)
        if (out[at] != out[last])
            out[++last] = out[at];
    for (int64_t at = phrases; at <= last; at++)
        out[at] |= 1;
    return last + 1;
}
