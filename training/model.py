"""The reader model in PyTorch, as it is trained.

A decoder-only transformer over the pieces of one value. Position 0 holds the channel's label, the
pieces follow, the last target is the end symbol. What differs from the textbook:

- no learnt norm weights: RMSNorm only divides, so every product that follows is an int8 matrix
- a short causal convolution (the three positions before, one weight a channel) after each norm
- queries and keys are normalised per head, so their products are bounded and fit integers
- ReLU squared in the feed-forward: no exponential to make exact
- each layer starts from a * x + b * x0, x0 being the embedded piece

All matrices pass through `rounded`: the forward pass sees the int8 weights that are exported, the
gradient goes straight through. Activations are rounded to 15 bits by the exact inference, which is
finer than the bfloat16 used here, so they need no simulation.

The teacher is the same model, wider and deeper, with dropout and without the rounding: it is never exported.
"""

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Shape:
    layers: int = 9
    width: int = 256
    heads: int = 8
    hidden: int = 1024
    vocabulary: int = 4352
    labels: int = 41
    window: int = 128
    taps: int = 3
    rope_base: float = 1000.0

    def to_dict(self):
        return asdict(self)


DEVICE = "cuda" if torch.cuda.is_available() else "cpu"  # the CPU is only fit for trying the code
TEACHER = Shape(layers=12, width=512, heads=8, hidden=2048)


NORM_EPSILON = 1e-6


def rms(x):
    y = x.float()
    return (y * torch.rsqrt(y.square().mean(-1, keepdim=True) + NORM_EPSILON)).to(x.dtype)


def rounded(w):
    """The matrix as int8 with one scale a row, back as real numbers; straight-through gradient."""
    step = w.detach().abs().amax(-1, keepdim=True).clamp(min=1e-8) / 127
    return w + ((w.detach() / step).round() * step - w.detach())


class Reader(nn.Module):
    def __init__(self, shape: Shape, rounds: bool = True, dropout: float = 0.0):
        super().__init__()
        self.shape = s = shape
        self.matrix = rounded if rounds else (lambda w: w)
        self.dropout = dropout
        generator = torch.Generator().manual_seed(1)

        def normal(*size, std):
            return nn.Parameter(torch.randn(*size, generator=generator) * std)

        self.embed = normal(s.vocabulary + s.labels, s.width, std=0.02)
        self.qkvo = normal(s.layers, 4, s.width, s.width, std=s.width**-0.5)
        self.fc = normal(s.layers, s.hidden, s.width, std=s.width**-0.5)
        self.proj = normal(s.layers, s.width, s.hidden, std=0.0)
        self.qkvo.data[:, 3].zero_()  # each block starts as the identity
        self.taps = nn.Parameter(torch.zeros(s.layers, 2, s.taps, s.width))
        self.mix = nn.Parameter(torch.tensor([1.0, 0.0]).repeat(s.layers, 1))
        self.gain = nn.Parameter(torch.full((s.layers, s.heads), 0.25))
        half = s.width // s.heads // 2
        theta = s.rope_base ** (-torch.arange(half, dtype=torch.float64) / half)
        angle = torch.arange(s.window, dtype=torch.float64)[:, None] * theta
        self.register_buffer("cos", angle.cos().float(), persistent=False)
        self.register_buffer("sin", angle.sin().float(), persistent=False)

    def shift(self, n, taps, place):
        """n plus the weighted three positions before it, within the same value."""
        out = n
        for k in range(1, self.shape.taps + 1):
            before = F.pad(n[:, :-k], (0, 0, k, 0))
            out = out + before * taps[k - 1] * (place >= k).unsqueeze(-1).to(n.dtype)
        return out

    def rotate(self, x):
        half = x.shape[-1] // 2
        cos = self.cos[: x.shape[1], None].to(x.dtype)
        sin = self.sin[: x.shape[1], None].to(x.dtype)
        a, b = x[..., :half], x[..., half:]
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)

    def forward(self, symbols, place, value_number):
        """symbols, place in the value, number of the value in the row: (B, T) each; returns scores (B, T, vocabulary)."""
        s = self.shape
        rows, length = symbols.shape
        kind = torch.bfloat16
        table = self.matrix(self.embed).to(kind)
        qkvo, fc, proj = (self.matrix(w).to(kind) for w in (self.qkvo, self.fc, self.proj))
        taps, mix = self.taps.to(kind), self.mix.to(kind)
        causal = torch.ones(length, length, dtype=torch.bool, device=symbols.device).tril()
        allowed = (value_number[:, :, None] == value_number[:, None, :]) & causal
        bias = torch.where(allowed, 0.0, float("-inf")).to(kind)
        bias = bias[:, None].expand(rows, s.heads, length, length)
        x = x0 = rms(F.embedding(symbols, table))
        for i in range(s.layers):
            x = mix[i, 0] * x + mix[i, 1] * x0
            n = self.shift(rms(x), taps[i, 0], place)
            q, k, v = F.linear(n, qkvo[i, :3].reshape(3 * s.width, s.width)).view(rows, length, 3, s.heads, -1).unbind(2)
            q = self.rotate(rms(q)) * self.gain[i, :, None].to(kind)
            k = self.rotate(rms(k))
            a = F.scaled_dot_product_attention(
                q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), attn_mask=bias, scale=1.0
            )
            x = x + self.dropped(F.linear(a.transpose(1, 2).reshape(rows, length, s.width), qkvo[i, 3]))
            n = self.shift(rms(x), taps[i, 1], place)
            x = x + self.dropped(F.linear(F.relu(F.linear(n, fc[i])).square(), proj[i]))
        return F.linear(rms(x), table[: s.vocabulary])

    def dropped(self, x):
        return F.dropout(x, self.dropout, self.training) if self.dropout else x

    def loss(self, symbols, place, value_number, targets):
        """The loss, and the scores that a smaller model can learn from."""
        scores = self(symbols, place, value_number)
        return F.cross_entropy(scores.flatten(0, 1).float(), targets.flatten(), ignore_index=-100), scores

    def taught_loss(self, symbols, place, value_number, targets, taught, share):
        """`share` of the loss is the distance to the teacher's probabilities, the rest to what really came.
        Also returns that rest alone, which can be compared with other runs."""
        scores = self(symbols, place, value_number).flatten(0, 1).float().log_softmax(-1)
        there = (targets.flatten() >= 0).float()
        soft = -(taught.flatten(0, 1).float().softmax(-1) * scores).sum(-1)
        hard = F.nll_loss(scores, targets.flatten(), ignore_index=-100, reduction="none")
        count = there.sum()
        hard = hard.sum() / count
        return share * (soft * there).sum() / count + (1 - share) * hard, hard

    @torch.no_grad()
    def nats(self, symbols, place, value_number, targets, temperature=1.0):
        """Cost of each target, zero where there is none: (B, T)."""
        logits = self(symbols, place, value_number).float() / temperature
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="none").view_as(targets)
