#!/usr/bin/env python3
"""The row formula of the documentation in a second implementation, for script/rows.txtar.

usage: rows.py SEED CLIENT START COUNT MIN MAX RANDOM_PCT
"""
import sys
from datetime import datetime, timedelta

M = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def mix(z):  # splitmix64's finalizer
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & M
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & M
    return z ^ (z >> 31)


def row(seed, client, i, low, high, percent):
    role = 1
    stream = mix(mix(mix(seed) + role * GAMMA & M) + (client + 1) * GAMMA & M)
    state = mix(stream + i * GAMMA & M)

    def draw():
        nonlocal state
        state = state + GAMMA & M
        return mix(state)

    def below(n):
        return draw() * n >> 64

    register, product, customer, price = below(1000), below(10000), below(100000), below(500)
    length = low + below(high - low + 1)
    random = int(length * 0.75 * percent / 100)
    data = "a" * (length - random)
    while random > 0:
        bits = draw()
        for k in range(min(random, 10)):
            data += LETTERS[bits >> (58 - 6 * k) & 63]
        random -= min(random, 10)
    when = datetime(2020, 1, 1) + timedelta(seconds=i // 1000)
    return [i, when, register, customer, product, price, data]


seed, client, start, count, low, high, percent = map(int, sys.argv[1:])
for i in range(start, start + count):
    print("\t".join(map(str, row(seed, client, i, low, high, percent))))
