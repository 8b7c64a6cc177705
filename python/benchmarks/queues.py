"""A stream of `bytes` from one process to another: multiprocessing.Queue / ours, for messages of 8 bytes and of 64 KiB.

    python python/benchmarks/queues.py [ROUNDS]

The two take turns. The ratio is that of the times of one round, and the smallest, the middle and the largest of all
rounds are shown.
"""

import multiprocessing
import statistics
import sys
import time

import ysuite

SPAWN = multiprocessing.get_context("spawn")
# The bytes of a message, how many of them a stream has, and the room of the channel: far less than the stream.
SIZES = {8: (50_000, 64 << 10), 64 << 10: (2_000, 1 << 20)}


def send_queue(queue, ready, size, count):
    message = bytes(size)
    ready.wait()
    for _ in range(count):
        queue.put(message)


def send(sender, ready, size, count):
    message = bytes(size)
    ready.wait()
    for _ in range(count):
        sender.send(message)
    sender.close()


def send_batch(sender, ready, size, count):
    message = bytes(size)
    ready.wait()
    sender.send_batch(message for _ in range(count))
    sender.close()


def recv(receiver, count):
    for _ in range(count):
        receiver.recv()


def recv_batch(receiver, count):
    while count > 0:
        count -= len(receiver.recv_batch(min(count, 64)))


def recv_into(receiver, count):
    buffer = bytearray(max(SIZES))
    for _ in range(count):
        receiver.recv_into(buffer)


def recv_queue(queue, count):
    for _ in range(count):
        queue.get()


def timed(sending, sender, receiving, receiver, size, count):
    """Seconds from the first message to the last."""
    ready = SPAWN.Barrier(2)
    child = SPAWN.Process(target=sending, args=(sender, ready, size, count))
    child.start()
    ready.wait()
    receiving(receiver, 1)
    begun = time.perf_counter()
    receiving(receiver, count - 1)
    seconds = time.perf_counter() - begun
    child.join()
    return seconds


def main(rounds=5):
    for size, (count, capacity) in SIZES.items():
        ways = [(send, recv), (send_batch, recv_batch) if size < 4_096 else (send, recv_into)]
        ratios = {way: [] for way in ways}
        for _ in range(rounds):
            queue = SPAWN.Queue(capacity // (size + 8))
            slower = timed(send_queue, queue, recv_queue, queue, size, count)
            for sending, receiving in ways:
                sender, receiver = ysuite.pipe(capacity)
                ours = timed(sending, sender, receiving, receiver, size, count)
                ratios[sending, receiving].append(slower / ours)
        for (sending, receiving), found in ratios.items():
            low, middle, high = min(found), statistics.median(found), max(found)
            print(f"{size} B, {sending.__name__} and {receiving.__name__}: {middle:.1f} ({low:.1f} to {high:.1f})")


if __name__ == "__main__":
    print("multiprocessing.Queue / ours")
    main(*map(int, sys.argv[1:]))
