"""The weights file that the TypeScript reader loads: int8 matrices, their scales, the tokenizer.

Little-endian, sections one after the other, each padded to 16 bytes:
  header   "SBRM", u16 format, u16 model version, u16 layers, width, heads, hidden, vocabulary, labels,
           window, taps, u32 merges, u32 length of all that follows the header, u32 CRC-32 of that
  merges   u16 pairs
  turn     f64 cosine, then sine, of one position's turn for each rotary pair
  embed    f32 scale a row; int8 rows: the symbols, then the labels
  a layer  f32: mix (2), gain (heads), taps (2 x taps x width), scales of q k v o (4 x width), fc (hidden),
           proj (width); then int8: q k v o, fc, proj, row by row
"""

import struct
import zlib

import numpy as np

MAGIC = b"SBRM"
FORMAT = 1
HEADER = "<4sHH8HIII"
HEADER_BYTES = 48


def padded(array: np.ndarray) -> bytes:
    data = np.ascontiguousarray(array).tobytes()
    return data + bytes(-len(data) % 16)


def quantised(w: np.ndarray):
    """int8 rows and their float32 scales, as `rounded` in model.py sees them."""
    w = w.astype(np.float32)
    step = np.maximum(np.abs(w).max(-1, keepdims=True), np.float32(1e-8)) / np.float32(127)
    return np.clip(np.rint(w / step), -127, 127).astype(np.int8), step[..., 0].astype(np.float32)


def write(path: str, shape: dict, params: dict[str, np.ndarray], merges, version: int, temperature: float = 1.0) -> int:
    """Writes the file and returns its size. The scales of the embedding matter for the output only (a norm takes
    them off the input again), so the temperature that the scores are divided by is put into them."""
    half = shape["width"] // shape["heads"] // 2
    theta = shape["rope_base"] ** (-np.arange(half, dtype=np.float64) / half)
    embed, embed_scale = quantised(params["embed"])
    embed_scale = (embed_scale.astype(np.float64) / temperature).astype(np.float32)
    body = padded(np.array(merges, "<u2")) + padded(np.concatenate([np.cos(theta), np.sin(theta)]).astype("<f8"))
    body += padded(embed_scale) + padded(embed)
    for i in range(shape["layers"]):
        matrices = [quantised(params[name][i]) for name in ("qkvo", "fc", "proj")]
        floats = [params["mix"][i], params["gain"][i], params["taps"][i], *(scale for _, scale in matrices)]
        body += padded(np.concatenate([f.astype("<f4").ravel() for f in floats]))
        body += b"".join(padded(m) for m, _ in matrices)
    fields = [shape[k] for k in ("layers", "width", "heads", "hidden", "vocabulary", "labels", "window", "taps")]
    header = struct.pack(HEADER, MAGIC, FORMAT, version, *fields, len(merges), len(body), zlib.crc32(body))
    data = header.ljust(HEADER_BYTES, b"\0") + body
    with open(path, "wb") as file:
        file.write(data)
    return len(data)


def read(path: str):
    """(shape, parts): the arrays as stored, for the exact reference."""
    data = open(path, "rb").read()
    magic, form, version, *rest = struct.unpack_from(HEADER, data)
    names = ("layers", "width", "heads", "hidden", "vocabulary", "labels", "window", "taps")
    shape = dict(zip(names, rest[:8]), version=version)
    merges, length, crc = rest[8:]
    if magic != MAGIC or form != FORMAT or len(data) != HEADER_BYTES + length or zlib.crc32(data[HEADER_BYTES:]) != crc:
        raise SystemExit(f"{path} is not a weights file of format {FORMAT}, or it is damaged")
    at = HEADER_BYTES

    def take(dtype, *size):
        nonlocal at
        count = int(np.prod(size))
        out = np.frombuffer(data, dtype, count, at).reshape(size)
        at += out.nbytes + -out.nbytes % 16
        return out

    w, f, h = shape["width"], shape["hidden"], shape["heads"]
    rows = shape["vocabulary"] + shape["labels"]
    parts = {"merges": [tuple(int(x) for x in m) for m in take("<u2", merges, 2)], "turn": take("<f8", 2, w // h // 2)}
    parts["embed_scale"], parts["embed"], parts["layers"] = take("<f4", rows), take("i1", rows, w), []
    for _ in range(shape["layers"]):
        sizes = [2, h, 2 * shape["taps"] * w, 4 * w, f, w]
        mix, gain, taps, s_qkvo, s_fc, s_proj = np.split(take("<f4", sum(sizes)), np.cumsum(sizes)[:-1])
        layer = {"mix": mix, "gain": gain, "taps": taps.reshape(2, shape["taps"], w)}
        layer |= {"s_qkvo": s_qkvo.reshape(4, w), "s_fc": s_fc, "s_proj": s_proj}
        layer |= {"qkvo": take("i1", 4, w, w), "fc": take("i1", f, w), "proj": take("i1", w, f)}
        parts["layers"].append(layer)
    return shape, parts


def start_from(path: str, model) -> None:
    """Puts the weights of a file into a PyTorch model of the same shape and merges."""
    import torch

    _, parts = read(path)
    tables = {"embed": parts["embed"] * parts["embed_scale"][:, None]}
    for name, scale in (("qkvo", "s_qkvo"), ("fc", "s_fc"), ("proj", "s_proj")):
        tables[name] = np.stack([layer[name] * layer[scale][..., None] for layer in parts["layers"]])
    for name in ("mix", "gain", "taps"):
        tables[name] = np.stack([layer[name] for layer in parts["layers"]])
    for name, table in tables.items():
        getattr(model, name).data.copy_(torch.from_numpy(np.ascontiguousarray(table, np.float32)))
