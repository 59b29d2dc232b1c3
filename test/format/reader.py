"""A reader of undamaged blocks of format versions 1, 7, 9, 15, 17 and 23, written from docs/FORMAT.md alone: it follows the page and
not the code, and so proves that the page is enough.

    python3 reader.py --alphabet alphabet-data.ts --weights reader-5.bin FILE.json …

reads every golden block of the files and compares it with the facts that the block carries. Exit status 1 if
anything differs. Only the standard library and numpy are used. "Section" in the comments is a section of FORMAT.md.
"""

import argparse
import hashlib
import hmac
import json
import os
import re
import struct
import sys
import zlib

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of numpy wait in busy loops
import numpy as np

P = 7681
TAG_CARRIERS, DIRECTORY_AT, DIRECTORY_MOST, MOST_CARRIERS = 10, 11, 128, 480
STANDARD_CHANNELS, CHANNELS = 40, 256
FREE, OWN = 8, 16
MOST_BYTES = 1024
GROUP_BITS = [0, 12, 25, 38, 51, 64, 77, 90, 103, 116, 129]


def require(holds, why):
    if not holds:
        raise ValueError(why)


# ---- Section 1: words and places ------------------------------------------------------------------------------


def read_alphabet(path):
    """The two classes, each a dictionary from word to symbol."""
    with open(path, encoding="utf-8") as file:
        source = file.read()
    classes = []
    for name in ("CLASS_A", "CLASS_B"):
        coded = re.sub(r"\s", "", re.search(name + r": string = `([^`]*)`", source).group(1))
        words = [""]
        for shared, rest in re.findall(r"(\d)(\D+)", coded):
            words.append(words[-1][: int(shared)] + rest)
        classes.append(words[1:])
    checksum = hashlib.sha256("".join(word + "\n" for words in classes for word in words).encode()).hexdigest()
    require(checksum == re.search(r'CHECKSUM = "(\w+)"', source).group(1), "the alphabet's checksum is wrong")
    require(all(len(words) == P for words in classes), "a class of the alphabet has not 7,681 words")
    return [{word: symbol for symbol, word in enumerate(words)} for words in classes]


def class_sequence():
    a = [0] * 8 + [1]
    while len(a) < 511:
        a.append((a[-9] + a[-5]) % 2)
    return [0] + a


def symbols_of(text, alphabet):
    match = re.fullmatch(r"\[MEM\] (.*) \[/MEM\]", text)
    require(match, "no markers")
    words = match.group(1).split(" ")
    require(len(words) == 512, "not 512 words")
    symbols = [alphabet[d].get(word) for d, word in zip(class_sequence(), words)]
    require(None not in symbols, "a word is not of the class of its place")
    return symbols


# ---- Section 2: carriers --------------------------------------------------------------------------------------


def spectrum_of(symbols):
    """S[k] = 512^(−1) Σ x[t] ω^(−kt). A sum is below 512 · 7681², which int64 holds."""
    inverse = pow(pow(17, 15, P), -1, P)
    power = np.array([pow(inverse, i, P) for i in range(512)], dtype=np.int64)
    k = np.arange(512)
    sums = power[np.outer(k, k) % 512] @ np.array(symbols, dtype=np.int64) % P
    return [int(s) for s in sums * pow(512, -1, P) % P]


# ---- Section 5: digits ----------------------------------------------------------------------------------------


def bits_of_digits(digits):
    """The bits, as a string of 0 and 1, that a run of carriers holds."""
    bits = ""
    for at in range(0, len(digits), 10):
        group = digits[at : at + 10]
        number = 0
        for digit in group:
            number = number * P + digit
        width = GROUP_BITS[len(group)]
        require(number < 1 << width, "a group of digits is too large")
        bits += format(number, "0%db" % width)
    return bits


# ---- Section 6: range coder -----------------------------------------------------------------------------------


class Decoder:
    def __init__(self, bits):
        self.bits = bits
        self.at = 32
        self.low, self.high = 0, (1 << 32) - 1
        self.code = int(bits[:32].ljust(32, "0"), 2)
        self.shifts = 0

    def narrow(self, start, size, total):
        span = self.high - self.low + 1
        self.high = self.low + span * (start + size) // total - 1
        self.low = self.low + span * start // total
        while True:
            if self.high < 1 << 31:
                less = 0
            elif self.low >= 1 << 31:
                less = 1 << 31
            elif self.low >= 1 << 30 and self.high < 3 << 30:
                less = 1 << 30
            else:
                return
            bit = int(self.bits[self.at]) if self.at < len(self.bits) else 0
            self.at += 1
            self.shifts += 1
            self.low = 2 * (self.low - less)
            self.high = 2 * (self.high - less) + 1
            self.code = 2 * (self.code - less) + bit

    def symbol(self, frequencies):
        """The next symbol. Symbols own their shares in the order of their numbers."""
        ends = np.cumsum(frequencies)
        total = int(ends[-1])
        target = ((self.code - self.low + 1) * total - 1) // (self.high - self.low + 1)
        symbol = int(np.searchsorted(ends, target, side="right"))
        size = int(frequencies[symbol])
        self.narrow(int(ends[symbol]) - size, size, total)
        return symbol


# ---- Section 4: directory -------------------------------------------------------------------------------------


def read_directory(digits, version):
    """The number of carriers of each channel, of the groups and each free fact, and of the directory itself."""
    is_free, has_own = FREE <= version < OWN, version >= FREE
    decoder = Decoder("".join(format(digit & 4095, "012b") for digit in digits))
    holds, exponents = [1, 1], [1, 3, 8, 10, 6, 2, 1, 1, 1]
    lengths = [0] * CHANNELS

    def one_of(count):
        return decoder.symbol([1] * count)

    def read_length():
        k = decoder.symbol(exponents)
        exponents[k] += 8
        return (1 << k) + one_of(1 << k)

    for channel in range(STANDARD_CHANNELS):
        yes = decoder.symbol(holds)
        holds[yes] += 1
        if yes:
            lengths[channel] = read_length()
    channel = STANDARD_CHANNELS + one_of(CHANNELS - STANDARD_CHANNELS + is_free) if has_own else None
    if is_free and channel == CHANNELS:
        channel = None
    while channel is not None:
        require(channel < CHANNELS, "channel %d" % channel)
        lengths[channel] = read_length()
        what = one_of(4) if channel < CHANNELS - 1 else 0
        channel = (
            None if what == 0 else
            channel + 1 if what == 1 else
            channel + 2 + one_of(8) if what == 2 else
            channel + 1 + one_of(CHANNELS - 1 - channel)
        )
    free, more = [], [1, 1]
    if is_free:
        free += [read_length(), read_length()]
        while sum(free) < 512:
            yes = decoder.symbol(more)
            more[yes] += 1
            if not yes:
                break
            free.append(read_length())
    size = -(-(decoder.shifts + 2) // 12)
    require(size <= DIRECTORY_MOST, "the directory is too long")
    return lengths, free, size


# ---- Section 8: seal ------------------------------------------------------------------------------------------


def times2(byte):
    return (byte << 1) ^ (0x11B if byte & 0x80 else 0)


def make_sbox():
    powers = [1]  # of 3, which generates the field
    while len(powers) < 255:
        powers.append(powers[-1] ^ times2(powers[-1]))
    sbox = [0x63] * 256
    for i, byte in enumerate(powers):
        twice = powers[-i % 255] * 257  # the inverse, two times side by side
        sbox[byte] ^= (twice ^ twice >> 7 ^ twice >> 6 ^ twice >> 5 ^ twice >> 4) & 255
    return sbox


SBOX = make_sbox()
DOUBLE = [times2(byte) for byte in range(256)]


class Aes256:
    def __init__(self, key):
        words = [list(key[i : i + 4]) for i in range(0, 32, 4)]
        constant = 1
        for i in range(8, 60):
            word = words[-1]
            if i % 8 == 0:
                word = [SBOX[byte] for byte in word[1:] + word[:1]]
                word[0] ^= constant
                constant = times2(constant)
            elif i % 8 == 4:
                word = [SBOX[byte] for byte in word]
            words.append([a ^ b for a, b in zip(words[-8], word)])
        self.round_keys = [sum(words[i : i + 4], []) for i in range(0, 60, 4)]

    def block(self, data):
        state = [a ^ b for a, b in zip(data, self.round_keys[0])]
        for number, key in enumerate(self.round_keys[1:], 1):
            state = [SBOX[state[5 * i % 16]] for i in range(16)]  # SubBytes and ShiftRows
            if number < 14:
                mixed = []
                for c in range(0, 16, 4):
                    column = state[c : c + 4]
                    every = column[0] ^ column[1] ^ column[2] ^ column[3]
                    mixed += [column[i] ^ every ^ DOUBLE[column[i] ^ column[(i + 1) % 4]] for i in range(4)]
                state = mixed
            state = [a ^ b for a, b in zip(state, key)]
        return bytes(state)


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def dbl(block):
    number = int.from_bytes(block, "big") << 1
    return (number & (1 << 128) - 1 ^ (0x87 if number >> 128 else 0)).to_bytes(16, "big")


def pad(data):
    return (data + b"\x80").ljust(16, b"\0")


def cmac(aes, data):
    """AES-CMAC of RFC 4493."""
    key = dbl(aes.block(bytes(16)))
    at = max(0, (len(data) - 1) // 16 * 16)
    last = data[at:]
    last = xor(last, key) if len(last) == 16 else xor(pad(last), dbl(key))
    state = bytes(16)
    for i in range(0, at, 16):
        state = aes.block(xor(state, data[i : i + 16]))
    return aes.block(xor(state, last))


def s2v(aes, associated, plaintext):
    """S2V of RFC 5297 over two strings."""
    d = xor(dbl(cmac(aes, bytes(16))), cmac(aes, associated))
    if len(plaintext) >= 16:
        return cmac(aes, plaintext[:-16] + xor(plaintext[-16:], d))
    return cmac(aes, xor(dbl(d), pad(plaintext)))


def hkdf(master, info, length):
    """HKDF-SHA-256 of RFC 5869 without salt."""
    key = hmac.new(bytes(32), master, hashlib.sha256).digest()
    out = last = b""
    while len(out) < length:
        last = hmac.new(key, last + info + bytes([len(out) // 32 + 1]), hashlib.sha256).digest()
        out += last
    return out[:length]


def keystream(aes, tag):
    counter = int.from_bytes(tag, "big") & ~(1 << 63 | 1 << 31)
    while True:
        for (word,) in struct.iter_unpack(">H", aes.block((counter % (1 << 128)).to_bytes(16, "big"))):
            if word < 61448:
                yield word % P
        counter += 1


def unseal(spectrum, block):
    """Sections 2, 4 and 8: version, the bits of each channel that holds a fact, those of the free facts and their
    groups, and the first unused carrier."""
    version, key_id = divmod(spectrum[0], 256)
    require(version in CODEBOOKS, "format version %d" % version)
    require(key_id == block["keyId"], "key id %d" % key_id)
    info = b"sideband block key\0" + block["account"].encode()
    key = hkdf(bytes.fromhex(block["masterKey"]), info, 64)
    tag_bits = bits_of_digits(spectrum[1:DIRECTORY_AT])
    require(tag_bits[128] == "0", "the tag's 129th bit is 1")
    tag = int(tag_bits[:128], 2).to_bytes(16, "big")
    stream = keystream(Aes256(key[32:]), tag)
    digits = [(sealed - next(stream)) % P for sealed in spectrum[DIRECTORY_AT:MOST_CARRIERS]]

    lengths, free, size = read_directory(digits[:DIRECTORY_MOST], version)
    in_use = size + sum(lengths) + sum(free)
    require(DIRECTORY_AT + in_use <= MOST_CARRIERS, "too many carriers")
    require(not any(spectrum[DIRECTORY_AT + in_use :]), "an unused carrier is not zero")
    plaintext = b"".join(struct.pack(">H", digit) for digit in digits[:in_use])
    associated = b"sideband block" + bytes([version, key_id]) + block["userId"].encode()
    require(hmac.compare_digest(s2v(Aes256(key[:32]), associated, plaintext), tag), "the seal is not valid")

    runs, at = [], size
    for n in free[:1] + lengths + free[1:]:
        runs.append(bits_of_digits(digits[at : at + n]))
        at += n
    groups = read_groups(runs.pop(0), len(free) - 1) if free else []
    channels = {channel: runs[channel] for channel in range(CHANNELS) if lengths[channel]}
    return version, channels, list(zip(groups, runs[CHANNELS:])), DIRECTORY_AT + in_use


# ---- Section 7, free labels -----------------------------------------------------------------------------------

GROUPS = """USER PREF TASK PROJ FAMILY HEALTH HOME PEOPLE REMINDER NOTE WORK TRAVEL MONEY FOOD CAR PET HOBBY SCHOOL STUDY
EVENT CONTACT DEVICE DEPLOY DATABASE API TEST STYLE CUSTOMER ORDER PLAN TICKET TEAM ROLE RULE RELEASE RESEARCH PAPER DATA
MODEL CODE BUILD SERVER SECURITY TOOL AGENT GOAL HABIT LIFE PERSON FRIEND CHILD SPORT MUSIC BOOK MOVIE GARDEN GAME SHOP
MEETING PRODUCT COMPANY PROJECT CASE""".split()
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
LETTER_WEIGHTS = [8] + [
    16 if letter in "EATIORNS" else 8 if letter in "LCDUMPHG" else 4 if letter in "BFKVWY_" else 1 for letter in LETTERS
]


def read_groups(bits, count):
    """The group of each free label."""
    decoder, same, groups = Decoder(bits), [1, 1], []
    while len(groups) < count:
        number = decoder.symbol([1] * 64)
        group = GROUPS[number] if number < 63 else ""
        while number == 63:
            letter = decoder.symbol(LETTER_WEIGHTS)
            if letter == 0:
                break
            group += LETTERS[letter - 1]
            require(len(group) <= 16, "a group is too long")
        require(re.fullmatch("[A-Z][A-Z0-9_]*", group), "no group")
        groups.append(group)
        while len(groups) < count:
            yes = decoder.symbol(same)
            same[yes] += 1
            if not yes:
                break
            groups.append(group)
    return groups


def split_free(text, group):
    """The label and the value of the coded text of a free fact."""
    spelled, between, value = text.partition(": ")
    name = (spelled[:1].lower() + spelled[1:]).replace(" ", "_")
    require(between and re.fullmatch("[a-z0-9_]{1,48}", name), "no name")
    return group + "." + name, value


# ---- Section 7, plain -----------------------------------------------------------------------------------------

END = 256


class Table:
    def __init__(self, weights, remembered):
        total = sum(weights)
        self.counts = [1 + w * (32768 - 257) // total for w in weights]
        self.counts[END] += 32768 - sum(self.counts)
        assert len(remembered) == 64
        self.remembered = list(remembered)
        for byte in remembered:
            self.counts[byte] += 512

    def update(self, byte):
        self.counts[self.remembered.pop(0)] -= 512
        self.remembered.append(byte)
        self.counts[byte] += 512


def begin_table():
    weights = [0] * 257
    for symbols, weight in (
        (range(0x20, 0x7F), 3), (range(0xC2, 0xF5), 2), (b"0123456789-./,:_", 10),
        (b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", 7), (b"bcdfghjklmpquvwxyz", 18), (b"etaoinsr", 40), (b" ", 60), ([END], 24),
    ):
        for symbol in symbols:
            weights[symbol] = weight
    return Table(weights, b" " * 10 + b"eeeeeeettttttaaaaaooooiiiinnnnsssrrrhhhlldddccuummpgfw")


def continue_table():
    return Table([1 if 0x80 <= symbol <= 0xBF else 0 for symbol in range(257)], range(0x80, 0xC0))


def read_plain(decoder, channel, model):
    begin, rest = begin_table(), continue_table()
    value, lacking = bytearray(), 0
    while True:
        table = rest if lacking else begin
        byte = decoder.symbol(table.counts)
        if byte == END:
            return bytes(value)
        table.update(byte)
        value.append(byte)
        require(len(value) <= MOST_BYTES + 50, "a value is too long")
        if lacking and 0x80 <= byte <= 0xBF:
            lacking -= 1
        else:
            lacking = 0 if byte < 0xC0 else 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3


# ---- Section 7, reader: arithmetic ----------------------------------------------------------------------------

L = 1.4426950408889634
EXP2 = (1, -0.6931471805599453, 0.2402265069591007, -0.055504108664821576, 0.009618129107628477,
        -0.0013333558146428441, 0.00015403530393381606, -0.000015252733804059838, 0.0000013215486790144305)


def ordered_sum(u, axis):
    """A sum in the order of the index. (np.sum adds in another order; np.cumsum has to keep it.)"""
    return np.cumsum(u, axis=axis).take(-1, axis=axis)


def norm(u):
    """norm of the last axis."""
    f = 1 / np.sqrt(ordered_sum(u * u, -1) / u.shape[-1] + 1e-6)
    return u * f[..., None]


def product(matrix, scale, u, factor=None):
    """W·u. The matrix is kept in doubles: its sums of integers are below 2^31 and so exact in any order."""
    m = np.abs(u).max()
    if m == 0:
        return np.zeros(len(matrix))
    q = np.floor(u * (16383 / m) + 0.5)
    step = m / 16383
    return (matrix @ q) * (scale * (step if factor is None else step * factor))


def E(z):
    w = np.floor(z)
    f = z - w
    p = np.full_like(z, EXP2[8])
    for c in EXP2[7::-1]:
        p = p * f + c
    return np.where(z >= 64, 0, np.ldexp(p, -np.minimum(w, 64).astype(int)))


# ---- Section 7, reader: weights file and model ----------------------------------------------------------------


class Model:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        (magic, form, number, layers, width, heads, hidden, vocabulary, labels, self.window, self.taps, merges,
         length, crc) = struct.unpack_from("<4s10H3I", data)
        require(magic == b"SBRM" and form == 1 and number == 5, "not the weights file of model 5")
        require(length == len(data) - 48 and crc == zlib.crc32(data[48:]), "the weights file is damaged")
        require(vocabulary == 257 + merges, "the vocabulary does not fit the merges")
        self.width, self.heads, self.vocabulary = width, heads, vocabulary
        at = 48

        def section(kind, *shape):
            nonlocal at
            count = int(np.prod(shape))
            array = np.frombuffer(data, kind, count, at).reshape(shape)
            at += -(-array.nbytes // 16) * 16
            return array if kind == "<u2" else array.astype(np.float64)

        self.bytes_of = [bytes([i]) for i in range(256)]
        for left, right in section("<u2", merges, 2):
            self.bytes_of.append(self.bytes_of[left] + self.bytes_of[right])
        self.turn = section("<f8", 2, width // heads // 2)
        self.scales = section("<f4", vocabulary + labels)[:vocabulary]
        self.embedding = section("i1", vocabulary + labels, width)
        self.layers = []
        for _ in range(layers):
            floats = section("<f4", 2 + heads + 2 * self.taps * width + 4 * width + hidden + width)
            ends = np.cumsum([2, heads, 2 * self.taps * width, 3 * width, width, hidden])
            mix, gain, taps, qkv_scale, output_scale, expand_scale, contract_scale = np.split(floats, ends)
            attention = section("i1", 4 * width, width)
            self.layers.append({
                "mix": mix, "gain": gain * L / (4096 * 4096), "taps": taps.reshape(2, self.taps, width),
                "qkv": (attention[: 3 * width], qkv_scale), "output": (attention[3 * width :], output_scale),
                "expand": (section("i1", hidden, width), expand_scale),
                "contract": (section("i1", width, hidden), contract_scale),
            })
        require(at == len(data), "the weights file has another length")


class Run:
    """The model's pass over one value, position by position. Keys and values of earlier positions are kept."""

    def __init__(self, model, channel):
        self.model = model
        self.next_row = model.vocabulary + min(channel, STANDARD_CHANNELS)
        half = len(model.turn[0])
        self.C, self.S = np.ones(half), np.zeros(half)
        self.earlier_g = [([], []) for _ in model.layers]  # for both taps of a layer, the newest first
        self.keys = [[] for _ in model.layers]  # the last `window` positions, the newest last
        self.values = [[] for _ in model.layers]

    def with_taps(self, x, layer, which):
        g = norm(x)
        u = g
        earlier = self.earlier_g[layer][which]
        for before, taps in zip(earlier, self.model.layers[layer]["taps"][which]):
            u = u + before * taps
        earlier.insert(0, g)
        del earlier[self.model.taps :]
        return u

    def turned(self, heads):
        """Step 2.4: norm, turn and rounding of each head of a query or key."""
        heads = norm(heads)
        a, b = np.split(heads, 2, axis=1)
        heads = np.concatenate((a * self.C - b * self.S, b * self.C + a * self.S), axis=1)
        return np.floor(4096 * heads + 0.5)

    def attend(self, u, layer):
        model, weights = self.model, self.model.layers[layer]
        query, key, value = product(*weights["qkv"], u).reshape(3, model.heads, -1)
        query, key = self.turned(query), self.turned(key)
        keys, values = self.keys[layer], self.values[layer]
        keys.append(key)
        values.append(value)
        if len(keys) > model.window:
            del keys[0], values[0]
        sums = (np.array(keys) * query).sum(axis=2)  # integers, exact in any order
        scores = sums * weights["gain"]
        weigh = E(scores.max(axis=0) - scores)
        result = ordered_sum(weigh[:, :, None] * np.array(values), 0) / ordered_sum(weigh, 0)[:, None]
        return product(*weights["output"], result.reshape(-1))

    def frequencies(self):
        """The frequencies after the current position; append() moves to the next one."""
        model = self.model
        x = x0 = norm(model.embedding[self.next_row])
        for i, layer in enumerate(model.layers):
            x = layer["mix"][0] * x + layer["mix"][1] * x0
            x = x + self.attend(self.with_taps(x, i, 0), i)
            h = product(*layer["expand"], self.with_taps(x, i, 1))
            x = x + product(*layer["contract"], np.where(h > 0, h * h, 0))
        scores = product(model.embedding[: model.vocabulary], model.scales, norm(x), L)
        best = int(np.argmax(scores))
        share = np.floor(E(scores[best] - scores) * (1 << 30)).astype(np.int64)
        frequencies = 1 + share * ((1 << 20) - model.vocabulary) // share.sum()
        frequencies[best] += (1 << 20) - frequencies.sum()
        return frequencies

    def append(self, symbol):
        self.next_row = symbol
        c, s = self.model.turn
        self.C, self.S = self.C * c - self.S * s, self.S * c + self.C * s


# ---- Section 7, bounded reader --------------------------------------------------------------------------------

BOUND = 96


def frequencies_after_bound(s, tables, vocabulary):
    """The frequencies after the symbols s, 96 or more; `tables` is the array of T₀ … T₉₅."""
    m = len(s)
    gets = tables.sum(axis=0) // BOUND
    after = [i for i in range(1, m) if s[i - 1] == s[m - 1]]
    known = [i for i in after if i < BOUND]
    if known:
        gets += 2 * min(len(known), 8) * (tables[known].sum(axis=0) // len(known))
    for i in after:
        gets[s[i]] += (min(len(after), 8) << 20) // len(after)
    after_two = [i for i in after if i >= 2 and s[i - 2] == s[m - 2]]
    for i in after_two:
        gets[s[i]] += (3 * min(len(after_two), 8) << 20) // len(after_two)
    below = np.concatenate(([0], np.cumsum(gets)))
    return np.diff(np.arange(vocabulary + 1) + below * ((1 << 20) - vocabulary) // below[-1])


def read_with_model(decoder, channel, model):
    run, symbols, tables, value = Run(model, channel), [], [], b""
    while True:
        if len(symbols) < BOUND:
            tables.append(run.frequencies())
            frequencies = tables[-1]
        else:
            tables = np.asarray(tables)  # copies once
            frequencies = frequencies_after_bound(symbols, tables, model.vocabulary)
        symbol = decoder.symbol(frequencies)
        if symbol == model.vocabulary - 1:
            return value
        symbols.append(symbol)
        run.append(symbol)
        value += model.bytes_of[symbol]
        require(len(value) <= MOST_BYTES + 50, "a value is too long")


# ---- Section 7: values ----------------------------------------------------------------------------------------

CODEBOOKS = {1: [read_plain], 7: [read_with_model, read_plain]}
CODEBOOKS.update({more + version: codebook for version, codebook in CODEBOOKS.items() for more in (FREE, OWN)})


def read_text(bits, channel, version, model):
    codebook, decoder = CODEBOOKS[version], Decoder(bits)
    predictor = 0
    if len(codebook) > 1:
        predictor = decoder.symbol([64 - (len(codebook) - 1)] + [1] * (len(codebook) - 1))
    value = codebook[predictor](decoder, channel, model)
    return value.decode("utf-8")


def read_fact(bits, channel, group, version, model):
    """The channel or the free label, and the value."""
    text = read_text(bits, channel, version, model)
    name, value = (channel, text) if group is None else split_free(text, group)
    require(1 <= len(value.encode()) <= MOST_BYTES, "a value is empty or too long")
    return name, value


# ---- Golden blocks --------------------------------------------------------------------------------------------


def differences(block, version, alphabet, model):
    """Compares one golden block with the facts that it carries; returns what differs and the number of values."""
    try:
        found, channels, free, carriers = unseal(spectrum_of(symbols_of(block["text"], alphabet)), block)
    except ValueError as error:
        return ["unreadable: %s" % error], 0
    wrong = []
    if found != version or carriers != block["carriers"]:
        wrong.append("version %d, %d carriers" % (found, carriers))
    carried = [fact for fact in block["facts"] if fact["channel"] in block["carried"]]
    facts = {fact.get("label", fact["channel"]): fact["value"] for fact in carried}
    codes = [(bits, channel, None) for channel, bits in channels.items()]
    codes += [(bits, STANDARD_CHANNELS, group) for group, bits in free]
    if len(codes) != len(facts):
        wrong.append("%d facts are carried" % len(codes))
    for code in codes:
        try:
            name, value = read_fact(*code, found, model)
        except ValueError as error:
            name, value = code[1], error
        if value != facts.get(name):
            wrong.append("%s: %r instead of %r" % (name, value, facts.get(name)))
    return wrong, len(codes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--alphabet", required=True)
    parser.add_argument("--weights", required=True)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    alphabet, model = read_alphabet(options.alphabet), Model(options.weights)
    status = 0
    for path in options.files:
        with open(path, encoding="utf-8") as file:
            golden = json.load(file)
        blocks = values = 0
        for block in golden["blocks"]:
            wrong, count = differences(block, golden["formatVersion"], alphabet, model)
            blocks += not wrong
            values += count
            for what in wrong:
                print("%s: %s: %s" % (os.path.basename(path), block["name"], what))
                status = 1
        print("%s: %d blocks read, %d values" % (os.path.basename(path), blocks, values), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
