"""Draws a training log as a picture: python3 training/draw_curve.py LOG.csv OUT.svg

Bits per character of the four dev sets, and bits per symbol of the training text, over the symbols read.
"""

import csv
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 380, 60, 150, 24, 46
FALLING = 0.7  # as in train.py
COLOURS = {"train": "#8a8f98", "agent": "#c2410c", "persona": "#1d4ed8", "locomo": "#047857", "wild": "#7c3aed"}


def main():
    rows = [row for row in csv.DictReader(open(sys.argv[1])) if row["model"] == "reader"]
    billions = [int(r["symbols"]) / 1e9 for r in rows]
    lines = {name: [float(r[name]) for r in rows] for name in ("agent", "persona", "locomo", "wild")}
    # The training text is counted per symbol, of 3.9 characters or so: it is drawn on the same scale, halved.
    lines["train"] = [float(r["train_bits_per_symbol"]) / 2 for r in rows]
    low, high = 1.2, 2.4
    x = lambda b: LEFT + b / max(billions) * (WIDTH - LEFT - RIGHT)  # noqa: E731
    y = lambda v: TOP + (high - min(v, high)) / (high - low) * (HEIGHT - TOP - BOTTOM)  # noqa: E731
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif" font-size="12">',
        "<style>@media (prefers-color-scheme: dark) { svg { filter: invert(0.93) hue-rotate(180deg) } }</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for i in range(13):
        v = low + i * 0.1
        out.append(f'<path d="M{LEFT} {y(v):.1f}H{WIDTH - RIGHT}" stroke="#e5e7eb"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(v) + 4:.1f}" text-anchor="end" fill="#4b5563">{v:.1f}</text>')
    for b in (b for b in (0, 0.5, 1.0, 1.5, 2.0) if b <= max(billions)):
        out.append(f'<text x="{x(b):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle" fill="#4b5563">{b:g}</text>')
    out.append(f'<text x="{x(max(billions) / 2):.1f}" y="{HEIGHT - 8}" text-anchor="middle" fill="#4b5563">billion symbols read</text>')
    falling = max(billions) * (1 - FALLING)
    out.append(f'<path d="M{x(falling):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#9ca3af" stroke-dasharray="4 4"/>')
    out.append(f'<text x="{x(falling) + 4:.1f}" y="{TOP + 10}" fill="#6b7280">the rate falls</text>')
    for name, values in lines.items():
        points = " ".join(f"{x(b):.1f},{y(v):.1f}" for b, v in zip(billions, values))
        out.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        label = f"{name} {values[-1]:.2f}" if name != "train" else f"training text, bits a symbol / 2: {values[-1]:.2f}"
        lines_of = [label] if name != "train" else ["training text,", f"bits a symbol / 2: {values[-1]:.2f}"]
        for n, text in enumerate(lines_of):
            out.append(f'<text x="{x(billions[-1]) + 6:.1f}" y="{y(values[-1]) + 4 + 14 * n - (16 if name == "train" else 0) - (3 if name == "persona" else 0) + (5 if name == "locomo" else 0):.1f}" fill="{COLOURS[name]}">{text}</text>')
    out.append(f'<text x="{LEFT}" y="14" fill="#111827">bits per character on the dev sets, before the temperature</text></svg>')
    open(sys.argv[2], "w").write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
