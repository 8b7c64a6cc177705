"""Ends in two processes, in Python and in Rust; deaths; forks; signals."""

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import unittest

import ysuite

from . import EXAMPLES, LONG, Test

HERE = os.path.dirname(os.path.abspath(__file__))

ECHO = """
receiver, sender = ysuite.Receiver(int(sys.argv[1])), ysuite.Sender(int(sys.argv[2]), 1 << 20)
for message in receiver:
    sender.send(message[::-1])
"""
BY_NAME = """
receiver = ysuite.Receiver.connect(sys.argv[1])
with ysuite.Sender.connect(sys.argv[1], 1000) as sender:
    sender.send_batch(receiver)
"""


def add(receiver, sender):
    """Runs in a child of multiprocessing."""
    sender.send_object(sum(receiver.recv_object() for _ in range(3)))


class Python(Test):
    def pair(self, capacity=1 << 20):
        """An end here, and the descriptor of the other."""
        sender, receiver = ysuite.pipe(capacity)
        return sender, receiver.into_fd()

    def test_many_messages_there_and_back(self):
        to, one = self.pair()
        other, back = ysuite.pipe(1 << 20)
        child = self.python(ECHO, one, other.into_fd())
        for first in range(0, 50_000, 500):
            to.send_batch(b"%d" % number for number in range(first, first + 500))
            for number in range(first, first + 500):
                self.assertEqual(back.recv(LONG), str(number).encode()[::-1])
        to.close()
        self.assertEqual(child.wait(LONG), 0)
        with self.assertRaises((ysuite.Closed, ysuite.Died)):
            back.recv(LONG)

    def test_strangers_meet_by_a_name_and_by_a_path(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in [self.name(), os.path.join(folder, "socket")]:
                with ysuite.Listener(name) as listener:
                    command = [sys.executable, "-c", "import sys, ysuite\n" + BY_NAME, name]
                    child = self.end_of(subprocess.Popen(command))
                    to, back = listener.accept_sender(1_000, LONG), listener.accept_receiver(LONG)
                    with self.assertRaises(ysuite.Timeout):
                        listener.accept(timeout=0)
                    with self.assertRaises(ysuite.Refused):
                        ysuite.Listener(name)
                with to:
                    to.send_batch([b"one", b"two"])
                self.assertEqual(list(back), [b"one", b"two"])
                self.assertEqual(child.wait(LONG), 0)
            self.assertEqual(os.listdir(folder), [])

    def test_a_killed_sender(self):
        sender, receiver = ysuite.pipe(1_000)
        program = "s = ysuite.Sender(int(sys.argv[1]), 1000)\ns.send_batch([b'one', b'two'])\nos.kill(os.getpid(), signal.SIGKILL)"
        child = self.python(program, sender.into_fd())
        self.assertEqual(next(receiver), b"one")
        self.assert_killed(child)
        self.assertEqual(next(receiver), b"two")
        for error in [ysuite.Died, ConnectionResetError, ysuite.Died]:
            with self.assertRaises(error):
                next(receiver)
        self.assertFalse(issubclass(ysuite.Died, EOFError), "a crash is no regular end")

    def test_a_receiver_that_is_killed_over_a_message_while_the_sender_waits(self):
        sender, descriptor = self.pair(100)
        child = self.python("r = ysuite.Receiver(int(sys.argv[1]))\nr.recv()\nos.kill(os.getpid(), signal.SIGKILL)", descriptor)
        with self.assertRaises(ysuite.Died) as caught:
            sender.send_batch([bytes([number]) * 30 for number in range(100)])
        self.assert_killed(child)
        unread = sender.into_unread()
        self.assertEqual(unread, [bytes([number]) * 30 for number in range(1, caught.exception.sent)])

    def test_big_messages(self):
        to, one = self.pair(32 << 20)
        other, back = ysuite.pipe(32 << 20)
        child = self.python(ECHO.replace("1 << 20", "32 << 20"), one, other.into_fd())
        for number in range(3):
            message = os.urandom(1 << 20) * 8
            to.send(message if number else bytearray(message))
            self.assertEqual(back.recv(LONG), message[::-1])
        to.close()
        self.assertEqual(child.wait(LONG), 0)

    def test_children_of_multiprocessing_get_ends_as_arguments(self):
        spawn = multiprocessing.get_context("spawn")
        to, there = ysuite.pipe(1_000, pickles=True)
        here, back = ysuite.pipe(1_000, pickles=True)
        child = spawn.Process(target=add, args=(there, here))
        child.start()
        for number in [1, 2, 3]:
            to.send_object(number)
        self.assertEqual(back.recv_object(LONG), 6)
        child.join(LONG)
        self.assertEqual(child.exitcode, 0)
        with self.assertRaises(ValueError):
            there.recv()
        with self.assertRaisesRegex(RuntimeError, "spawning|inheritance"):
            multiprocessing.reduction.ForkingPickler.dumps(to)


class Forks(Test):
    def fork(self, program):
        """The exit code of a forked child that returns from `program`."""
        child = os.fork()
        if child == 0:
            code = 1
            try:
                program()
                code = 0
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def test_a_forked_child_has_no_ends(self):
        sender, receiver = ysuite.pipe(1_000)
        sender.send(b"before")

        def program():
            for use in [lambda: sender.send(b"no"), receiver.recv, receiver.fileno, sender.into_unread, sender.into_fd]:
                with self.assertRaisesRegex(RuntimeError, "forked child"):
                    use()
            sender.close()
            receiver.close()
            # Its own are its own.
            one, other = ysuite.pipe(100)
            one.send(b"own")
            self.assertEqual(other.recv(), b"own")

        self.assertEqual(self.fork(program), 0)
        sender.send(b"behind")
        self.assertEqual(receiver.recv_batch(2), [b"before", b"behind"])

    def test_a_forked_child_gets_a_descriptor(self):
        sender, receiver = ysuite.pipe(1_000)
        descriptor = sender.into_fd()
        self.assertEqual(self.fork(lambda: ysuite.Sender(descriptor, 1_000).send(b"from a child")), 0)
        os.close(descriptor)
        self.assertEqual(receiver.recv(LONG), b"from a child")
        with self.assertRaises(ysuite.Closed):
            receiver.recv(LONG)


class Signals(Test):
    def test_an_interrupt_ends_a_wait(self):
        waits = ["receiver.recv()", "sender.send(bytes(50))", "sender.send(bytearray(50))", "ysuite.Funnel('x' + sys.argv[1]).recv()",
                 "ysuite.Listener('y' + sys.argv[1]).accept(1000)",
                 "[s := ysuite.LoanSender(slots=1, largest=1), ysuite.LoanReceiver(s.seat()).recv()]",
                 "[s := ysuite.LoanSender(slots=1, largest=1), s.serve(1000)]",
                 "[q := ysuite.Questions(largest=1), ysuite.Caller(q.seat()[1], 1).call(b'')]",
                 "ysuite.Questions('q' + sys.argv[1], largest=1).recv()",
                 "[s := ysuite.WorkSender(credit=1, largest=1), ysuite.WorkReceiver(s.seat()).recv()]",
                 "[s := ysuite.WorkSender(credit=1, largest=1), w := ysuite.WorkReceiver(s.seat()), s.serve(), s.send(b''), s.settle()]",
                 "[s := ysuite.WorkSender('w' + sys.argv[1], credit=1, largest=1), s.send(b'')]",
                 "[s := ysuite.LoanSender(slots=1, largest=1), r := ysuite.LoanReceiver(s.seat()), s.serve(), s.loan(1).send(), s.loan(1)]"]  # fmt: skip
        for wait in waits:
            with self.subTest(wait):
                # A shell gives a process in the background no interrupts, and then Python has no handler either.
                program = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
sender, receiver = ysuite.pipe(64)
sender.send(bytes(50)) if 'sender' in {wait!r} else None
try:
    print('ready', flush=True)
    {wait}
except KeyboardInterrupt:
    os._exit(7)
"""
                reader, writer = os.pipe()
                os.close(writer)
                child = self.python(program, reader, stdout=subprocess.PIPE)
                self.assertEqual(child.stdout.readline(), b"ready\n")
                # Again, as one that comes before the wait is a matter of Python.
                while child.poll() is None:
                    child.send_signal(signal.SIGINT)
                    try:
                        child.wait(0.2)
                    except subprocess.TimeoutExpired:
                        pass
                self.assertEqual(child.returncode, 7)

    def test_a_handler_that_returns_does_not_end_a_wait(self):
        sender, receiver = ysuite.pipe(64)
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, lambda *_: handle()))
        handled = []

        def handle():
            handled.append(None)
            with self.assertRaises(RuntimeError):
                receiver.try_recv()
            sender.send(b"of a handler")

        signal.setitimer(signal.ITIMER_REAL, 0.2)
        self.assertEqual(receiver.recv(LONG), b"of a handler")
        self.assertEqual(len(handled), 1)


@unittest.skipUnless(EXAMPLES, "YSUITE_EXAMPLES is not set: the examples in Rust were not built")
class Rust(Test):
    def echo(self, name):
        with ysuite.Listener(name) as listener:
            child = self.rust("echo", name)
            return child, listener.accept_sender(1 << 20, LONG), listener.accept_receiver(LONG)

    def test_messages_there_and_back(self):
        child, to, back = self.echo(self.name())
        inverted = bytes(255 - byte for byte in range(256))
        for number in range(20_000):
            message = number.to_bytes(4, "little") * (number % 200)
            to.send(message)
            if number % 50 == 49:
                for earlier in range(number - 49, number + 1):
                    sent = earlier.to_bytes(4, "little") * (earlier % 200)
                    self.assertEqual(back.recv(LONG).translate(inverted), sent)
        message = os.urandom(500_000)
        to.send(message)
        self.assertEqual(back.recv(LONG).translate(inverted), message)
        to.close()
        self.assertEqual(child.wait(LONG), 0)
        self.assertEqual(list(back), [])

    def test_it_is_killed(self):
        child, to, back = self.echo(self.name())
        to.send(b"message")
        back.recv(LONG)
        child.kill()
        self.assert_killed(child)
        with self.assertRaises(ysuite.Died):
            back.recv(LONG)
        with self.assertRaises(ysuite.Died):
            while True:
                to.send(bytes(1_000), LONG)

    def test_a_camera_and_its_viewer(self):
        viewer = os.path.join(HERE, "..", "examples", "viewer.py")
        said = subprocess.run(
            [sys.executable, viewer, os.path.join(EXAMPLES, "camera"), "50"], capture_output=True, text=True, timeout=LONG
        )
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        self.assertRegex(said.stdout, r"frame 50: 480 x 640, brightness 50\n.* frames seen; the camera has closed\n$")
