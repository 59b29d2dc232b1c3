"""Rows of 128 symbols, packed from whole values, made anew for every epoch on the accelerator.

The values of an epoch are drawn by their source's repeats, shuffled, and laid into rows one after
the other; a value that does not fit opens the next row. A value longer than a row is cut there and
goes on in a row of its own without its label, as the window of the exact inference would see it.
"""

import multiprocessing

import numpy as np
import torch

import corpus
from model import DEVICE
from tokenizer import Tokenizer

_tokenizer = None
_row_length = 0


def _start(merges, row_length):
    global _tokenizer, _row_length
    _tokenizer = Tokenizer(merges)
    _row_length = row_length


def _split(job):
    """Inputs and targets of many values, one after the other; the label's place is left open."""
    rows, size = job, _row_length
    end = _tokenizer.end
    inputs, targets, length, channel, labelled = [], [], [], [], []
    for c, value in rows:
        ids = _tokenizer.split(value)
        before, after = [end + 1, *ids], [*ids, end]
        for i in range(0, len(before), size):
            inputs.extend(before[i : i + size])
            targets.extend(after[i : i + size])
            length.append(min(size, len(before) - i))
            channel.append(c)
            labelled.append(i == 0)
    return np.array(inputs, np.int16), np.array(targets, np.int16), np.array(length), np.array(channel), np.array(labelled)


class Corpus:
    """All values as flat arrays: symbols, and per value its start, length, channel and source."""

    def __init__(self, sources, merges, row_length, processes):
        self.row_length = row_length
        self.names = sorted(sources)
        self.label_slot = 257 + len(merges)  # plus the drawn label when a row is made
        jobs, owner = [], []
        for number, name in enumerate(self.names):
            for i in range(0, len(sources[name]), 20000):
                jobs.append(sources[name][i : i + 20000])
                owner.append(number)
        with multiprocessing.Pool(processes, _start, (merges, row_length)) as pool:
            inputs, targets, length, channel, labelled = zip(*pool.imap(_split, jobs))
        self.source = np.concatenate([np.full(len(n), number) for number, n in zip(owner, length)])
        self.inputs = torch.from_numpy(np.concatenate(inputs)).to(DEVICE)
        self.targets = torch.from_numpy(np.concatenate(targets)).to(DEVICE)
        self.length = np.concatenate(length).astype(np.int64)
        self.start = np.cumsum(self.length) - self.length
        self.channel = np.concatenate(channel).astype(np.int64)
        self.labelled = np.concatenate(labelled)

    def save(self, path: str):
        torch.save(self.__dict__, path)

    @classmethod
    def load(cls, path: str):
        corpus_ = cls.__new__(cls)
        corpus_.__dict__.update(torch.load(path, map_location=DEVICE, weights_only=False))
        return corpus_

    def draw_labels(self, chosen, rng, random_share=0.85):
        """Labelled sources keep their label nine times in ten; natural text mostly gets any channel at all."""
        n = len(chosen)
        label = rng.integers(0, len(corpus.CHANNELS), n)
        low = np.zeros(len(self.names), np.int64)
        high = np.full(len(self.names), len(corpus.CHANNELS))
        for i, name in enumerate(self.names):
            if name in corpus.GROUP_OF_SOURCE:
                low[i], high[i] = corpus.GROUP_OF_SOURCE[name]
        source, own = self.source[chosen], self.channel[chosen]
        grouped = low[source] + (rng.random(n) * (high - low)[source]).astype(np.int64)
        label = np.where(rng.random(n) < 0.3, grouped, label)
        label = np.where(rng.random(n) < 1 - random_share, corpus.ANY_LABEL, label)
        return np.where((own >= 0) & (rng.random(n) < 0.9), own, label)

    def epoch(self, repeats: dict[str, float], rng):
        """(inputs, place, number, targets), each (rows, row_length) on the accelerator."""
        want = np.array([repeats[name] for name in self.names])[self.source]
        times = np.floor(want + rng.random(len(want))).astype(np.int64)
        chosen = np.repeat(np.arange(len(want)), times)
        rng.shuffle(chosen)
        length = self.length[chosen]
        ends = np.cumsum(length)
        starts = ends - length
        # First value of the next row, for a row that starts at each value; then follow the chain.
        following = np.searchsorted(ends, starts + self.row_length, side="right").tolist()
        firsts, i = [], 0
        while i < len(chosen):
            firsts.append(i)
            i = following[i]
        firsts = np.array(firsts)
        row = np.zeros(len(chosen), np.int64)
        row[firsts[1:]] = 1
        row = np.cumsum(row)
        target_start = row * self.row_length + starts - starts[firsts][row]
        return self.lay_out(chosen, length, target_start, len(firsts), self.draw_labels(chosen, rng))

    def lay_out(self, chosen, length, target_start, rows, label):
        dev = self.inputs.device
        size = torch.from_numpy(length).to(dev)
        total = int(length.sum())
        place = torch.arange(total, device=dev) - torch.repeat_interleave(size.cumsum(0) - size, size, output_size=total)
        to = torch.repeat_interleave(torch.from_numpy(target_start).to(dev), size, output_size=total) + place
        source = torch.repeat_interleave(torch.from_numpy(self.start[chosen]).to(dev), size, output_size=total) + place
        number = torch.repeat_interleave(torch.arange(len(chosen), device=dev, dtype=torch.int32), size, output_size=total)
        cells = rows * self.row_length
        inputs = torch.zeros(cells, dtype=torch.int32, device=dev)
        targets = torch.full((cells,), -100, dtype=torch.int64, device=dev)
        places = torch.zeros(cells, dtype=torch.int32, device=dev)
        numbers = torch.full((cells,), -1, dtype=torch.int32, device=dev)
        inputs[to] = self.inputs[source].int()
        targets[to] = self.targets[source].long()
        places[to] = place.int()
        numbers[to] = number
        first = torch.from_numpy(target_start[self.labelled[chosen]]).to(dev)
        inputs[first] = self.label_slot + torch.from_numpy(label[self.labelled[chosen]]).to(dev).int()
        return tuple(t.view(rows, self.row_length) for t in (inputs, places, numbers, targets))
