"""The package with itself, over connections that break, and with a bridge: YSUITE_ECHO is the example `echo` of ysuite-zmq."""

import os
import socket
import struct
import subprocess
import threading
import unittest

import zmq
from ysuite_duplex import ANSWER, HELLO, MESSAGES, Closed, Duplex, Header

GUARD = 60


class Proxy:
    """A connection to an address that can be cut."""

    def __init__(self, address):
        host, port = address[len("tcp://"):].rsplit(":", 1)
        self.there, self.pairs = (host, int(port)), []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "tcp://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                here, _ = self.listener.accept()
                there = socket.create_connection(self.there)
            except OSError:
                return
            with self.lock:
                self.pairs.append((here, there))
            for source, target in ((here, there), (there, here)):
                threading.Thread(target=self.copy, args=(source, target), daemon=True).start()

    @staticmethod
    def copy(source, target):
        try:
            while data := source.recv(4096):
                target.sendall(data)
        except OSError:
            pass

    def cut(self):
        """Returns how many connections there were."""
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for end in (end for pair in pairs for end in pair):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()
        return len(pairs)

    def close(self):
        self.listener.close()
        self.cut()


class OtherSide(threading.Thread):
    """Does this with a duplex of its own, in a thread of its own."""

    def __init__(self, work):
        super().__init__(daemon=True)
        self.work, self.result, self.failure = work, None, None
        self.start()

    def run(self):
        try:
            self.result = self.work()
        except BaseException as failure:
            self.failure = failure

    def joined(self):
        self.join(GUARD)
        if self.failure is not None:
            raise self.failure
        assert not self.is_alive(), "it hangs"
        return self.result


def message(number):
    return b"%d" % number + b"." * (number % 300)


class Together(unittest.TestCase):
    def test_both_sides_receive_all_in_order(self):
        count = 2_000
        one = Duplex(bind="tcp://127.0.0.1:*", capacity=50)

        def other_side():
            with Duplex(connect=one.address, capacity=7, unacknowledged=20) as other:
                came = []
                for number in range(count):
                    other.send(message(number), GUARD)
                    came.append(other.recv(GUARD))
                return came, other.close(GUARD), other.recv(0)

        other = OtherSide(other_side)
        came = []
        for number in range(count):
            one.send(message(number), GUARD)
            came.append(one.recv(GUARD))
        self.assertIsNone(one.recv(GUARD))
        self.assertEqual(one.close(GUARD), 0)
        self.assertEqual(came, [message(number) for number in range(count)])
        self.assertEqual(other.joined(), (came, 0, None))
        self.assertEqual((one.malformed, one.duplicates), (0, 0))

    def test_no_more_is_under_way_than_there_is_room_for(self):
        one = Duplex(bind="tcp://127.0.0.1:*", capacity=4)
        other = Duplex(connect=one.address, unacknowledged=10)
        other_side = OtherSide(lambda: [other.send(message(number), GUARD) for number in range(4)] and other.serve(0.2))
        while len(one._come) < 4:
            one.serve(0.01)
        other_side.joined()
        for number in range(4, 14):
            other.send(message(number), 0 if number < 10 else GUARD)
        with self.assertRaises(TimeoutError):
            other.send(b"one too many", 0.05)
        one.serve(0.05)
        self.assertEqual(len(one._come), 4)
        draining = OtherSide(lambda: [one.recv(GUARD) for _ in range(14)])
        while draining.is_alive():
            other.serve(0.01)
        self.assertEqual(draining.joined(), [message(number) for number in range(14)])
        closing = OtherSide(lambda: (one.recv(GUARD), one.close(GUARD)))
        self.assertEqual(other.close(GUARD), 0)
        self.assertEqual(closing.joined(), (None, 0))

    def test_connections_may_break(self):
        count = 3_000
        one = Duplex(bind="tcp://127.0.0.1:*", capacity=50)
        proxy = Proxy(one.address)
        self.addCleanup(proxy.close)

        def other_side():
            with Duplex(connect=proxy.address, capacity=50) as other:
                came = 0
                for number in range(count):
                    other.send(message(number), GUARD)
                    while other._come:
                        self.assertEqual(other.recv(), message(came))
                        came += 1
                while came < count:
                    self.assertEqual(other.recv(GUARD), message(came))
                    came += 1
                return other.close(GUARD)

        other, cuts = OtherSide(other_side), 0
        for number in range(count):
            one.send(message(number), GUARD)
            self.assertEqual(one.recv(GUARD), message(number))
            if number % 1_000 == 500:
                cuts += proxy.cut()
        self.assertIsNone(one.recv(GUARD))
        self.assertEqual((one.close(GUARD), other.joined()), (0, 0))
        self.assertGreaterEqual(cuts, 3)

    def test_another_takes_the_place_of_one_that_is_gone(self):
        one = Duplex(bind="tcp://127.0.0.1:*")
        first = Duplex(connect=one.address)
        first.send(b"first")
        serving = OtherSide(lambda: first.serve(0.5))
        self.assertEqual(one.recv(GUARD), b"first")
        # A third is not heard while the second is there.
        third = Duplex(connect=one.address)
        third.send(b"third")
        for _ in range(20):
            third.serve(0.01)
            one.serve(0.01)
        serving.joined()
        self.assertFalse(one._come)
        self.assertGreaterEqual(one.ignored, 1)
        self.assertFalse(one._is_over)
        # It dies without a word, and what it has not acknowledged goes to the next.
        first._leave(linger=0)
        one.send(b"for whoever is there", GUARD)
        talking = OtherSide(lambda: third.recv(GUARD))
        self.assertEqual(one.recv(GUARD), b"third")
        while talking.is_alive():
            one.serve(0.01)
        self.assertEqual(talking.joined(), b"for whoever is there")
        closing = OtherSide(lambda: third.close(GUARD))
        self.assertIsNone(one.recv(GUARD))
        self.assertEqual((one.close(GUARD), closing.joined()), (0, 0))

    def test_a_side_that_closes_receives_no_more(self):
        one = Duplex(bind="tcp://127.0.0.1:*")
        other = Duplex(connect=one.address)
        other.send(b"the last word")
        closing = OtherSide(lambda: other.close(GUARD))
        self.assertEqual((one.recv(GUARD), one.recv(GUARD)), (b"the last word", None))
        self.assertEqual(closing.joined(), 0)
        with self.assertRaises(Closed):
            while True:
                one.send(b"to nobody", GUARD)
        one.close(1)

    def test_records_are_tuples(self):
        record = struct.Struct("<Qd")
        one = Duplex(bind="tcp://127.0.0.1:*", record=record)

        def other_side():
            with Duplex(connect=one.address, record=record) as other:
                other.send((7, 0.5))
                return other.recv(GUARD), other.close(GUARD)

        other = OtherSide(other_side)
        self.assertEqual(one.recv(GUARD), (7, 0.5))
        one.send((8, 1.5))
        self.assertIsNone(one.recv(GUARD))
        self.assertEqual((one.close(GUARD), other.joined()), (0, ((8, 1.5), 0)))

    def test_what_cannot_be_is_refused(self):
        for wrong in ({}, {"bind": "a", "connect": "b"}, {"bind": "tcp://127.0.0.1:*", "capacity": 0}):
            with self.assertRaises(ValueError):
                Duplex(**wrong)
        with self.assertRaises(zmq.ZMQError):
            Duplex(bind="tcp:/127.0.0.1")
        alone = Duplex(bind="tcp://127.0.0.1:*")
        with self.assertRaises(TimeoutError):
            alone.recv(0.01)
        alone.send(b"to nobody")
        self.assertEqual(alone.close(0.01), 1)
        self.assertEqual(alone.close(), 1)
        with self.assertRaises(Closed):
            alone.send(b"late")


class Frames(unittest.TestCase):
    def test_a_header_has_these_bytes(self):
        header = Header(1, MESSAGES, 5, 7, 1, 2, 3, 4, 2**64 - 1, 6)
        bytes_ = bytes.fromhex("01020500" "07000000" "0100000000000000" "0200000000000000" "0300000000000000"
                               "0400000000000000" "ffffffffffffffff" "0600000000000000")
        self.assertEqual(header.pack(), bytes_)
        self.assertEqual(Header.read(bytes_ + b"body"), header)

    def test_what_is_no_frame_is_counted(self):
        hello = Header(1, HELLO, 0, 1, 9, 0, 0, 0, 0, 0)
        wrong = [b"", b"x" * 55, b"\x09" * 56, bytes(56), hello._replace(kind=7).pack(), hello.pack() + b"more",
                 hello._replace(session=0).pack(), hello._replace(number=2**63 + 1).pack()]
        self.assertEqual([Header.read(frame) for frame in wrong], [None] * len(wrong))
        one = Duplex(bind="tcp://127.0.0.1:*")
        with zmq.Context.instance().socket(zmq.DEALER) as raw:
            raw.linger, raw.rcvtimeo = 0, GUARD * 1_000
            raw.connect(one.address)
            for frame in wrong:
                raw.send(frame)
            raw.send_multipart([b"two", b"parts"])
            # Of one that has not said hello, and more than may be sent.
            raw.send(Header(1, MESSAGES, 0, 1, 9, 0, 0, 0, 0, 0).pack() + b"early")
            raw.send(hello.pack())
            raw.send(Header(1, MESSAGES, 0, 1, 9, 5_000, 0, 0, 0, 0).pack() + b"beyond")
            while one.malformed < len(wrong) + 2:
                one.serve(0.01)
            self.assertFalse(one._come)
            said = [Header.read(raw.recv()).kind for _ in range(2)]
            self.assertEqual(sorted(said), [HELLO, ANSWER])
        one.close(0)


@unittest.skipUnless("YSUITE_ECHO" in os.environ, "without YSUITE_ECHO there is no bridge")
class WithABridge(unittest.TestCase):
    COUNT = 3_000

    def setUp(self):
        self.echo = subprocess.Popen([os.environ["YSUITE_ECHO"], "tcp://127.0.0.1:*"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.echo.stdout.close)
        self.addCleanup(self.echo.wait)
        self.addCleanup(self.echo.kill)
        self.address = self.echo.stdout.readline().split()[-1]

    def converse(self, address, cut):
        came = 0
        with Duplex(connect=address, capacity=50) as duplex:
            for number in range(self.COUNT):
                duplex.send(message(number), GUARD)
                while duplex._come:
                    self.assertEqual(duplex.recv(), message(came))
                    came += 1
                if number % 1_000 == 500:
                    cut()
            while came < self.COUNT:
                self.assertEqual(duplex.recv(GUARD), message(came))
                came += 1
            self.assertEqual(duplex.close(GUARD), 0)
        self.assertEqual(self.echo.communicate(timeout=GUARD)[0], f"{self.COUNT} messages sent back: Flushed\n")

    def test_a_bridge_sends_all_back(self):
        self.converse(self.address, lambda: None)

    def test_connections_to_a_bridge_may_break(self):
        proxy = Proxy(self.address)
        self.addCleanup(proxy.close)
        self.converse(proxy.address, proxy.cut)


if __name__ == "__main__":
    unittest.main()
