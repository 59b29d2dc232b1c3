"""Muon for the matrices, Adam for the rest.

Muon (Jordan et al., 2024): momentum, then five Newton-Schulz steps that bring the update's singular
values close to one. The matrices of all layers are stacked in one tensor, so a step is a handful of
batched products.
"""

import torch

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)


@torch.compile(dynamic=False)
def orthogonal(update):
    a, b, c = NEWTON_SCHULZ
    x = update.bfloat16()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    return x.mT if tall else x


class Muon:
    def __init__(self, params, momentum=0.95, weight_decay=0.02):
        self.params = list(params)
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.buffers = [torch.zeros_like(p) for p in self.params]

    @torch.no_grad()
    def step(self, lr: float):
        for p, buffer in zip(self.params, self.buffers):
            buffer.lerp_(p.grad, 1 - self.momentum)
            update = p.grad.lerp(buffer, self.momentum)
            out = orthogonal(update.flatten(0, -3)).reshape(p.shape)
            rows, columns = p.shape[-2:]
            p.mul_(1 - lr * self.weight_decay)
            p.add_(out.to(p.dtype), alpha=-lr * max(1.0, rows / columns) ** 0.5)
            p.grad = None
