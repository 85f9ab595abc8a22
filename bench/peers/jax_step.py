#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the training step of bench/step.c in JAX on the CPU, as one compiled function; prints one
JSON object."""
import functools

import jax
import jax.numpy as jnp
from jax import lax

import measure

o = measure.options(__doc__, ("--channels-last", "images with the channels innermost"))
ORDER = ("NHWC", "HWIO", "NHWC") if o.channels_last else ("NCHW", "OIHW", "NCHW")
CHANNEL = 3 if o.channels_last else 1
PIXELS = tuple(a for a in range(4) if a != CHANNEL)
LR, MOMENTUM, EPSILON, KEEP = 0.01, 0.5, 1e-5, 0.9


def uniform(key, shape, inputs):
    return jax.random.uniform(key, shape, minval=-inputs**-0.5, maxval=inputs**-0.5)


def conv_start(key, inputs, outputs):
    kernel, bias = jax.random.split(key)
    shape = (5, 5, inputs, outputs) if o.channels_last else (outputs, inputs, 5, 5)
    return {"w": uniform(kernel, shape, 25 * inputs), "b": uniform(bias, (outputs,), 25 * inputs),
            "scale": jnp.ones(outputs), "shift": jnp.zeros(outputs)}


def linear_start(key, inputs, outputs):
    kernel, bias = jax.random.split(key)
    return {"w": uniform(kernel, (inputs, outputs), inputs), "b": uniform(bias, (outputs,), inputs)}


def by_channel(v):
    return v if o.channels_last else v[:, None, None]


def max_pool(x):
    window = (1, 2, 2, 1) if o.channels_last else (1, 1, 2, 2)
    return lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID")


def conv_block(p, running, x):
    """Convolution, pooling, ReLU, batch norm; and the running statistics after it."""
    x = lax.conv_general_dilated(x, p["w"], (1, 1), "VALID", dimension_numbers=ORDER)
    x = jax.nn.relu(max_pool(x + by_channel(p["b"])))
    mean = x.mean(PIXELS)
    centred = x - by_channel(mean)
    var = (centred**2).mean(PIXELS)
    count = x.size // mean.size
    after = {"mean": KEEP * running["mean"] + (1 - KEEP) * mean,
             "var": KEEP * running["var"] + (1 - KEEP) * var * (count / (count - 1))}
    scale = p["scale"] * lax.rsqrt(var + EPSILON)
    return centred * by_channel(scale) + by_channel(p["shift"]), after


def loss_of(params, running, x, y):
    x, first = conv_block(params[0], running[0], x)
    x, second = conv_block(params[1], running[1], x)
    x = x.reshape(x.shape[0], -1)
    x = jax.nn.relu(x @ params[2]["w"] + params[2]["b"])
    logits = jax.nn.log_softmax(x @ params[3]["w"] + params[3]["b"])
    return -jnp.take_along_axis(logits, y[:, None], 1).mean(), [first, second]


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def train(params, momenta, running, x, y):
    (loss, running), grads = jax.value_and_grad(loss_of, has_aux=True)(params, running, x, y)
    momenta = jax.tree.map(lambda m, g: MOMENTUM * m + g, momenta, grads)
    params = jax.tree.map(lambda p, m: p - LR * m, params, momenta)
    return params, momenta, running, loss


keys = jax.random.split(jax.random.key(0), 5)
params = [conv_start(keys[0], 1, 10), conv_start(keys[1], 10, 20), linear_start(keys[2], 320, 50),
          linear_start(keys[3], 50, 10)]
state = [params, jax.tree.map(jnp.zeros_like, params),
         [{"mean": jnp.zeros(c), "var": jnp.ones(c)} for c in (10, 20)]]
images = (o.batch_size, 28, 28, 1) if o.channels_last else (o.batch_size, 1, 28, 28)
x, y = jax.random.uniform(keys[4], images), jnp.array(measure.labels(o.batch_size))


def step():
    *state[:], loss = train(*state, x, y)
    return loss


measure.run(o, step, float)
