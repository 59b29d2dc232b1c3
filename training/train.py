"""Trains the reader model and writes its weights file. One command:

    python3 training/train.py --data DIR --out reader-1.bin --dev DEVDIR --steps N

DIR holds the sources of corpus.py (or the .tar.xz archives of them), DEVDIR profiles as JSON lines,
which are only measured on. Needs PyTorch and one CUDA device. Seeded; the log is a CSV.
"""

import argparse
import csv
import json
import os
import subprocess
import time
from collections import Counter

import numpy as np
import torch

import batches
import corpus
import evaluate
import tokenizer
import weights_file
from model import Reader, Shape
from optimizer import Muon


FALLING = 0.3  # the part of the steps in which the learning rate falls


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--dev", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--log", default="training-log.csv")
    parser.add_argument("--merges", help="JSON of learnt merges; learnt and written there when absent")
    parser.add_argument("--checkpoint", help="where the unrounded weights go, now and then")
    parser.add_argument("--resume", help="a checkpoint to go on from, with --from-step")
    parser.add_argument("--from-step", type=int, default=0)
    parser.add_argument("--steps", type=int, default=15700)
    parser.add_argument("--rows", type=int, default=1024, help="rows of 128 symbols in a batch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--version", type=int, default=1)
    parser.add_argument("--temperature", type=float, default=1.15, help="scores are divided by it when written")
    parser.add_argument("--muon-lr", type=float, default=0.02)
    parser.add_argument("--adam-lr", type=float, default=0.003)
    parser.add_argument("--decay", type=float, default=0.02, help="weight decay of the matrices")
    parser.add_argument("--measure-every", type=int, default=2000)
    parser.add_argument("--layers", type=int, default=Shape.layers)
    return parser.parse_args()


def unpack(folder: str) -> str:
    archives = [f for f in sorted(os.listdir(folder)) if f.endswith(".tar.xz")]
    if not archives:
        return folder
    target = "/tmp/reader-corpus"
    os.makedirs(target, exist_ok=True)
    running = [subprocess.Popen(["tar", "xf", os.path.join(folder, a), "-C", target]) for a in archives]
    for process in running:
        if process.wait():
            raise SystemExit("an archive could not be unpacked")
    return os.path.join(target, "train")


def without_measured(sources, dev: str) -> int:
    """Drops lines that are, letter for letter, a longer value of the sets that are measured on."""
    values = {v.encode() for path in evaluate.dev_files(dev).values() for p in evaluate.read_profiles(path) for _, v in p if len(v) > 20}
    before = sum(map(len, sources.values()))
    for name, rows in sources.items():
        sources[name] = [row for row in rows if row[1] not in values]
    return before - sum(map(len, sources.values()))


def learnt_merges(path, sources, wanted):
    if path and os.path.exists(path):
        return [tuple(m) for m in json.load(open(path))]
    counts = Counter()
    for name, rows in sources.items():
        tokenizer.count_words((value for _, value in rows), corpus.REPEATS[name], counts)
    merges = tokenizer.train(counts, wanted, count_min=8.0)
    if path:
        json.dump(merges, open(path, "w"))
    return merges


def rate(step: int, steps: int) -> float:
    """Warm-up, a plateau, then a straight way down to zero over the last part."""
    return min(1.0, (step + 1) / 300, (steps - step) / (FALLING * steps))


def main():
    args = arguments()
    started = time.time()
    torch.manual_seed(args.seed)
    torch.backends.cuda.enable_cudnn_sdp(False)
    shape = Shape(layers=args.layers)
    sources = corpus.load(unpack(args.data), args.seed)
    dropped = without_measured(sources, args.dev)
    merges = learnt_merges(args.merges, sources, shape.vocabulary - 257)
    data = batches.Corpus(sources, merges, shape.window, os.cpu_count())
    dev = evaluate.DevSets(args.dev, merges, shape.window)
    print(f"{len(data.length)} values, {len(data.inputs)} symbols, {dropped} lines dropped, {time.time() - started:.0f} s", flush=True)

    model = Reader(shape).cuda()
    if args.resume:
        model.load_state_dict({k: v.float() for k, v in torch.load(args.resume).items()})
    loss_of = torch.compile(model.loss, dynamic=False)
    muon = Muon([model.qkvo, model.fc, model.proj], weight_decay=args.decay)
    adam = torch.optim.AdamW(
        [{"params": [model.embed], "factor": 1.0}, {"params": [model.taps, model.mix, model.gain], "factor": 2.0}],
        betas=(0.9, 0.97), eps=1e-10, weight_decay=0.0, fused=True,
    )  # fmt: skip
    rng = np.random.default_rng(args.seed)
    log = csv.writer(open(args.log, "w", buffering=1))
    log.writerow(["step", "symbols", "seconds", "train_bits_per_symbol", *dev.names])
    step, symbols = args.from_step, args.from_step * args.rows * shape.window
    recent = []
    began = time.time()
    while step < args.steps:
        final = corpus.FINAL_REPEATS if step >= (1 - FALLING) * args.steps else {}
        tensors = data.epoch({**corpus.REPEATS, **final}, rng)
        order = torch.from_numpy(rng.permutation(tensors[0].shape[0])).cuda()
        for i in range(0, len(order) - args.rows + 1, args.rows):
            rows = order[i : i + args.rows]
            loss = loss_of(*(t[rows] for t in tensors))
            loss.backward()
            now = rate(step, args.steps)
            muon.momentum = min(0.95, 0.85 + 0.1 * step / 300)
            muon.step(args.muon_lr * now)
            for group in adam.param_groups:
                group["lr"] = args.adam_lr * now * group["factor"]
            adam.step()
            adam.zero_grad(set_to_none=True)
            recent.append(loss.detach())
            step += 1
            symbols += args.rows * shape.window
            if step % args.measure_every == 0 or step == args.steps:
                bits = float(torch.stack(recent).mean()) / np.log(2)
                recent = []
                figures = dev.bits_per_character(model)
                row = [step, symbols, round(time.time() - began, 1), round(bits, 4), *(round(f, 4) for f in figures)]
                log.writerow(row)
                print(*row, flush=True)
                if args.checkpoint:
                    torch.save({k: v.to(torch.float16) for k, v in model.state_dict().items()}, args.checkpoint)
            if step == args.steps:
                break
    params = {name: p.detach().float().cpu().numpy() for name, p in model.named_parameters()}
    size = weights_file.write(args.out, shape.to_dict(), params, merges, args.version, args.temperature)
    print(f"{args.out}: {size} bytes, {symbols / (time.time() - began):.0f} symbols a second", flush=True)


if __name__ == "__main__":
    main()
