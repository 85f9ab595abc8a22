# SPDX-License-Identifier: Apache-2.0
"""What the peers' steps share with bench/step.c: its options, its batch, and how it is timed."""
import argparse
import json
import sys
import time


def options(description, *more):
    p = argparse.ArgumentParser(description=description)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--steps", type=int, default=20, help="in a block")
    p.add_argument("--blocks", type=int, default=9)
    p.add_argument("--threads", type=int, default=2, help="where the peer can be told")
    for name, text in more:
        p.add_argument(name, action="store_true", help=text)
    return p.parse_args()


def labels(count, classes=10):
    return [(i * 2654435761 % 2**32 >> 16) % classes for i in range(count)]


def run(o, step, number):
    """`step` starts one training step and returns its loss; `number` waits and makes it a float."""
    def block(steps):
        start = time.perf_counter()
        for _ in range(steps):
            loss = step()
        value = number(loss)
        return (time.perf_counter() - start) / steps * 1e3, value

    first = block(1)[1]
    block(o.steps)
    blocks = [block(o.steps) for _ in range(o.blocks)]
    times = sorted(ms for ms, _ in blocks)
    json.dump({"batch": o.batch_size, "median_ms": times[o.blocks // 2], "min_ms": times[0],
               "max_ms": times[-1], "first_loss": first, "loss": blocks[-1][1]}, sys.stdout)
