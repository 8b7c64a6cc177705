"""Many senders, one receiver."""

import os

import ysuite

from . import LONG, Test


class Funnels(Test):
    def test_messages_of_each_sender_arrive_in_order(self):
        program = """
with ysuite.Sender(int(sys.argv[1]), 4000) as sender:
    sender.send_batch(number.to_bytes(4, 'little') for number in range(5000))
"""
        with ysuite.Funnel() as funnel:
            children = {}
            for _ in range(3):
                number, seat = funnel.seat()
                children[number] = self.python(program, seat)
            self.assertEqual(funnel.senders, 3)
            following = dict.fromkeys(children, 0)
            for _ in range(15_000):
                sender, message = funnel.recv_from(LONG)
                self.assertEqual(int.from_bytes(message, "little"), following[sender])
                following[sender] += 1
            self.assertEqual(list(funnel), [])
            with self.assertRaises(ysuite.Closed):
                funnel.try_recv()
            ended = dict(iter(funnel.next_ended, None))
            self.assertEqual({number: type(error) for number, error in ended.items()}, dict.fromkeys(children, ysuite.Closed))

    def test_a_sender_that_is_killed_ends_no_other(self):
        name = self.name()
        with ysuite.Funnel(name, pickles=True) as funnel:
            number, seat = funnel.seat()
            program = "sender = ysuite.Sender(int(sys.argv[1]), 100)\nsender.send(b'last words')\nos.kill(os.getpid(), signal.SIGKILL)"
            child = self.python(program, seat)
            self.assertEqual(funnel.recv_from(LONG), (number, b"last words"))
            self.assert_killed(child)
            with ysuite.Sender.connect(name, 1_000) as sender:
                sender.send_object([1, 2])
                self.assertEqual(funnel.recv_object(LONG), [1, 2])
                sender.send_batch([b"one", b"two", bytes(900)])
                self.assertEqual(funnel.recv_batch(2), [b"one", b"two"])
                self.assertEqual(funnel.recv_batch(5), [bytes(900)])
                with self.assertRaises(ysuite.Timeout):
                    funnel.recv(0.001)
            dead, error = funnel.next_ended()
            self.assertEqual((dead, type(error)), (number, ysuite.Died))

    def test_who_may_connect(self):
        name = self.name()
        with ysuite.Funnel(name, allow=[os.getuid() + 1]) as funnel:
            sender = ysuite.Sender.connect(name, 100)
            with self.assertRaises(ysuite.Empty):
                funnel.try_recv()
            with self.assertRaises(ysuite.Refused):
                while True:
                    sender.send(b"let me in", LONG)
            with self.assertRaises(ysuite.Refused):
                ysuite.Sender.connect(name, 100, allow=[])
