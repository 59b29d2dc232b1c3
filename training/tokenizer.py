"""Byte-level BPE: training, encoding, and the piece table that the weights file carries.

1. A value is bytes. They are cut into words by a rule on three byte classes only: letters
   (A-Z, a-z and every byte from 0x80 on), digits, and the rest. No Unicode tables, so every
   engine cuts alike, and a byte string that is not UTF-8 is cut as well as any other.
2. Inside a word, neighbouring pieces are merged in the order in which the merges were learnt
   (lowest rank first, leftmost first): the canonical split.
3. Pieces 0-255 are the bytes; piece 256 + r is merge r; the last symbol ends a value.

The TypeScript reader has the same rule; the golden vectors hold the two together.
"""

import heapq
import re
from collections import Counter, defaultdict

# latin-1 view of the bytes: one character is one byte.
LETTER = "A-Za-z\x80-\xff"
WORD = re.compile(
    f"[^{LETTER}0-9]?[{LETTER}]+"  # a word, with the one space or sign before it
    f"| ?[0-9]+"  # a number, with the space before it
    f"|[^{LETTER}0-9]+(?![{LETTER}0-9])"  # signs, but the last one before a word belongs to the word
    f"|[^{LETTER}0-9]"
)
WORD_BYTES_TRAIN_MAX = 24
WORDS_TRAIN_MAX = 150_000
# Scripts without spaces give words as long as sentences: merges are learnt from slices of two characters.
UNSPACED = re.compile("[\xe3-\xed]")
# They count less, so that their merges do not take the place of common English words.
UNSPACED_WEIGHT = 0.6
SLICE = re.compile("[^\xe3-\xed]+|(?:[\xe3-\xed]..){1,2}", re.S)


def words_of(value: bytes) -> list[str]:
    return WORD.findall(value.decode("latin-1"))


def count_words(job: tuple[list[bytes], float]) -> Counter:
    """How often each word comes, times the weight."""
    lines, weight = job
    local, counts = Counter(), Counter()
    for line in lines:
        local.update(words_of(line))
    for word, n in local.items():
        unspaced = UNSPACED.search(word) is not None
        for part in SLICE.findall(word) if unspaced else [word]:
            counts[part[:WORD_BYTES_TRAIN_MAX]] += n * weight * (UNSPACED_WEIGHT if unspaced else 1)
    return counts


def train(counts: Counter, merges_wanted: int, count_min: float = 2.0) -> list[tuple[int, int]]:
    """Classic BPE over weighted word counts; ties go to the smaller pair, so a rerun gives the same."""
    words, freqs = [], []
    for word, n in sorted(counts.most_common(WORDS_TRAIN_MAX)):
        if n >= count_min:
            words.append(list(word.encode("latin-1")))
            freqs.append(n)
    pair_count = defaultdict(float)
    where = defaultdict(set)
    for i, word in enumerate(words):
        for pair in zip(word, word[1:]):
            pair_count[pair] += freqs[i]
            where[pair].add(i)
    heap = [(-n, pair) for pair, n in pair_count.items()]
    heapq.heapify(heap)
    merges = []
    while len(merges) < merges_wanted and heap:
        negative, pair = heapq.heappop(heap)
        if pair_count.get(pair, 0) <= 0 or -negative != pair_count[pair]:
            continue  # a stale entry: the count changed since it was pushed
        piece = 256 + len(merges)
        merges.append(pair)
        changed = set()
        for i in where.pop(pair):
            word, n = words[i], freqs[i]
            for old in zip(word, word[1:]):
                pair_count[old] -= n
                changed.add(old)
            word = merge_pair(word, pair, piece)
            words[i] = word
            for new in zip(word, word[1:]):
                pair_count[new] += n
                where[new].add(i)
                changed.add(new)
        pair_count.pop(pair, None)
        for p in sorted(changed):
            if pair_count.get(p, 0) > 1e-6:
                heapq.heappush(heap, (-pair_count[p], p))
            else:
                pair_count.pop(p, None)
    return merges


def merge_pair(word: list[int], pair: tuple[int, int], piece: int) -> list[int]:
    out, i, last = [], 0, len(word) - 1
    while i <= last:
        if i < last and word[i] == pair[0] and word[i + 1] == pair[1]:
            out.append(piece)
            i += 2
        else:
            out.append(word[i])
            i += 1
    return out


class Tokenizer:
    def __init__(self, merges: list[tuple[int, int]]):
        self.merges = [tuple(m) for m in merges]
        self.rank = {pair: r for r, pair in enumerate(self.merges)}
        self.pieces = [bytes([b]) for b in range(256)]
        for left, right in self.merges:
            self.pieces.append(self.pieces[left] + self.pieces[right])
        self.end = len(self.pieces)
        self.vocabulary = self.end + 1
        self.cache: dict[str, list[int]] = {}

    def split_word(self, word: str) -> list[int]:
        found = self.cache.get(word)
        if found is not None:
            return found
        ids = list(word.encode("latin-1"))
        while len(ids) > 1:
            rank, pair = min((self.rank.get(p, 1 << 30), p) for p in zip(ids, ids[1:]))
            if rank == 1 << 30:
                break
            ids = merge_pair(ids, pair, 256 + rank)
        if len(word) <= WORD_BYTES_TRAIN_MAX:
            self.cache[word] = ids
        return ids

    def split(self, value: bytes) -> list[int]:
        out: list[int] = []
        for word in words_of(value):
            out.extend(self.split_word(word))
        return out

    def join(self, ids) -> bytes:
        return b"".join(self.pieces[i] for i in ids)
