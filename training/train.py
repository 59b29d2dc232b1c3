"""Trains the reader model and writes its weights file. One command:

    python3 training/train.py --data DIR --dev DEVDIR --work WORKDIR --out reader-5.bin

DIR holds the cleaned sources (clean.py; or .tar.xz or .tar.bz2 archives of them), DEVDIR profiles as JSON lines, which are only
measured on. Two models learn side by side, by a number of steps: the teacher, a larger one, from the text; the reader from
the same text and from the teacher's probabilities. Needs PyTorch and one CUDA device. Seeded: text, order and labels of
every step follow from the seed. The log is a CSV. What is made on the way stays in WORKDIR: a run that was stopped goes on
at the step that was saved last. With --start the reader begins with the weights of an earlier file and keeps its merges.
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

FALLING = 0.7  # the part of the training in which the learning rate falls
FINAL = 0.3  # the part that sees the mixture of FINAL_REPEATS
MERGES_FROM_EVERY = 3  # of the lines; more does not change what is learnt
TEACHER_DROPOUT = 0.2
STARTED_RATE = 0.7  # a reader that begins with the weights of an earlier file learns at this part of the rates


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--dev", required=True)
    parser.add_argument("--work", required=True, help="folder for merges, symbols, checkpoints and the log")
    parser.add_argument("--out", required=True)
    parser.add_argument("--start", help="weights file that the reader begins with")
    parser.add_argument("--steps", type=int, default=7_000)
    parser.add_argument("--until", choices=("merges", "reader"), default="reader")
    parser.add_argument("--taught", type=float, default=0.75, help="share of the loss that is the distance to the teacher")
    parser.add_argument("--rows", type=int, default=1024, help="rows of 128 symbols in a batch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--version", type=int, default=5)
    parser.add_argument("--temperature", type=float, default=1.05, help="scores are divided by it when written")
    parser.add_argument("--muon-lr", type=float, default=0.02)
    parser.add_argument("--adam-lr", type=float, default=0.003)
    parser.add_argument("--decay", type=float, default=0.02, help="weight decay of the matrices")
    parser.add_argument("--measure-every", type=int, default=500, help="steps; the state is saved as often")
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


class Learner:
    """A model with its optimizers."""

    def __init__(self, name, model, args, rate=1.0):
        self.name, self.model, self.args, self.rate, self.recent = name, model, args, rate, []
        self.muon = Muon([model.qkvo, model.fc, model.proj], weight_decay=args.decay)
        self.adam = torch.optim.AdamW(
            [{"params": [model.embed], "factor": 1.0}, {"params": [model.taps, model.mix, model.gain], "factor": 2.0}],
            betas=(0.9, 0.97), eps=1e-10, weight_decay=0.0, fused=True,
        )  # fmt: skip

    def state(self):
        return {"model": self.model.state_dict(), "adam": self.adam.state_dict(), "muon": self.muon.buffers}

    def restore(self, state):
        self.model.load_state_dict(state["model"])
        self.adam.load_state_dict(state["adam"])
        for buffer, saved in zip(self.muon.buffers, state["muon"]):
            buffer.copy_(saved)

    def update(self, loss, plain, now, step):
        now *= self.rate
        loss.backward()
        self.muon.momentum = min(0.95, 0.85 + 0.1 * step / 300)
        self.muon.step(self.args.muon_lr * now)
        for group in self.adam.param_groups:
            group["lr"] = self.args.adam_lr * now * group["factor"]
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)
        self.recent.append(plain.detach())


class Training:
    """Teacher and reader on their way through the text; the whole state can be saved and taken up again."""

    def __init__(self, teacher, reader, args):
        self.args = args
        self.teacher = Learner("teacher", teacher, args)
        self.reader = Learner("reader", reader, args, STARTED_RATE if args.start else 1.0)
        self.step, self.epoch, self.row, self.seconds = 0, 0, 0, 0.0
        self.path = os.path.join(args.work, "state.pt")
        if os.path.exists(self.path):
            state = torch.load(self.path, map_location=DEVICE)
            self.teacher.restore(state["teacher"])
            self.reader.restore(state["reader"])
            self.step, self.epoch, self.row, self.seconds = state["at"]

    def save(self):
        at = (self.step, self.epoch, self.row, self.seconds)
        torch.save({"teacher": self.teacher.state(), "reader": self.reader.state(), "at": at}, self.path + ".new")
        os.replace(self.path + ".new", self.path)

    def measure(self, dev, log):
        symbols = self.step * self.args.rows * self.reader.model.shape.window
        for learner in (self.teacher, self.reader):
            bits = float(torch.stack(learner.recent).mean()) / np.log(2)
            figures = (round(f, 4) for f in dev.bits_per_character(learner.model))
            row = [learner.name, self.step, symbols, round(self.seconds, 1), round(bits, 4), *figures]
            log.writerow(row)
            print(*row, flush=True)
            learner.recent = []

    def run(self, data, dev, log):
        teach = torch.compile(self.teacher.model.loss, dynamic=False)
        learn = torch.compile(self.reader.model.taught_loss, dynamic=False)
        last, steps = time.time(), self.args.steps
        final = int(steps * (1 - FINAL))
        while self.step < steps:
            mixture = {**corpus.REPEATS, **(corpus.FINAL_REPEATS if self.step >= final else {})}
            rng = np.random.default_rng([self.args.seed, self.epoch])
            tensors = data.epoch(mixture, rng)
            order = torch.from_numpy(rng.permutation(tensors[0].shape[0])).to(DEVICE)
            over = False
            while not over and self.step < steps:
                rows = [t[order[self.row : self.row + self.args.rows]] for t in tensors]
                now = rate(self.step / steps, self.step)
                loss, scores = teach(*rows)
                self.teacher.update(loss, loss, now, self.step)
                self.reader.update(*learn(*rows, scores.detach(), self.args.taught), now, self.step)
                self.step += 1
                self.row += self.args.rows
                # An epoch ends with its last whole batch, or where the mixture of the last part begins.
                over = self.row + self.args.rows > len(order) or self.step == final
                if over:
                    self.epoch, self.row = self.epoch + 1, 0
                if self.step % self.args.measure_every == 0 or self.step == steps:
                    self.seconds += time.time() - last
                    self.measure(dev, log)
                    self.save()
                    last = time.time()


def prepared(args, shape):
    """The merges, and all text as symbols: from WORKDIR where they are there already."""
    merges_path, symbols_path = (os.path.join(args.work, name) for name in ("merges.json", "symbols.pt"))
    if os.path.exists(symbols_path):
        return learnt_merges(merges_path, None, None), batches.Corpus.load(symbols_path)
    sources = corpus.load(unpack(args.data, os.path.join(args.work, "text")), args.seed)
    if args.start:
        json.dump(weights_file.read(args.start)[1]["merges"], open(merges_path, "w"))
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
    model = Reader(shape).to(DEVICE)
    if args.start:
        weights_file.start_from(args.start, model)
    Training(teacher, model, args).run(data, dev, log)
    for temperature in (1.0, 1.05, 1.1, 1.125, 1.15, 1.2):
        print(temperature, *(round(f, 4) for f in dev.bits_per_character(model, temperature)), flush=True)
    params = {name: p.detach().float().cpu().numpy() for name, p in model.named_parameters()}
    size = weights_file.write(args.out, shape.to_dict(), params, merges, args.version, args.temperature)
    print(f"{args.out}: {size} bytes", flush=True)


if __name__ == "__main__":
    main()
