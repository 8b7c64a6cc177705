"""Messages from one process to others: the time of other packages / ours, for a stream of 8 bytes and of 64 KiB to one
receiver, and for frames of 6 MB to two.

    pip install pyzmq==27.3.0 faster-fifo==1.5.2 iceoryx2==0.10.0
    python python/benchmarks/queues.py [ROUNDS]

A package that is not installed is left out. All take turns. The ratio is that of the best times of all rounds; the smallest
and the largest of one round are in brackets. A frame is an object of `bytes` that is to be seen by all receivers: each reads
its first byte and its last. It is compared with one copy of it from memory to memory, which is one `memcpy`.
"""

import ctypes
import importlib.util
import multiprocessing
import os
import sys
import tempfile
import time
from multiprocessing import shared_memory

import ysuite

SPAWN = multiprocessing.get_context("spawn")
FRAME = 1080 * 1920 * 3
# The bytes of a message; how many a stream has, the bytes of the channel, which are far fewer, and the receivers.
SIZES = {8: (50_000, 64 << 10, 1), 64 << 10: (2_000, 1 << 20, 1), FRAME: (200, 4 * (FRAME + 64), 2)}


def see(view):
    """What becomes of a message that is seen in place: a copy, but of a frame."""
    return view[0] + view[-1] if len(view) == FRAME else bytes(view)


class Way:
    """The sending end of a channel of this room. `far` has what each of the receivers makes its end of, in its process."""

    needs = None

    def __init__(self, size, room, readers):
        self.size, self.slots, self.readers = size, room // (size + 8), readers
        self.name = f"{type(self).__name__}-{os.getpid()}-{time.monotonic_ns()}"
        self.make(room)

    def joined(self):
        """All receivers are there."""

    def close(self):
        """All is received."""


class Ours(Way):
    title = "ysuite: send, recv"

    def make(self, room):
        self.sender, receiver = ysuite.pipe(room)
        self.far = [receiver]

    def send(self, message, count):
        for _ in range(count):
            self.sender.send(message)

    @staticmethod
    def recv(receiver, size, count):
        yield
        for _ in range(count):
            receiver.recv()


class OursInBatches(Ours):
    title = "ysuite: send_batch, recv_batch"

    def send(self, message, count):
        self.sender.send_batch(message for _ in range(count))

    @staticmethod
    def recv(receiver, size, count):
        yield
        while count > 0:
            count -= len(receiver.recv_batch(min(count, 64)))


class OursInto(Ours):
    title = "ysuite: send, recv_into"

    @staticmethod
    def recv(receiver, size, count):
        buffer = bytearray(size)
        yield
        for _ in range(count):
            receiver.recv_into(buffer)


class OursLent(Way):
    title = "ysuite: loan, recv"

    def make(self, room):
        self.sender = ysuite.LoanSender(self.name, slots=self.slots, largest=self.size)
        self.far = [self.name] * self.readers

    def joined(self):
        while self.sender.receivers < self.readers:
            self.sender.serve(0.01)

    def send(self, message, count):
        for _ in range(count):
            loan = self.sender.loan(len(message))
            with memoryview(loan) as view:
                view[:] = message
            loan.send()

    @staticmethod
    def recv(name, size, count):
        receiver = ysuite.LoanReceiver.connect(name, views=True)
        yield
        for _ in range(count):
            with receiver.recv() as borrowed, memoryview(borrowed) as view:
                see(view)


class Queue(Way):
    title = "multiprocessing.Queue"

    def make(self, room):
        self.far = [SPAWN.Queue(self.slots) for _ in range(self.readers)]

    def send(self, message, count):
        for _ in range(count):
            for queue in self.far:
                queue.put(message)

    @staticmethod
    def recv(queue, size, count):
        yield
        for _ in range(count):
            queue.get()


class Shared(Way):
    """What programs write with it: slots in turn, and two semaphores for each receiver."""

    title = "multiprocessing.shared_memory, semaphores"

    def make(self, room):
        self.memory = shared_memory.SharedMemory(create=True, size=self.size * self.slots)
        self.waits = [(SPAWN.Semaphore(self.slots), SPAWN.Semaphore(0)) for _ in range(self.readers)]
        self.far = [(self.memory.name, self.slots, *waits) for waits in self.waits]

    def send(self, message, count):
        for number in range(count):
            at = number % self.slots * self.size
            for free, _ in self.waits:
                free.acquire()
            self.memory.buf[at : at + self.size] = message
            for _, full in self.waits:
                full.release()

    def close(self):
        self.memory.close()
        self.memory.unlink()

    @staticmethod
    def recv(far, size, count):
        name, slots, free, full = far
        memory = shared_memory.SharedMemory(name)
        yield
        for number in range(count):
            at = number % slots * size
            full.acquire()
            with memory.buf[at : at + size] as view:
                see(view)
            free.release()
        memory.close()


class Zmq(Way):
    title, needs = "pyzmq, ipc", ("zmq", "pyzmq==27.3.0")

    def make(self, room):
        import zmq

        self.folder = tempfile.TemporaryDirectory()
        self.context, self.far = zmq.Context(), [f"ipc://{self.folder.name}/{at}" for at in range(self.readers)]
        self.sockets = [self.context.socket(zmq.PUSH) for _ in self.far]
        for socket, address in zip(self.sockets, self.far):
            socket.sndhwm = self.slots
            socket.bind(address)

    def send(self, message, count):
        is_copied = len(message) < 1 << 20
        for _ in range(count):
            for socket in self.sockets:
                socket.send(message, copy=is_copied)

    def close(self):
        self.context.destroy()
        self.folder.cleanup()

    @staticmethod
    def recv(address, size, count):
        import zmq

        with zmq.Context() as context, context.socket(zmq.PULL) as socket:
            socket.rcvhwm = 4
            socket.connect(address)
            yield
            for _ in range(count):
                if size == FRAME:
                    see(socket.recv(copy=False).buffer)
                else:
                    socket.recv()


class FasterFifo(Way):
    title, needs = "faster-fifo", ("faster_fifo", "faster-fifo==1.5.2")

    def make(self, room):
        import faster_fifo

        self.far = [faster_fifo.Queue(max_size_bytes=room + 4096) for _ in range(self.readers)]

    def send(self, message, count):
        for _ in range(count):
            for queue in self.far:
                queue.put(message, timeout=3_600)

    @staticmethod
    def recv(queue, size, count):
        yield
        for _ in range(count):
            queue.get(timeout=3_600)


class Iceoryx2(Way):
    """Its subscribers have nothing that waits for a message: they look again and again."""

    title, needs = "iceoryx2", ("iceoryx2", "iceoryx2==0.10.0")

    @staticmethod
    def service(name, slots):
        import iceoryx2

        iceoryx2.set_log_level(iceoryx2.LogLevel.Error)
        node = iceoryx2.NodeBuilder.new().create(iceoryx2.ServiceType.Ipc)
        kind = iceoryx2.Slice[ctypes.c_uint8]
        builder = node.service_builder(iceoryx2.ServiceName.new(name)).publish_subscribe(kind)
        return node, builder.subscriber_max_buffer_size(slots).enable_safe_overflow(False).open_or_create()

    def make(self, room):
        import iceoryx2

        self.node, self.channel = self.service(self.name, self.slots)
        publisher = self.channel.publisher_builder().initial_max_slice_len(self.size)
        self.publisher = publisher.backpressure_strategy(iceoryx2.BackpressureStrategy.RetryUntilDelivered).create()
        self.far = [(self.name, self.slots)] * self.readers

    def joined(self):
        self.publisher.update_connections()

    def send(self, message, count):
        for _ in range(count):
            sample = self.publisher.loan_slice_uninit(len(message))
            ctypes.memmove(sample.payload_ptr, message, len(message))
            sample.assume_init().send()

    def close(self):
        self.publisher.delete()

    @staticmethod
    def recv(far, size, count):
        node, channel = Iceoryx2.service(*far)
        subscriber = channel.subscriber_builder().create()
        yield
        for _ in range(count):
            while (sample := subscriber.receive()) is None:
                os.sched_yield()
            if size == FRAME:
                pixels = sample.payload()
                pixels[0] + pixels[size - 1]
            else:
                ctypes.string_at(sample.payload_ptr, size)
            sample.delete()
        subscriber.delete()


class Copy(Way):
    title = "one copy"
    far = ()

    def make(self, room):
        self.to = memoryview(bytearray(self.size))

    def send(self, message, count):
        for _ in range(count):
            self.to[:] = message


def receive(way, far, size, count, ready, done):
    try:
        receiving = way.recv(far, size, count)
        next(receiving)
        ready.wait()
        for _ in receiving:
            pass
        done.wait()
    except BaseException:
        # The sender waits no longer; or in its channel, for who is gone.
        ready.abort()
        done.abort()
        raise


def timed(way, size, count, room, readers):
    """Seconds from the first message until all receivers have the last."""
    message = bytes(size)
    way = way(size, room, readers)
    ready, done = SPAWN.Barrier(len(way.far) + 1), SPAWN.Barrier(len(way.far) + 1)
    arguments = [(type(way), far, size, count, ready, done) for far in way.far]
    children = [SPAWN.Process(target=receive, args=each) for each in arguments]
    for child in children:
        child.start()
    ready.wait()
    way.joined()
    begun = time.perf_counter()
    way.send(message, count)
    done.wait()
    seconds = time.perf_counter() - begun
    for child in children:
        child.join()
    way.close()
    return seconds


def ratio(others, ours):
    each = [other / our for other, our in zip(others, ours)]
    return f"{min(others) / min(ours):.2f} ({min(each):.2f} to {max(each):.2f})"


def main(rounds=5):
    others = [Queue, Zmq, FasterFifo, Shared, Iceoryx2]
    for way in list(others):
        if way.needs and importlib.util.find_spec(way.needs[0]) is None:
            others.remove(way)
            print(f"left out, as it is not installed: {way.needs[1]}")
    for size, (count, room, readers) in SIZES.items():
        ours = {8: [Ours, OursInBatches], FRAME: [OursLent]}.get(size, [Ours, OursInto])
        rest = others + [Copy] * (size == FRAME)
        times = {way: [] for way in ours + rest}
        for _ in range(rounds):
            for way, found in times.items():
                found.append(timed(way, size, count, room, readers) / count)
        print(f"\n{size} B, to {readers}")
        for way in ours:
            print(f"  {way.title}: {min(times[way]) * 1e6:.2f} us a message")
            for other in rest:
                print(f"    {other.title} / ours: {ratio(times[other], times[way])}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
