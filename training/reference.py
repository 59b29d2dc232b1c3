"""The exact inference, written with numpy: the definition that the TypeScript reader follows.

Products of int8 weights and rounded activations are sums of integers below 2^31, so exact in any
order. All else is IEEE double arithmetic with + - x / sqrt floor, each element on its own, sums in
index order where they are not sums of integers. Steps, for one position:

  round(u)    step = max|u| / 16383; q = floor(u * (16383 / max|u|) + 0.5)
  W u         (sum of w * q) * (scale of the row * step)
  rms(x)      x * (1 / sqrt(sum of x*x / n + 1e-6))
  2^-z        floor and fraction of z; a polynomial of degree 8 for the fraction
  embedding   rms of the int8 row; its scale cancels
  layer       x = a x + b x0; u = rms(x) + taps over the 3 positions before; q k v = W u
              q, k: rms per head, rotary turn, floor(4096 * . + 0.5) as int16
              weights of the last 128 positions 2^-(best - score); average of v; W o; add
              u = rms(x) + taps; max(0, W u)^2; W; add
  output      2^-(best - score) in units of 2^-30, as integers; total 2^20, every symbol at least 1:
              1 + floor(unit * (2^20 - symbols) / sum), what is left goes to the first best symbol
Run it to check the golden vectors with this implementation: python3 training/reference.py --weights FILE
--vectors test/vectors/reader-5.json
"""

import argparse
import hashlib
import json

import numpy as np

import weights_file
from tokenizer import Tokenizer

LIMIT = 16383.0
EPSILON = 1e-6
LOG2E = 1.4426950408889634
TOTAL = 1 << 20
HEAD_SCALE = 4096.0
# (-ln 2)^k / k!, shortest decimals of the doubles nearest to them
COEFFICIENTS = [
    1.0, -0.6931471805599453, 0.2402265069591007, -0.055504108664821576, 0.009618129107628477,
    -0.0013333558146428441, 0.00015403530393381606, -0.000015252733804059838, 0.0000013215486790144305,
]  # fmt: skip


def sequential(a: np.ndarray) -> np.ndarray:
    """Sum over the last axis in index order (numpy's own sum adds in pairs)."""
    return np.add.accumulate(a, -1)[..., -1:]


def rms(x):
    return x * (1.0 / np.sqrt(sequential(x * x) / x.shape[-1] + EPSILON))


def exp2_negative(z):
    whole = np.floor(z)
    f = z - whole
    p = np.full_like(f, COEFFICIENTS[8])
    for c in COEFFICIENTS[7::-1]:
        p = p * f + c
    return np.where(z < 64, p * np.exp2(-np.minimum(whole, 64)), 0.0)  # powers of two are exact


def product(matrix, scale, u):
    """(positions, in) through an int8 matrix (out, in); doubles hold the integer sums exactly."""
    best = np.abs(u).max(-1, keepdims=True)
    safe = np.where(best > 0, best, 1.0)
    q = np.floor(u * (LIMIT / safe) + 0.5)
    return (q @ matrix.T) * (scale * (best / LIMIT))


class Exact:
    def __init__(self, path: str):
        self.shape, parts = weights_file.read(path)
        self.tokenizer = Tokenizer(parts["merges"])
        self.embed = parts["embed"].astype(np.float64)
        self.embed_scale = parts["embed_scale"].astype(np.float64)
        self.layers = [{k: v.astype(np.float64) for k, v in layer.items()} for layer in parts["layers"]]
        self.turn = parts["turn"]

    def turns(self, length):
        """cos and sin of every position by repeated complex multiplication: (length, pairs)."""
        cos, sin = [np.ones(self.turn.shape[1])], [np.zeros(self.turn.shape[1])]
        for _ in range(1, length):
            c, s = cos[-1], sin[-1]
            cos.append(c * self.turn[0] - s * self.turn[1])
            sin.append(s * self.turn[0] + c * self.turn[1])
        return np.array(cos)[:, None], np.array(sin)[:, None]

    def head_integers(self, x, cos, sin):
        length, heads = len(x), self.shape["heads"]
        x = rms(x.reshape(length, heads, -1))
        half = x.shape[-1] // 2
        a, b = x[..., :half], x[..., half:]
        return np.floor(HEAD_SCALE * np.concatenate((a * cos - b * sin, b * cos + a * sin), -1) + 0.5)

    def tapped(self, n, taps):
        out = n
        for k in range(1, len(taps) + 1):
            before = np.zeros_like(n)
            before[k:] = n[:-k]
            out = out + before * taps[k - 1]
        return out

    def attend(self, layer, q, k, v):
        length, heads, size = q.shape
        out = np.empty((length, heads, size))
        factor = layer["gain"] * LOG2E / (HEAD_SCALE * HEAD_SCALE)
        for i in range(length):
            low = max(0, i + 1 - self.shape["window"])
            score = np.einsum("hd,jhd->hj", q[i], k[low : i + 1]) * factor[:, None]
            weight = exp2_negative(score.max(-1, keepdims=True) - score)
            total = sequential(weight)
            mixed = np.add.accumulate(weight.T[:, :, None] * v[low : i + 1], 0)[-1]
            out[i] = mixed / total
        return out.reshape(length, -1)

    def frequencies(self, channel: int, symbols) -> np.ndarray:
        """Integer frequencies after the label and after each symbol: (1 + symbols, vocabulary)."""
        vocabulary, width = self.shape["vocabulary"], self.shape["width"]
        x = x0 = rms(self.embed[[vocabulary + channel, *symbols]])
        cos, sin = self.turns(len(x))
        for layer in self.layers:
            x = layer["mix"][0] * x + layer["mix"][1] * x0
            n = self.tapped(rms(x), layer["taps"][0])
            q, k, v = (product(layer["qkvo"][m], layer["s_qkvo"][m], n) for m in range(3))
            v = v.reshape(len(x), self.shape["heads"], -1)
            a = self.attend(layer, self.head_integers(q, cos, sin), self.head_integers(k, cos, sin), v)
            x = x + product(layer["qkvo"][3], layer["s_qkvo"][3], a)
            n = self.tapped(rms(x), layer["taps"][1])
            h = np.maximum(product(layer["fc"], layer["s_fc"], n), 0.0)
            x = x + product(layer["proj"], layer["s_proj"], h * h)
        u = rms(x)
        best = np.abs(u).max(-1, keepdims=True)
        q = np.floor(u * (LIMIT / best) + 0.5)
        score = (q @ self.embed[:vocabulary].T) * (self.embed_scale[:vocabulary] * ((best / LIMIT) * LOG2E))
        unit = np.floor(exp2_negative(score.max(-1, keepdims=True) - score) * float(1 << 30))
        out = 1 + np.floor(unit * float(TOTAL - vocabulary) / unit.sum(-1, keepdims=True)).astype(np.int64)
        out[np.arange(len(out)), score.argmax(-1)] += TOTAL - out.sum(-1)
        return out

    def bits(self, channel: int, value: bytes) -> float:
        symbols = self.tokenizer.split(value)
        table = self.frequencies(channel, symbols)
        chosen = table[np.arange(len(table)), [*symbols, self.tokenizer.end]]
        return float(np.log2(TOTAL / chosen).sum())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", required=True)
    parser.add_argument("--vectors", required=True)
    args = parser.parse_args()
    reader = Exact(args.weights)
    vectors = json.load(open(args.vectors, encoding="utf-8"))["vectors"]
    for vector in vectors:
        table = reader.frequencies(vector["channel"], reader.tokenizer.split(vector["value"].encode()))
        if hashlib.sha256(table.astype("<u4").tobytes()).hexdigest()[:32] != vector["hash"]:
            raise SystemExit(f"differs: {vector['value']!r}")
    print(f"{len(vectors)} vectors hold")


if __name__ == "__main__":
    main()
