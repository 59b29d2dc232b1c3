"""Trains the reader model and writes its weights file. One command:

    python3 training/train.py --data DIR --dev DEVDIR --work WORKDIR --out reader-2.bin

DIR holds the sources of corpus.py (or the .tar.xz archives of them), DEVDIR profiles as JSON lines,
which are only measured on. First a larger model, the teacher, is trained, then the reader on the
same text with the teacher's probabilities beside it. Needs PyTorch and one CUDA device. Seeded; the
log is a CSV. What is made on the way stays in WORKDIR: a run that was stopped goes on where it was.
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
from model import TEACHER, Reader, Shape
from optimizer import Muon

WRITTEN = os.path.join(os.path.dirname(__file__), "written.tar.xz")
FALLING = 0.3  # the part of the training in which the learning rate falls
TEACHER_DROPOUT = 0.1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--dev", required=True)
    parser.add_argument("--work", required=True, help="folder for merges, symbols, checkpoints and the log")
    parser.add_argument("--out", required=True)
    parser.add_argument("--teacher-seconds", type=float, default=400)
    parser.add_argument("--seconds", type=float, default=950, help="of the reader's own training")
    parser.add_argument("--stop-after", type=float, default=float("inf"), help="seconds until the run saves its state and ends")
    parser.add_argument("--taught", type=float, default=0.75, help="share of the loss that is the distance to the teacher")
    parser.add_argument("--rows", type=int, default=1024, help="rows of 128 symbols in a batch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--version", type=int, default=2)
    parser.add_argument("--temperature", type=float, default=1.125, help="scores are divided by it when written")
    parser.add_argument("--muon-lr", type=float, default=0.02)
    parser.add_argument("--adam-lr", type=float, default=0.003)
    parser.add_argument("--decay", type=float, default=0.02, help="weight decay of the matrices")
    parser.add_argument("--measure-every", type=float, default=50, help="seconds")
    return parser.parse_args()


def unpack(folder: str) -> list[str]:
    """The folders of the sources: those of DIR, and the text that was written for this model."""
    archives = [os.path.join(folder, f) for f in sorted(os.listdir(folder)) if f.endswith(".tar.xz")]
    target = "/tmp/reader-corpus"
    os.makedirs(target, exist_ok=True)
    running = [subprocess.Popen(["tar", "xf", a, "-C", target]) for a in [*archives, WRITTEN]]
    for process in running:
        if process.wait():
            raise SystemExit("an archive could not be unpacked")
    unpacked = [os.path.join(target, name) for name in sorted(os.listdir(target))]
    return unpacked if archives else [folder, *unpacked]


def without_measured(sources, dev: str) -> int:
    """Drops lines that are, letter for letter, a longer value of the sets that are measured on."""
    values = {v.encode() for path in evaluate.dev_files(dev).values() for p in evaluate.read_profiles(path) for _, v in p if len(v) > 20}
    before = sum(map(len, sources.values()))
    for name, rows in sources.items():
        sources[name] = [row for row in rows if row[1] not in values]
    return before - sum(map(len, sources.values()))


def learnt_merges(path, sources, wanted):
    if os.path.exists(path):
        return [tuple(m) for m in json.load(open(path))]
    counts = Counter()
    for name, rows in sources.items():
        tokenizer.count_words((value for _, value in rows), corpus.REPEATS[name], counts)
    merges = tokenizer.train(counts, wanted, count_min=8.0)
    json.dump(merges, open(path, "w"))
    return merges


def rate(progress: float, step: int) -> float:
    """Warm-up, a plateau, then a straight way down to zero over the last part."""
    return max(0.0, min(1.0, (step + 1) / 300, (1 - progress) / FALLING))


class Training:
    """One model on its way through the text; its whole state can be saved and taken up again."""

    def __init__(self, name, model, seconds, args):
        self.name, self.model, self.seconds, self.args = name, model, seconds, args
        self.muon = Muon([model.qkvo, model.fc, model.proj], weight_decay=args.decay)
        self.adam = torch.optim.AdamW(
            [{"params": [model.embed], "factor": 1.0}, {"params": [model.taps, model.mix, model.gain], "factor": 2.0}],
            betas=(0.9, 0.97), eps=1e-10, weight_decay=0.0, fused=True,
        )  # fmt: skip
        self.step, self.spent = 0, 0.0
        self.path = os.path.join(args.work, f"{name}.pt")
        if os.path.exists(self.path):
            state = torch.load(self.path, map_location="cuda")
            model.load_state_dict(state["model"])
            self.adam.load_state_dict(state["adam"])
            for buffer, saved in zip(self.muon.buffers, state["muon"]):
                buffer.copy_(saved)
            self.step, self.spent = state["step"], state["spent"]

    @property
    def progress(self):
        return min(1.0, self.spent / self.seconds)

    def save(self):
        state = {"model": self.model.state_dict(), "adam": self.adam.state_dict(), "muon": self.muon.buffers}
        torch.save({**state, "step": self.step, "spent": self.spent}, self.path)

    def update(self):
        now = rate(self.progress, self.step)
        self.muon.momentum = min(0.95, 0.85 + 0.1 * self.step / 300)
        self.muon.step(self.args.muon_lr * now)
        for group in self.adam.param_groups:
            group["lr"] = self.args.adam_lr * now * group["factor"]
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)
        self.step += 1

    def run(self, loss_of, data, dev, log, deadline):
        """True when the training is at its end, False when the deadline came first."""
        rng = np.random.default_rng([self.args.seed, self.step])
        recent, measured_at = [], self.spent
        last, at_start = time.time(), self.spent
        while self.progress < 1:
            falling = self.progress >= 1 - FALLING
            tensors = data.epoch({**corpus.REPEATS, **(corpus.FINAL_REPEATS if falling else {})}, rng)
            order = torch.from_numpy(rng.permutation(tensors[0].shape[0])).cuda()
            for i in range(0, len(order) - self.args.rows + 1, self.args.rows):
                rows = order[i : i + self.args.rows]
                loss, plain = loss_of(*(t[rows] for t in tensors))
                loss.backward()
                self.update()
                recent.append(plain.detach())
                if self.step % 20 == 0:
                    torch.cuda.synchronize()
                    # Compiling is not training: the first steps of a run do not count.
                    if len(recent) > 20 or self.spent > at_start:
                        self.spent += time.time() - last
                    last = time.time()
                if self.spent - measured_at >= self.args.measure_every or self.progress >= 1:
                    bits = float(torch.stack(recent).mean()) / np.log(2)
                    recent, measured_at = [], self.spent
                    figures = dev.bits_per_character(self.model)
                    symbols = self.step * self.args.rows * self.model.shape.window
                    row = [self.name, self.step, symbols, round(self.spent, 1), round(bits, 4), *(round(f, 4) for f in figures)]
                    log.writerow(row)
                    print(*row, flush=True)
                    last = time.time()
                if self.progress >= 1 or time.time() > deadline:
                    break
                if not falling and self.progress >= 1 - FALLING:
                    break  # The mixture of the last part begins here.
            if time.time() > deadline:
                break
        self.save()
        return self.progress >= 1


def main():
    args = arguments()
    started = time.time()
    deadline = started + args.stop_after
    torch.manual_seed(args.seed)
    torch.backends.cuda.enable_cudnn_sdp(False)
    os.makedirs(args.work, exist_ok=True)
    shape = Shape()
    merges_path, symbols_path = (os.path.join(args.work, name) for name in ("merges.json", "symbols.pt"))
    if os.path.exists(symbols_path):
        merges = learnt_merges(merges_path, None, None)
        data = batches.Corpus.load(symbols_path)
    else:
        sources = corpus.load(unpack(args.data), args.seed)
        dropped = without_measured(sources, args.dev)
        merges = learnt_merges(merges_path, sources, shape.vocabulary - 257)
        data = batches.Corpus(sources, merges, shape.window, os.cpu_count())
        data.save(symbols_path)
        print(f"{dropped} lines dropped that are measured on", flush=True)
    dev = evaluate.DevSets(args.dev, merges, shape.window)
    print(f"{len(data.length)} values, {len(data.inputs)} symbols, {time.time() - started:.0f} s", flush=True)
    log_path = os.path.join(args.work, "log.csv")
    fresh = not os.path.exists(log_path)
    log = csv.writer(open(log_path, "a", buffering=1))
    if fresh:
        log.writerow(["model", "step", "symbols", "seconds", "train_bits_per_symbol", *dev.names])

    teacher = Reader(TEACHER, rounds=False, dropout=TEACHER_DROPOUT).cuda()
    training = Training("teacher", teacher, args.teacher_seconds, args)
    if training.progress < 1:
        compiled = torch.compile(teacher.loss, dynamic=False)
        if not training.run(lambda *rows: (compiled(*rows),) * 2, data, dev, log, deadline):
            return print(f"stopped with the teacher at {training.progress:.0%}; run the command again")
    del training
    teacher.eval().requires_grad_(False)

    model = Reader(shape).cuda()
    training = Training("reader", model, args.seconds, args)
    if training.progress < 1:
        teach = torch.compile(torch.no_grad()(teacher.forward), dynamic=False)
        compiled = torch.compile(model.taught_loss, dynamic=False)
        done = training.run(lambda *rows: compiled(*rows, teach(*rows[:3]), args.taught), data, dev, log, deadline)
        if not done:
            return print(f"stopped with the reader at {training.progress:.0%}; run the command again")
    for temperature in (1.0, 1.05, 1.1, 1.15):
        print(temperature, *(round(f, 4) for f in dev.bits_per_character(model, temperature)), flush=True)
    params = {name: p.detach().float().cpu().numpy() for name, p in model.named_parameters()}
    size = weights_file.write(args.out, shape.to_dict(), params, merges, args.version, args.temperature)
    print(f"{args.out}: {size} bytes", flush=True)


if __name__ == "__main__":
    main()
