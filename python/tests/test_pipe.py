"""A pipe with both ends in one process."""

import array
import gc
import os
import selectors
import sys
import threading

import ysuite

from . import LONG, Test, descriptors


class Messages(Test):
    def test_bytes_of_all_lengths_go_round(self):
        sender, receiver = ysuite.pipe(4_000)
        for length in [*range(1_100), 3_992, 3_991, 0]:
            message = bytes((at * 7 + length) % 256 for at in range(length))
            sender.send(message)
            self.assertEqual(receiver.recv(), message)
        self.assertEqual(sender.largest, 3_992)
        with self.assertRaisesRegex(ValueError, "3993 bytes.* 3992"):
            sender.send(bytes(3_993))
        with self.assertRaises(ValueError):
            sender.try_send(bytearray(3_993))
        with self.assertRaises(ysuite.Empty):
            receiver.try_recv()

    def test_whatever_has_a_buffer_is_a_message(self):
        sender, receiver = ysuite.pipe(1 << 20)
        words = array.array("I", range(50_000))
        for message in [bytearray(b"one"), memoryview(b"three")[1:4], words, memoryview(words)[10:], bytearray()]:
            sender.send(message)
            self.assertEqual(receiver.recv(), bytes(message))
            sender.try_send(message)
            self.assertEqual(receiver.recv(), bytes(message))
        with self.assertRaises(BufferError):
            sender.send(memoryview(words)[::2])
        for no_message in ["text", 8, None]:
            with self.assertRaises(TypeError):
                sender.send(no_message)

    def test_a_message_goes_into_a_buffer_if_it_fits(self):
        sender, receiver = ysuite.pipe(1 << 20)
        buffer = bytearray(70_000)
        for length in [0, 1, 512, 513, 70_000]:
            sender.send(bytes([length % 251]) * length)
            self.assertEqual(receiver.recv_into(buffer), length)
            self.assertEqual(set(buffer[:length]), {length % 251} if length else set())
        for length in [4, 1_000]:
            sender.send(b"x" * length)
            with self.assertRaisesRegex(ValueError, f"{length} bytes, which stays, and a buffer of 3"):
                receiver.recv_into(bytearray(3))
            self.assertFalse(receiver.arm())
            self.assertEqual(receiver.recv(), b"x" * length)
        with self.assertRaises(BufferError):
            receiver.recv_into(b"constant")
        words = array.array("Q", [0, 0])
        sender.send((5).to_bytes(8, sys.byteorder) + (6).to_bytes(8, sys.byteorder))
        self.assertEqual((receiver.recv_into(words), list(words)), (16, [5, 6]))

    def test_batches(self):
        sender, receiver = ysuite.pipe(1_000)
        self.assertEqual(sender.send_batch(bytes([number]) for number in range(10)), 10)
        self.assertEqual(receiver.recv_batch(0), [])
        self.assertEqual(receiver.recv_batch(4), [b"\0", b"\1", b"\2", b"\3"])
        self.assertEqual(len(receiver.recv_batch(100)), 6)
        with self.assertRaises(ysuite.Timeout):
            receiver.recv_batch(1, timeout=0)
        with self.assertRaises(ysuite.Timeout) as caught:
            sender.send_batch([bytes(100)] * 100, timeout=0)
        self.assertEqual(caught.exception.sent, 8)
        with self.assertRaises(TypeError) as caught:
            sender.send_batch(["text"])
        self.assertEqual(caught.exception.sent, 0)
        # The iterator may use the end.
        receiver.recv_batch(100)
        self.assertEqual(sender.send_batch(bytes([sender.largest % 256]) for _ in range(3)), 3)

    def test_objects_only_if_that_is_wanted(self):
        sender, receiver = ysuite.pipe(1_000, pickles=True)
        sender.send_object({"list": [1, 2.5, None]})
        self.assertEqual(receiver.recv_object(), {"list": [1, 2.5, None]})
        sender, receiver = ysuite.pipe(1_000)
        sender.send_object("object")
        with self.assertRaisesRegex(ValueError, "pickles=True"):
            receiver.recv_object()
        self.assertEqual(receiver.recv()[:1], b"\x80")

    def test_no_object_is_kept(self):
        sender, receiver = ysuite.pipe(1_000)
        for message in [bytes(100), bytearray(100), bytes(900), bytes(2_000)]:
            before = sys.getrefcount(message)
            for send in [sender.send, sender.try_send, lambda m: sender.send_batch([m], timeout=0)]:
                for timeout in [(), (0,)] if send == sender.send and len(message) < 500 else [(0,)]:
                    try:
                        send(message, *timeout) if send == sender.send else send(message)
                    except (ysuite.Full, ysuite.Timeout, ValueError):
                        pass
            self.assertEqual(sys.getrefcount(message), before)
            if isinstance(message, bytearray):
                message.append(1)
            while True:
                try:
                    self.assertEqual(sys.getrefcount(receiver.try_recv()), 1)
                except ysuite.Empty:
                    break
        buffer = bytearray(100)
        sender.send(b"message")
        receiver.recv_into(buffer)
        buffer.append(1)


class Ends(Test):
    def test_a_full_and_an_empty_channel(self):
        sender, receiver = ysuite.pipe(64)
        for attempt in [receiver.try_recv, lambda: receiver.recv(0), lambda: receiver.recv(timeout=0.001)]:
            with self.assertRaises((ysuite.Empty, ysuite.Timeout)):
                attempt()
        sender.send(bytes(56))
        for timeout in [0, 0.001]:
            for message in [b"", bytearray()]:
                with self.assertRaises(TimeoutError):
                    sender.send(message, timeout)
        with self.assertRaises(ysuite.Full):
            sender.try_send(b"")
        receiver.recv(float("inf"))
        sender.try_send(b"")
        for timeout in [-1, float("nan")]:
            with self.assertRaises(ValueError):
                receiver.recv(timeout)

    def test_an_iteration_ends_with_the_channel(self):
        sender, receiver = ysuite.pipe(1_000)
        with receiver:
            with sender:
                sender.send_batch([b"one", b"two"])
            sender.close()
            self.assertEqual(list(receiver), [b"one", b"two"])
            for error in [ysuite.Closed, EOFError, BrokenPipeError]:
                with self.assertRaises(error):
                    receiver.recv()
        for used in [lambda: sender.send(b""), receiver.recv, receiver.fileno, receiver.arm, receiver.into_fd]:
            with self.assertRaisesRegex(ValueError, "closed or given away"):
                used()

    def test_what_was_not_received_comes_back(self):
        sender, receiver = ysuite.pipe(1_000)
        sender.send_batch([b"one", b"two", b"three"])
        with self.assertRaises(ValueError):
            sender.into_unread()
        self.assertEqual(receiver.recv(), b"one")
        self.assertFalse(sender.is_disconnected())
        receiver.close()
        self.assertTrue(sender.is_disconnected())
        with self.assertRaises(ysuite.Closed):
            sender.send(b"four")
        self.assertEqual(sender.into_unread(), [b"two", b"three"])
        with self.assertRaises(ValueError):
            sender.into_unread()

    def test_an_end_that_was_not_used_is_given_away(self):
        sender, receiver = ysuite.pipe(1_000)
        other = ysuite.Receiver(receiver.into_fd())
        self.assertFalse(os.get_inheritable(other.fileno()))
        sender.send(b"message")
        self.assertEqual(other.recv(), b"message")
        for end in [sender, other]:
            with self.assertRaisesRegex(ValueError, "was used"):
                end.into_fd()
        sender.send(b"and goes on")
        self.assertEqual(other.recv(), b"and goes on")

    def test_what_is_no_socket_is_refused(self):
        for descriptor in [-1, 100_000]:
            with self.assertRaises(OSError):
                ysuite.Receiver(descriptor)
        reader, writer = os.pipe()
        os.close(writer)
        with self.assertRaises(ysuite.Refused):
            ysuite.Receiver(reader)
        with self.assertRaises(ConnectionRefusedError) as caught:
            ysuite.connect(self.name())
        self.assertIsNotNone(caught.exception.errno)
        sender, receiver = ysuite.pipe(100)
        wrong = ysuite.Receiver(receiver.into_fd(), messages="of another kind")
        sender.try_send(b"message")
        with self.assertRaises(ysuite.Refused):
            wrong.recv(LONG)

    def test_a_waiting_end_lets_others_run_and_is_for_one_thread(self):
        sender, receiver = ysuite.pipe(64)
        received = []
        thread = threading.Thread(target=lambda: received.extend(receiver))
        thread.start()
        # Only with Python's lock released does this go on.
        while True:
            try:
                receiver.try_recv()
            except ysuite.Empty:
                continue
            except RuntimeError as error:
                self.assertIn("another thread", str(error))
                break
        with self.assertRaises(RuntimeError):
            receiver.close()
        for number in range(1_000):
            sender.send(bytes([number % 256]) * (number % 50))
        sender.close()
        thread.join(LONG)
        self.assertEqual([len(message) for message in received], [number % 50 for number in range(1_000)])

    def test_a_selector_is_told(self):
        sender, receiver = ysuite.pipe(64)
        with selectors.DefaultSelector() as selector:
            selector.register(receiver, selectors.EVENT_READ)
            for _ in range(3):
                self.assertTrue(receiver.arm())
                self.assertEqual(selector.select(0), [])
                sender.send(bytes(56))
                self.assertEqual(len(selector.select(LONG)), 1)
                self.assertFalse(receiver.arm())
                selector.register(sender, selectors.EVENT_READ)
                self.assertTrue(sender.arm(1))
                receiver.recv()
                self.assertIn(sender, [key.fileobj for key, _ in selector.select(LONG)])
                self.assertFalse(sender.arm(1))
                selector.unregister(sender)
            receiver.arm()
            sender.close()
            self.assertEqual(len(selector.select(LONG)), 1)

    def test_no_descriptor_stays(self):
        gc.collect()
        before = descriptors()
        name = self.name()
        for _ in range(50):
            sender, receiver = ysuite.pipe(1_000)
            sender.send(b"message")
            receiver.recv()
            with ysuite.Listener(name) as listener, ysuite.Sender.connect(name, 100) as sender:
                with listener.accept_receiver(LONG) as receiver:
                    sender.send(b"message")
                    receiver.recv()
            with ysuite.Funnel() as funnel:
                os.close(funnel.seat()[1])
                ysuite.Sender(funnel.seat()[1], 100).send(b"message")
            with self.assertRaises(ysuite.Refused):
                ysuite.Sender(os.open("/dev/null", os.O_RDONLY), 100)
        del sender, receiver, listener, funnel
        gc.collect()
        self.assertEqual(descriptors(), before)
