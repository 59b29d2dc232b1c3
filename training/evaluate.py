"""Bits per character on profiles: the code length of every value, its end included, over its characters.

Two ways: with the PyTorch model while training (DevSets), and exactly, with the integer frequencies
of a weights file (run this file):

    python3 training/evaluate.py --weights reader-5.bin --dev DEVDIR

A fact whose label is one of the 40 channels is coded under it; the others take the free channels in
order, as a profile would when it is stored.
"""

import argparse
import glob
import json
import os

import numpy as np

import corpus
from tokenizer import Tokenizer


def read_profiles(path: str) -> list[list[tuple[int, str]]]:
    """Per profile, (channel, value) of each fact."""
    number = {name: i for i, name in enumerate(corpus.CHANNELS)}
    out = []
    for line in open(path, encoding="utf-8"):
        facts = json.loads(line)["profile"]
        taken = {number[f["label"]] for f in facts if f["label"] in number}
        free = [c for c in range(len(corpus.CHANNELS)) if c not in taken]
        profile = []
        for i, fact in enumerate(facts):
            channel = number.get(fact["label"])
            if channel is None:
                channel = free.pop(0) if free else i % len(corpus.CHANNELS)
            profile.append((channel, fact["value"]))
        out.append(profile)
    return out


def dev_files(folder: str) -> dict[str, str]:
    return {os.path.basename(p).split("_")[0]: p for p in sorted(glob.glob(os.path.join(folder, "*.jsonl")))}


class DevSets:
    """The dev sets as padded rows, one value a row, for the PyTorch model."""

    def __init__(self, folder, merges, row_length):
        import torch
        from model import DEVICE

        self.torch = torch
        tokenizer = Tokenizer(merges)
        self.names, self.sets = [], []
        for name, path in dev_files(folder).items():
            rows, targets, characters = [], [], 0
            for profile in read_profiles(path):
                for channel, value in profile:
                    ids = tokenizer.split(value.encode())[: row_length - 1]
                    before = [tokenizer.end + 1 + channel, *ids]
                    pad = row_length - len(before)
                    rows.append(before + [0] * pad)
                    targets.append([*ids, tokenizer.end] + [-100] * pad)
                    characters += len(value)
            self.names.append(name)
            self.sets.append((torch.tensor(rows).int().to(DEVICE), torch.tensor(targets).to(DEVICE), characters))

    def bits_per_character(self, model, temperature: float = 1.0) -> list[float]:
        torch, out = self.torch, []
        model.eval()
        for rows, targets, characters in self.sets:
            nats = 0.0
            for i in range(0, len(rows), 256):
                symbols = rows[i : i + 256]
                place = torch.arange(symbols.shape[1], device=rows.device).expand_as(symbols)
                number = torch.zeros_like(symbols)
                nats += float(model.nats(symbols, place, number, targets[i : i + 256], temperature).double().sum())
            out.append(nats / np.log(2) / characters)
        model.train()
        return out


def main():
    import reference

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--dev", required=True)
    parser.add_argument("--values", type=int, default=0, help="at most this many values a set, evenly picked")
    args = parser.parse_args()
    reader = reference.Exact(args.weights)
    for name, path in dev_files(args.dev).items():
        facts = [fact for profile in read_profiles(path) for fact in profile]
        if args.values:
            facts = facts[:: max(1, len(facts) // args.values)]
        bits = sum(reader.bits(channel, value.encode()) for channel, value in facts)
        print(name, len(facts), round(bits / sum(len(v) for _, v in facts), 4), flush=True)


if __name__ == "__main__":
    main()
