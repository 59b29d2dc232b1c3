"""Trains the reader model and writes its weights file. One command:

    python3 training/train.py --data DIR --dev DEVDIR --work WORKDIR --out reader-3.bin

DIR holds the cleaned sources (clean.py; or .tar.xz or .tar.bz2 archives of them), DEVDIR profiles as JSON lines, which are only
measured on. First a larger model, the teacher, is trained, then the reader on the same text with the teacher's
probabilities beside it; both by a number of steps. Needs PyTorch and one CUDA device. Seeded: text, order and labels
of every step follow from the seed. The log is a CSV. What is made on the way stays in WORKDIR: a run that was stopped,
after --until or otherwise, goes on at the step that was saved last.
"""

import argparse
import csv
import json
import multiprocessing
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
from model import DEVICE, TEACHER, Reader, Shape
from optimizer import Muon

FALLING = 0.5  # the part of the training in which the learning rate falls
FINAL = 0.3  # the part that sees the mixture of FINAL_REPEATS
MERGES_FROM_EVERY = 3  # of the lines; more does not change what is learnt
TEACHER_DROPOUT = 0.1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--dev", required=True)
    parser.add_argument("--work", required=True, help="folder for merges, symbols, checkpoints and the log")
    parser.add_argument("--out", required=True)
    parser.add_argument("--teacher-steps", type=int, default=3400)
    parser.add_argument("--steps", type=int, default=12_700, help="of the reader's own training")
    parser.add_argument("--until", choices=("merges", "teacher", "reader"), default="reader")
    parser.add_argument("--taught", type=float, default=0.75, help="share of the loss that is the distance to the teacher")
    parser.add_argument("--rows", type=int, default=1024, help="rows of 128 symbols in a batch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--version", type=int, default=3)
    parser.add_argument("--temperature", type=float, default=1.125, help="scores are divided by it when written")
    parser.add_argument("--muon-lr", type=float, default=0.02)
    parser.add_argument("--adam-lr", type=float, default=0.003)
    parser.add_argument("--decay", type=float, default=0.02, help="weight decay of the matrices")
    parser.add_argument("--measure-every", type=int, default=600, help="steps; the state is saved as often")
    return parser.parse_args()


def unpack(folder: str, target: str) -> str:
    """The folder with the sources: DIR itself, or where its archives were unpacked."""
    archives = [os.path.join(folder, f) for f in sorted(os.listdir(folder)) if f.endswith((".tar.xz", ".tar.bz2"))]
    if not archives:
        return folder
    os.makedirs(target, exist_ok=True)
    running = [subprocess.Popen(["tar", "xf", a, "-C", target]) for a in archives]
    if any(process.wait() for process in running):
        raise SystemExit("an archive could not be unpacked")
    return target


def learnt_merges(path, sources, wanted):
    if os.path.exists(path):
        return [tuple(m) for m in json.load(open(path))]
    jobs = []
    for name, rows in sources.items():
        values = [value for _, value in rows[::MERGES_FROM_EVERY]]
        jobs.extend((values[i : i + 20_000], corpus.REPEATS[name]) for i in range(0, len(values), 20_000))
    counts = Counter()
    with multiprocessing.Pool() as pool:
        for counted in pool.imap(tokenizer.count_words, jobs):
            counts.update(counted)
    merges = tokenizer.train(counts, wanted, count_min=8.0)
    json.dump(merges, open(path, "w"))
    return merges


def rate(progress: float, step: int) -> float:
    """Warm-up, a plateau, then a straight way down to zero over the last part."""
    return max(0.0, min(1.0, (step + 1) / 300, (1 - progress) / FALLING))


class Training:
    """One model on its way through the text; its whole state can be saved and taken up again."""

    def __init__(self, name, model, steps, args):
        self.name, self.model, self.steps, self.args = name, model, steps, args
        self.muon = Muon([model.qkvo, model.fc, model.proj], weight_decay=args.decay)
        self.adam = torch.optim.AdamW(
            [{"params": [model.embed], "factor": 1.0}, {"params": [model.taps, model.mix, model.gain], "factor": 2.0}],
            betas=(0.9, 0.97), eps=1e-10, weight_decay=0.0, fused=True,
        )  # fmt: skip
        self.step, self.epoch, self.row, self.seconds = 0, 0, 0, 0.0
        self.path = os.path.join(args.work, f"{name}.pt")
        if os.path.exists(self.path):
            state = torch.load(self.path, map_location=DEVICE)
            model.load_state_dict(state["model"])
            self.adam.load_state_dict(state["adam"])
            for buffer, saved in zip(self.muon.buffers, state["muon"]):
                buffer.copy_(saved)
            self.step, self.epoch, self.row, self.seconds = state["at"]

    def save(self):
        state = {"model": self.model.state_dict(), "adam": self.adam.state_dict(), "muon": self.muon.buffers}
        torch.save({**state, "at": (self.step, self.epoch, self.row, self.seconds)}, self.path + ".new")
        os.replace(self.path + ".new", self.path)

    def update(self):
        now = rate(self.step / self.steps, self.step)
        self.muon.momentum = min(0.95, 0.85 + 0.1 * self.step / 300)
        self.muon.step(self.args.muon_lr * now)
        for group in self.adam.param_groups:
            group["lr"] = self.args.adam_lr * now * group["factor"]
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)
        self.step += 1

    def measure(self, recent, dev, log):
        bits = float(torch.stack(recent).mean()) / np.log(2)
        symbols = self.step * self.args.rows * self.model.shape.window
        figures = dev.bits_per_character(self.model)
        row = [self.name, self.step, symbols, round(self.seconds, 1), round(bits, 4), *(round(f, 4) for f in figures)]
        log.writerow(row)
        print(*row, flush=True)
        self.save()

    def run(self, loss_of, data, dev, log):
        recent, last = [], time.time()
        final = int(self.steps * (1 - FINAL))
        while self.step < self.steps:
            mixture = {**corpus.REPEATS, **(corpus.FINAL_REPEATS if self.step >= final else {})}
            rng = np.random.default_rng([self.args.seed, len(self.name), self.epoch])
            tensors = data.epoch(mixture, rng)
            order = torch.from_numpy(rng.permutation(tensors[0].shape[0])).to(DEVICE)
            over = False
            while not over and self.step < self.steps:
                rows = order[self.row : self.row + self.args.rows]
                loss, plain = loss_of(*(t[rows] for t in tensors))
                loss.backward()
                self.update()
                recent.append(plain.detach())
                self.row += self.args.rows
                # An epoch ends with its last whole batch, or where the mixture of the last part begins.
                over = self.row + self.args.rows > len(order) or self.step == final
                if over:
                    self.epoch, self.row = self.epoch + 1, 0
                if self.step % self.args.measure_every == 0 or self.step == self.steps:
                    self.seconds += time.time() - last
                    self.measure(recent, dev, log)
                    recent, last = [], time.time()


def prepared(args, shape):
    """The merges, and all text as symbols: from WORKDIR where they are there already."""
    merges_path, symbols_path = (os.path.join(args.work, name) for name in ("merges.json", "symbols.pt"))
    if os.path.exists(symbols_path):
        return learnt_merges(merges_path, None, None), batches.Corpus.load(symbols_path)
    sources = corpus.load(unpack(args.data, os.path.join(args.work, "text")), args.seed)
    merges = learnt_merges(merges_path, sources, shape.vocabulary - 257)
    if args.until == "merges":
        return merges, None
    data = batches.Corpus(sources, merges, shape.window, os.cpu_count())
    data.save(symbols_path)
    return merges, data


def main():
    args = arguments()
    started = time.time()
    torch.manual_seed(args.seed)
    torch.backends.cuda.enable_cudnn_sdp(False)
    os.makedirs(args.work, exist_ok=True)
    shape = Shape()
    merges, data = prepared(args, shape)
    if args.until == "merges":
        return
    dev = evaluate.DevSets(args.dev, merges, shape.window)
    print(f"{len(data.length)} values, {len(data.inputs)} symbols, {time.time() - started:.0f} s", flush=True)
    log_path = os.path.join(args.work, "log.csv")
    fresh = not os.path.exists(log_path)
    log = csv.writer(open(log_path, "a", buffering=1))
    if fresh:
        log.writerow(["model", "step", "symbols", "seconds", "train_bits_per_symbol", *dev.names])

    teacher = Reader(TEACHER, rounds=False, dropout=TEACHER_DROPOUT).to(DEVICE)
    training = Training("teacher", teacher, args.teacher_steps, args)
    compiled = torch.compile(teacher.loss, dynamic=False)
    training.run(lambda *rows: (compiled(*rows),) * 2, data, dev, log)
    if args.until == "teacher":
        return
    del training
    teacher.eval().requires_grad_(False)

    model = Reader(shape).to(DEVICE)
    training = Training("reader", model, args.steps, args)
    teach = torch.compile(torch.no_grad()(teacher.forward), dynamic=False)
    compiled = torch.compile(model.taught_loss, dynamic=False)
    training.run(lambda *rows: compiled(*rows, teach(*rows[:3]), args.taught), data, dev, log)
    for temperature in (1.0, 1.05, 1.1, 1.125, 1.15, 1.2):
        print(temperature, *(round(f, 4) for f in dev.bits_per_character(model, temperature)), flush=True)
    params = {name: p.detach().float().cpu().numpy() for name, p in model.named_parameters()}
    size = weights_file.write(args.out, shape.to_dict(), params, merges, args.version, args.temperature)
    print(f"{args.out}: {size} bytes", flush=True)


if __name__ == "__main__":
    main()
