"""Loans: memory that a sender fills in place, and that receivers read in place."""

import array
import asyncio
import copy
import gc
import os
import pickle
import selectors
import subprocess
import threading
import time
import unittest

import ysuite

from . import LONG, Test, descriptors

try:
    import numpy
except ImportError:
    numpy = None


def channel(slots=4, largest=1_000, receivers=1, **options):
    sender = ysuite.LoanSender(slots=slots, largest=largest)
    ends = [ysuite.LoanReceiver(sender.seat(), **options) for _ in range(receivers)]
    sender.serve()
    return sender, *ends


def lend(sender, message):
    loan = sender.loan(len(message), LONG)
    memoryview(loan)[:] = message
    loan.send()


class Slots(Test):
    def test_what_is_filled_in_place_arrives_at_all(self):
        sender, *receivers = channel(receivers=2)
        self.assertEqual((sender.receivers, sender.capacity, sender.largest, sender.free), (2, 4, 1_000, 4))
        for length in [*range(70), 999, 1_000]:
            message = bytes((at * 7 + length) % 256 for at in range(length))
            loan = sender.loan(length)
            with memoryview(loan) as view:
                self.assertEqual((len(loan), view.nbytes, view.readonly, view.format), (length, length, False, "B"))
                view[:] = message
            loan.send()
            for receiver in receivers:
                with receiver.recv(LONG) as borrowed:
                    self.assertEqual((len(borrowed), bytes(borrowed)), (length, message))
                    self.assertEqual(sender.held, 1)
            self.assertEqual((sender.held, sender.free), (0, 4))

    def test_copies_go_into_buffers(self):
        sender, receiver = channel(largest=5 << 20)
        for length in [0, 10, 4 << 20, 5 << 20]:
            message = os.urandom(1_000) * (length // 1_000) + bytes(length % 1_000)
            lend(sender, message)
            with receiver.recv(LONG) as borrowed:
                for at in [0, 1, 1_001, length, length + 1]:
                    for room in [0, 7, length + 3]:
                        buffer = bytearray(b"\xee" * room)
                        copied = borrowed.copy_to(buffer, at)
                        self.assertEqual(copied, min(room, max(length - at, 0)))
                        self.assertTrue(buffer == message[at : at + copied] + b"\xee" * (room - copied))
                words = array.array("Q", [0, 0])
                self.assertEqual(borrowed.copy_to(words), min(16, length))
                self.assertEqual(words.tobytes(), message[:16].ljust(16, b"\0"))
                self.assertTrue(bytes(borrowed) == message)
                with self.assertRaises(BufferError):
                    borrowed.copy_to(b"constant")
                with self.assertRaises(OverflowError):
                    borrowed.copy_to(words, -1)

    def test_a_slot_has_a_view_for_who_asks_only(self):
        sender = ysuite.LoanSender(slots=2, largest=8)
        receiver = ysuite.LoanReceiver(sender.seat())
        viewer = ysuite.LoanReceiver(sender.seat(), views=True)
        sender.serve()
        lend(sender, b"message")
        with receiver.recv(LONG) as borrowed:
            for use in [memoryview, bytearray]:
                with self.assertRaisesRegex(BufferError, "copy_to.*views=True"):
                    use(borrowed)
            self.assertEqual(bytes(borrowed), b"message")
        borrowed = viewer.recv(LONG)
        view = memoryview(borrowed)
        self.assertEqual((view.readonly, bytes(view), view[2]), (True, b"message", ord("s")))
        with self.assertRaises(TypeError):
            view[0] = 0
        # It would be taken for one that never changes.
        with self.assertRaisesRegex(TypeError, "no hash"):
            hash(view)
        with self.assertRaisesRegex(BufferError, "still there"):
            borrowed.release()
        self.assertEqual(sender.held, 1)
        view.release()
        borrowed.release()
        self.assertEqual(sender.held, 0)

    def test_a_dry_pool(self):
        sender, receiver = channel(slots=2, largest=8)
        lend(sender, b"one")
        lend(sender, b"two")
        held = [receiver.recv(), receiver.recv()]
        self.assertEqual((sender.free, sender.held), (0, 2))
        with self.assertRaises(ysuite.Full):
            sender.try_loan(1)
        for timeout in [0, 0.01]:
            with self.assertRaises(TimeoutError):
                sender.loan(1, timeout)
        # One that is dropped is given back as well.
        del held[0]
        lend(sender, b"three")
        self.assertEqual(bytes(receiver.recv()), b"three")
        # Only with Python's lock released does this go on.
        loans = []
        thread = threading.Thread(target=lambda: loans.append([lend(sender, b"%d" % number) for number in range(500)]))
        thread.start()
        for number in range(500):
            with receiver.recv(LONG) as borrowed:
                self.assertEqual(bytes(borrowed), b"%d" % number)
        thread.join(LONG)
        self.assertEqual(len(loans), 1)

    def test_a_waiting_loan_is_woken(self):
        sender, receiver = channel(slots=1, largest=8)
        lend(sender, b"message")
        held = receiver.recv()
        timer = threading.Timer(0.1, held.release)
        timer.start()
        with sender.loan(8, LONG):
            timer.join()

    def test_what_is_not_sent_is_free_again(self):
        sender, receiver = channel(slots=1)
        loan = sender.loan(1)
        loan.release()
        loan.release()
        with sender.loan(2):
            pass
        with self.assertRaises(ZeroDivisionError):
            with sender.loan(3):
                raise ZeroDivisionError
        with sender.loan(4) as loan:
            memoryview(loan)[:] = b"four"
            loan.send()
        self.assertEqual(bytes(receiver.recv()), b"four")
        loan = sender.loan(5)
        del loan
        lend(sender, b"six")
        self.assertEqual(bytes(receiver.recv()), b"six")
        with self.assertRaises(ysuite.Empty):
            receiver.try_recv()

    def test_iterations_and_ends(self):
        name = self.name()
        with ysuite.LoanSender(name, slots=8, largest=8) as sender, ysuite.LoanReceiver.connect(name) as receiver:
            with self.assertRaises(ysuite.Timeout):
                receiver.recv(0.001)
            sender.serve(0.001)
            self.assertEqual(sender.receivers, 1)
            for number in range(5):
                lend(sender, b"%d" % number)
            sender.close()
            self.assertEqual([bytes(borrowed) for borrowed in receiver], [b"%d" % number for number in range(5)])
            with self.assertRaises(ysuite.Closed):
                receiver.recv()
        for use in [lambda: sender.loan(1), lambda: sender.free, sender.seat, sender.fileno, receiver.recv, receiver.arm]:
            with self.assertRaisesRegex(ValueError, "closed or given away"):
                use()
        with self.assertRaises(ysuite.Closed):
            ysuite.LoanSender(slots=1, largest=1).loan(1)
        for slots, largest in [(0, 8), (8, 0), (100_000, 8)]:
            with self.assertRaises(ysuite.Refused):
                ysuite.LoanSender(slots=slots, largest=largest)

    def test_what_is_borrowed_outlives_both_ends(self):
        sender, receiver, other = channel(slots=1, receivers=2)
        lend(sender, b"message")
        held = receiver.recv()
        other.recv()
        receiver.close()
        self.assertEqual(sender.held, 1)
        with self.assertRaises(ysuite.Full):
            sender.try_loan(1)
        self.assertEqual(bytes(held), b"message")
        held.release()
        lend(sender, b"another")
        held = other.recv()
        sender.close()
        self.assertEqual(bytes(held), b"another")

    def test_a_selector_is_told(self):
        sender, receiver = channel(slots=1, largest=8)
        with selectors.DefaultSelector() as selector:
            selector.register(receiver, selectors.EVENT_READ)
            self.assertTrue(receiver.arm())
            self.assertEqual(selector.select(0), [])
            lend(sender, b"message")
            self.assertEqual(len(selector.select(LONG)), 1)
            held = receiver.recv()
            selector.unregister(receiver)
            selector.register(sender, selectors.EVENT_READ)
            while not sender.arm():
                with self.assertRaises(ysuite.Full):
                    sender.try_loan(8)
            self.assertEqual(selector.select(0), [])
            held.release()
            self.assertEqual(len(selector.select(LONG)), 1)
            self.assertFalse(sender.arm())

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_arrays_of_numpy(self):
        sender, receiver = channel(slots=2, largest=480 * 640 * 3, views=True)
        frame = numpy.arange(480 * 640 * 3, dtype=numpy.uint32).astype(numpy.uint8).reshape(480, 640, 3)
        for is_large in [False, True]:
            loan = (sender.large if is_large else sender.loan)(frame.nbytes)
            pixels = numpy.frombuffer(loan, numpy.uint8).reshape(frame.shape)
            pixels[:] = frame
            with self.assertRaises(BufferError):
                loan.send()
            del pixels
            loan.send()
            with receiver.recv(LONG) as borrowed:
                pixels = numpy.frombuffer(borrowed, numpy.uint8).reshape(frame.shape)
                self.assertTrue((pixels == frame).all() and not pixels.flags.writeable and not pixels.flags.owndata)
                del pixels


class Large(Test):
    def test_memory_of_its_own_is_seen_in_place(self):
        sender, *receivers = channel(largest=8, receivers=2)
        message = os.urandom(1_000) * 3_000
        loan = sender.large(len(message))
        with memoryview(loan) as view:
            self.assertEqual((view.readonly, bytes(view[:100])), (False, bytes(100)))
            view[:] = message
        loan.send()
        self.assertEqual(sender.free, 4)
        for receiver in receivers:
            borrowed = receiver.recv(LONG)
            view = memoryview(borrowed)
            self.assertTrue(view == message and view.readonly and bytes(borrowed) == message)
            buffer = bytearray(len(message))
            self.assertEqual(borrowed.copy_to(buffer, 5), len(message) - 5)
            self.assertTrue(buffer[:-5] == message[5:])
            receiver.close()
            sender.close()
            del borrowed
            # The view has kept it.
            self.assertTrue(view == message)

    def test_sixteen_may_be_on_their_way(self):
        sender, receiver = channel()
        for number in range(16):
            loan = sender.try_large(1)
            memoryview(loan)[0] = number
            loan.send()
        with self.assertRaises(ysuite.Full):
            sender.try_large(1)
        with self.assertRaises(ysuite.Timeout):
            sender.large(1, 0.01)
        borrowed = [receiver.recv(LONG) for _ in range(16)]
        self.assertEqual([memoryview(each)[0] for each in borrowed], list(range(16)))
        # Those that are held are not on their way.
        sender.large(1, LONG).release()

    def test_one_that_is_too_large_is_refused(self):
        sender, receiver = channel(largest=8, largest_region=1 << 20)
        loan = sender.large(2 << 20)
        loan.send()
        with self.assertRaises(ysuite.Refused):
            receiver.recv(LONG)


class Misuse(Test):
    def test_a_loan_is_sent_once(self):
        sender, receiver = channel()
        loan = sender.loan(4)
        loan.send()
        for use in [loan.send, lambda: memoryview(loan)]:
            with self.assertRaisesRegex(ValueError, "sent or released"):
                use()
        loan.release()
        with sender.loan(4) as released:
            pass
        for over in [loan, released]:
            # Another loan is none of theirs.
            other = sender.loan(4)
            with self.assertRaisesRegex(ValueError, "sent or released"):
                over.send()
            over.release()
            self.assertEqual(len(memoryview(other)), 4)
            del over
            other.release()
        self.assertEqual((len(receiver.recv()), sender.free), (4, 4))

    def test_a_sender_has_one_loan(self):
        sender, receiver = channel()
        for lend in [sender.loan, sender.large]:
            loan = lend(4)
            for use in [lambda: sender.loan(4), lambda: sender.try_loan(4), lambda: sender.large(4), lambda: sender.try_large(4),
                        lambda: sender.free, sender.serve, sender.seat, sender.arm]:  # fmt: skip
                with self.assertRaisesRegex(RuntimeError, "has a loan"):
                    use()
            loan.send()
            self.assertEqual(len(receiver.recv(LONG)), 4)

    def test_nothing_goes_while_there_is_a_buffer_of_it(self):
        for lend in ["loan", "large"]:
            sender, receiver = channel()
            loan = getattr(sender, lend)(4)
            view, other = memoryview(loan), memoryview(loan)[1:3]
            for _ in range(2):
                for use in [loan.send, loan.release, sender.close]:
                    with self.assertRaisesRegex(BufferError, "still there"):
                        use()
                view[0] = other[0] = 7
                view.release()
                view = memoryview(loan)
            view.release()
            other.release()
            loan.send()
            self.assertEqual(bytes(receiver.recv(LONG)), b"\7\7\0\0")
            # A view keeps all that it needs.
            view = memoryview(getattr(sender, lend)(4))
            del sender, loan, use
            gc.collect()
            view[:] = b"here"
            self.assertEqual(bytes(view), b"here")
            view.release()
            with self.assertRaises(ysuite.Closed):
                receiver.recv(LONG)

    def test_an_end_that_is_closed_gives_its_loan_back(self):
        sender, receiver = channel()
        with sender:
            loan = sender.loan(4)
        for use in [loan.send, lambda: memoryview(loan)]:
            with self.assertRaisesRegex(ValueError, "closed"):
                use()
        loan.release()
        with self.assertRaises(ysuite.Closed):
            receiver.recv(LONG)

    def test_use_after_release(self):
        sender, receiver = channel(views=True)
        lend(sender, b"message")
        borrowed = receiver.recv()
        borrowed.release()
        borrowed.release()
        for use in [bytes, memoryview, lambda each: each.copy_to(bytearray(8)), bytearray]:
            with self.assertRaisesRegex(ValueError, "released|closed"):
                use(borrowed)

    def test_lengths(self):
        sender, receiver = channel()
        for lend in [sender.loan, sender.try_loan]:
            with self.assertRaisesRegex(ValueError, "1001 bytes.* 1000"):
                lend(1_001)
            with self.assertRaises(OverflowError):
                lend(-1)
        for lend in [sender.large, sender.try_large]:
            with self.assertRaises(OverflowError):
                lend(1 << 64)
        sender.loan(1_000).send()
        self.assertEqual(len(receiver.recv()), 1_000)

    def test_nothing_is_pickled(self):
        sender, receiver = channel()
        loan = sender.loan(4)
        for refused in [pickle.dumps, copy.copy, copy.deepcopy]:
            with self.assertRaisesRegex(TypeError, "loan cannot be pickled"):
                refused(loan)
        loan.send()
        borrowed = receiver.recv()
        for refused in [pickle.dumps, copy.copy]:
            with self.assertRaisesRegex(TypeError, r"borrowed cannot be pickled: bytes\(\)"):
                refused(borrowed)
        for end in [sender, receiver]:
            with self.assertRaisesRegex(TypeError, "cannot pickle 'Loan"):
                pickle.dumps(end)

    def test_no_descriptor_stays(self):
        gc.collect()
        before = descriptors()
        for _ in range(50):
            sender, receiver, other = channel(receivers=2)
            lend(sender, b"message")
            sender.large(4).send()
            held = [receiver.recv(), receiver.recv()]
            # Which is a cycle.
            sender.kept = unsent = sender.large(10)
        del sender, receiver, other, held, unsent
        gc.collect()
        self.assertEqual(descriptors(), before)


class Processes(Test):
    def reader(self, sender, program, **options):
        child = self.python("receiver = ysuite.LoanReceiver(int(sys.argv[1]))\n" + program, sender.seat(), **options)
        readers = sender.receivers + 1
        while sender.receivers < readers:
            sender.serve(0.01)
        return child

    def test_two_readers(self):
        program = """
for number, borrowed in enumerate(receiver):
    with borrowed:
        assert bytes(borrowed) == number.to_bytes(4, 'little') * (number % 200), number
        if len(borrowed) % 3 == 0:
            kept = borrowed
sys.exit(number != 4999)
"""
        with ysuite.LoanSender(slots=3, largest=1_000) as sender:
            children = [self.reader(sender, program) for _ in range(2)]
            for number in range(5_000):
                lend(sender, number.to_bytes(4, "little") * (number % 200))
        for child in children:
            self.assertEqual(child.wait(LONG), 0)

    def test_large_ones_and_slots_in_order(self):
        program = """
for number, borrowed in enumerate(receiver):
    message = bytes(borrowed)
    assert message == number.to_bytes(4, 'little') * 50_000 if number % 2 else message == number.to_bytes(4, 'little'), number
    if number % 2:
        assert memoryview(borrowed)[-4:] == message[:4]
sys.exit(number != 199)
"""
        with ysuite.LoanSender(slots=3, largest=4) as sender:
            children = [self.reader(sender, program) for _ in range(2)]
            for number in range(200):
                message = number.to_bytes(4, "little") * (50_000 if number % 2 else 1)
                loan = sender.large(len(message), LONG) if number % 2 else sender.loan(4, LONG)
                memoryview(loan)[:] = message
                loan.send()
        for child in children:
            self.assertEqual(child.wait(LONG), 0)

    def test_a_reader_that_is_killed_gives_back_what_it_holds(self):
        with ysuite.LoanSender(self.name(), slots=1, largest=8) as sender:
            program = "held = receiver.recv()\nprint('held', flush=True)\nsys.stdin.read()"
            child = self.reader(sender, program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.addCleanup(child.stdin.close)
            lend(sender, b"message")
            self.assertEqual(child.stdout.readline(), b"held\n")
            self.assertEqual((sender.held, sender.free), (1, 0))
            with self.assertRaises(ysuite.Full):
                sender.try_loan(1)
            child.kill()
            self.assert_killed(child)
            sender.loan(8, LONG).send()
            self.assertEqual((sender.held, sender.free, sender.receivers), (0, 1, 0))

    def test_a_sender_that_is_killed(self):
        name = self.name()
        program = f"""
sender = ysuite.LoanSender({name!r}, slots=2, largest=100)
while sender.receivers < 1:
    sender.serve(0.01)
loan = sender.loan(10)
memoryview(loan)[:] = b'last words'
loan.send()
loan = sender.large(10)
memoryview(loan)[:] = b'and sealed'
loan.send()
loan = sender.loan(10)
os.kill(os.getpid(), signal.SIGKILL)
"""
        child = self.python(program)
        receiver = None
        while receiver is None:
            try:
                receiver = ysuite.LoanReceiver.connect(name)
            except ysuite.Refused:
                time.sleep(0.01)
        held = receiver.recv(LONG)
        self.assert_killed(child)
        sealed = receiver.recv(LONG)
        for error in [ysuite.Died, ConnectionResetError]:
            with self.assertRaises(error):
                receiver.recv(LONG)
        receiver.close()
        self.assertEqual((bytes(held), bytes(memoryview(sealed))), (b"last words", b"and sealed"))

    def test_a_forked_child_has_no_loans(self):
        sender, receiver = channel(views=True)
        lend(sender, b"message")
        held, loan = receiver.recv(), sender.loan(4)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for use in [lambda: memoryview(loan), loan.send, lambda: bytes(held), lambda: memoryview(held)]:
                    with self.assertRaisesRegex(RuntimeError, "forked child"):
                        use()
                loan.release()
                held.release()
                sender.close()
                receiver.close()
                code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        memoryview(loan)[:] = b"four"
        loan.send()
        self.assertEqual((sender.held, bytes(held), bytes(receiver.recv())), (1, b"message", b"four"))


class Asyncio(Test):
    def test_loans_in_an_event_loop(self):
        async def program():
            sender, *receivers = channel(slots=2, largest=8, receivers=2)

            async def send():
                with sender:
                    for number in range(300):
                        loan = await (sender.large_async(4) if number % 3 == 0 else sender.loan_async(4))
                        memoryview(loan)[:] = number.to_bytes(4, "little")
                        loan.send()

            async def receive(receiver):
                numbers = []
                async for borrowed in receiver:
                    with borrowed:
                        numbers.append(int.from_bytes(bytes(borrowed), "little"))
                return numbers

            async with asyncio.timeout(LONG), asyncio.TaskGroup() as group:
                group.create_task(send())
                tasks = [group.create_task(receive(receiver)) for receiver in receivers]
            for task in tasks:
                self.assertEqual(task.result(), list(range(300)))

        asyncio.run(program())

    def test_who_is_cancelled_has_nothing(self):
        async def program():
            sender, receiver = channel(slots=1, largest=8)
            waiting = asyncio.ensure_future(receiver.recv_async())
            await asyncio.sleep(0)
            lend(sender, b"message")
            waiting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await waiting
            held = await receiver.recv_async()
            self.assertEqual(bytes(held), b"message")
            waiting = asyncio.ensure_future(sender.loan_async(8))
            await asyncio.sleep(0)
            held.release()
            waiting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await waiting
            self.assertEqual(sender.free, 1)

        asyncio.run(program())
