"""Questions and answers; a work queue; seats as arguments of children."""

import asyncio
import gc
import multiprocessing
import os
import threading
import time

import ysuite

from . import LONG, Test, descriptors


# These run in children of multiprocessing.
def asking(seat, count):
    with ysuite.Caller(seat, 100) as caller:
        answers = [caller.call(b"%d" % number) for number in range(count)]
    os._exit(0 if answers == [b"%d" % (2 * number) for number in range(count)] else 1)


def working(seat):
    with ysuite.WorkReceiver(seat) as worker:
        for job in worker:
            job.finish()


def receiving(seat, kind, expected):
    with kind(seat) as receiver:
        received = [bytes(message) for message in receiver]
    os._exit(0 if received[-1:] == expected[-1:] and set(received) <= set(expected) else 1)


class Calls(Test):
    def pair(self, largest=1_000, **options):
        questions = ysuite.Questions(largest=largest, **options)
        caller = ysuite.Caller(questions.seat()[1], 1_000, **options)
        self.addCleanup(questions.close)
        self.addCleanup(caller.close)
        with self.assertRaises(ysuite.Empty):
            questions.try_recv()
        return questions, caller

    def test_processes_ask_and_are_answered(self):
        program = """
caller = ysuite.Caller.connect(sys.argv[1], 1000)
for number in range(2000):
    question = number.to_bytes(4, 'little') * (number % 200)
    assert caller.call(question) == question[::-1]
calls = [caller.ask(bytes([number])) for number in range(60)]
assert [caller.recv(call) for call in reversed(calls)] == [bytes([number]) for number in reversed(range(60))]
"""
        with ysuite.Questions(self.name(), largest=1_000) as questions:
            children = []
            for _ in range(3):
                reader, writer = os.pipe()
                os.close(writer)
                children.append(self.python(program.replace("sys.argv[1]", repr(self.name())), reader))
            for _ in range(3 * 2_060):
                question = questions.recv(LONG)
                question.answer(question.message[::-1])
            for child in children:
                self.assertEqual(child.wait(LONG), 0)
            with self.assertRaises(ysuite.Timeout):
                while True:
                    questions.recv(0.05)
            ends = [questions.next_ended() for _ in range(3)]
            self.assertTrue(all(isinstance(end[1], (ysuite.Closed, ysuite.Died)) for end in ends), ends)
            self.assertEqual(questions.callers, 0)

    def test_every_way_to_ask(self):
        questions, caller = self.pair(largest=10, calls=2)
        first = caller.ask(bytearray(b"first"))
        second = caller.try_ask(memoryview(b"second"))
        with self.assertRaises(ysuite.Full):
            caller.try_ask(b"third")
        with self.assertRaises(ysuite.Timeout):
            caller.ask(b"third", 0.01)
        with self.assertRaises(ysuite.Timeout):
            caller.call(b"third", 0.01)
        with self.assertRaises(ysuite.Timeout):
            caller.recv(first, 0.01)
        with self.assertRaises(ysuite.Empty):
            caller.try_recv(first)
        for use in [caller.ask, caller.try_ask, caller.call]:
            with self.assertRaises(ValueError):
                use(bytes(1_001))
        self.assertEqual(caller.largest, 1_000)
        one, two = questions.recv(LONG), questions.try_recv()
        self.assertEqual((one.message, bytes(two), one.largest), (b"first", b"second", 16))
        with self.assertRaises(ValueError):
            two.answer(bytes(17))
        two.answer(bytearray(b"2"))
        self.assertEqual(caller.recv(second, LONG), b"2")
        for again in [lambda: two.answer(b"2"), lambda: caller.recv(second)]:
            with self.assertRaises(ValueError):
                again()
        one.answer(b"")
        other = self.pair()[1]
        with self.assertRaisesRegex(ValueError, "another caller"):
            other.recv(first)
        self.assertEqual(caller.try_recv(first), b"")
        self.assertFalse(caller.is_disconnected())

    def test_a_question_that_is_dropped_says_so(self):
        questions, caller = self.pair()
        drops = [lambda question: question.release(), lambda question: question.__exit__(None, None, None), lambda question: None]
        for drop in drops:
            call = caller.ask(b"?")
            drop(questions.recv(LONG))
            gc.collect()
            with self.assertRaises(ysuite.Unanswered):
                caller.recv(call, LONG)
        with self.assertRaises(ZeroDivisionError), questions_of(caller, questions) as question:
            question.answer(b"%d" % (1 // len(question.message)))
        # Who gives up is in nobody's way.
        call = caller.ask(b"given up")
        del call
        self.addCleanup(threading.Thread.join, self.echoing(questions, 2))
        self.assertEqual(caller.call(b"next", LONG), b"next")

    def echoing(self, questions, count):
        def echo():
            for question in (questions.recv(LONG) for _ in range(count)):
                question.answer(question.message)

        thread = threading.Thread(target=echo)
        thread.start()
        return thread

    def test_calls_that_are_pending_end_with_their_receiver(self):
        program = """
questions = ysuite.Questions(sys.argv[1], largest=10)
questions.recv().answer(b'answer')
kept = questions.recv()
os.kill(os.getpid(), signal.SIGKILL)
"""
        reader, writer = os.pipe()
        os.close(writer)
        child = self.python(program.replace("sys.argv[1]", repr(self.name())), reader)
        caller = None
        while caller is None:
            try:
                caller = ysuite.Caller.connect(self.name(), 10)
            except ysuite.Refused:
                time.sleep(0.01)
        self.addCleanup(caller.close)
        calls = [caller.ask(b"1"), caller.ask(b"2")]
        self.assert_killed(child)
        self.assertEqual(caller.recv(calls[0]), b"answer")
        for use in [lambda: caller.recv(calls[1]), lambda: caller.call(b"3"), lambda: caller.try_ask(b"4")]:
            with self.assertRaises(ysuite.Died):
                use()

    def test_an_event_loop_asks_and_answers(self):
        async def run():
            questions, caller = self.pair(calls=4)

            async def answer():
                async for question in questions:
                    await asyncio.sleep(0)
                    question.answer(question.message * 2)

            task = asyncio.create_task(answer())
            for number in range(200):
                self.assertEqual(await asyncio.wait_for(caller.call_async(b"%d" % number), LONG), b"%d" % number * 2)
            calls = [await caller.ask_async(bytes([number])) for number in range(4)]
            for number in reversed(range(4)):
                self.assertEqual(await caller.recv_async(calls[number]), bytes([number]) * 2)
            caller.close()
            await asyncio.wait_for(task, LONG)

        asyncio.run(run())

    def test_a_forked_child_has_no_questions(self):
        questions, caller = self.pair()
        call = caller.ask(b"?")
        question = questions.recv(LONG)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with self.assertRaisesRegex(RuntimeError, "forked child"):
                    question.answer(b"no")
                del question
                gc.collect()
                code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        question.answer(b"yes")
        self.assertEqual(caller.recv(call, LONG), b"yes")


def questions_of(caller, questions):
    """A question in hand."""
    call = caller.ask(b"")
    question = questions.recv(LONG)
    del call
    return question


class Work(Test):
    def queue(self, credit=4, largest=100):
        sender = ysuite.WorkSender(credit=credit, largest=largest)
        worker = ysuite.WorkReceiver(sender.seat())
        self.addCleanup(sender.close)
        self.addCleanup(worker.close)
        sender.serve()
        return sender, worker

    def test_processes_share_the_jobs(self):
        program = """
done = 0
with ysuite.WorkReceiver(int(sys.argv[1])) as worker:
    for job in worker:
        number = int.from_bytes(job.message[:4], 'little')
        assert job.message == number.to_bytes(4, 'little') * (number % 20 + 1)
        done += 1
        if done % 7:
            job.finish()
        else:
            job.release()
"""
        with ysuite.WorkSender(credit=8, largest=80) as sender:
            children = [self.python(program, sender.seat()) for _ in range(3)]
            jobs = [number.to_bytes(4, "little") * (number % 20 + 1) for number in range(3_000)]
            for job in jobs[:500]:
                sender.send(job, LONG)
            self.assertEqual(sender.send_batch(jobs[500:], LONG), 2_500)
            sender.settle(LONG)
            self.assertEqual((sender.finished, sender.unfinished, sender.workers), (3_000, 0, 3))
        for child in children:
            self.assertEqual(child.wait(LONG), 0)

    def test_a_worker_that_is_killed_gives_its_jobs_to_another(self):
        program = """
worker = ysuite.WorkReceiver(int(sys.argv[1]))
worker.recv().finish()
job = worker.recv()
os.kill(os.getpid(), signal.SIGKILL)
"""
        with ysuite.WorkSender(credit=4, largest=10) as sender:
            child = self.python(program, sender.seat())
            for number in range(4):
                sender.send(bytes([number]), LONG)
            self.assert_killed(child)
            worker = ysuite.WorkReceiver(sender.seat())
            with self.assertRaises(ysuite.Timeout):
                sender.settle(0.2)
            for number in [1, 2, 3]:
                job = worker.recv(LONG)
                self.assertEqual(job.message, bytes([number]))
                job.finish()
            sender.settle(LONG)
            self.assertEqual((sender.finished, sender.workers), (4, 1))
            worker.close()

    def test_a_job_is_in_one_hand(self):
        sender, worker = self.queue()
        for number in range(3):
            sender.try_send(bytes([number]))
        job = worker.recv()
        self.assertEqual(bytes(job), bytes([0]))
        for use in [worker.recv, worker.try_recv, lambda: next(worker)]:
            with self.assertRaisesRegex(RuntimeError, "in hand"):
                use()
        job.finish()
        with self.assertRaises(ValueError):
            job.finish()
        job.release()
        with self.assertRaises(ZeroDivisionError), worker.recv() as job:
            job.finish(1 // job.message[0] - 1 // 0)
        with self.assertRaises(ysuite.Empty):
            sender.try_settle()
        # What was released is given out again, in front of what is new.
        with worker.try_recv() as job:
            self.assertEqual(job.message, bytes([2]))
            job.finish()
        sender.serve()
        del job
        job = worker.recv(LONG)
        self.assertEqual(job.message, bytes([1]))
        del job
        gc.collect()
        sender.serve()
        worker.recv(LONG).finish()
        sender.settle(LONG)
        self.assertEqual((sender.finished, sender.unfinished), (3, 0))
        with self.assertRaises(ysuite.Empty):
            worker.try_recv()
        with self.assertRaises(ysuite.Timeout):
            worker.recv(0.01)

    def test_a_full_queue_says_so(self):
        sender, worker = self.queue(credit=1, largest=10)
        self.assertEqual(sender.largest, 16)
        with self.assertRaises(ValueError):
            sender.send(bytes(17))
        sender.send(b"one", LONG)
        with self.assertRaises(ysuite.Full):
            sender.try_send(b"two")
        with self.assertRaises(ysuite.Timeout):
            sender.send(b"two", 0.01)
        worker.close()
        sender.serve()
        for use in [lambda: sender.send(b"two"), sender.settle, sender.try_settle]:
            with self.assertRaises(ysuite.Closed):
                use()
        with self.assertRaises(ysuite.Refused):
            ysuite.WorkSender(credit=65, largest=10)

    def test_an_event_loop_sends_and_works(self):
        async def run():
            with ysuite.WorkSender(credit=2, largest=10) as sender:
                workers = [ysuite.WorkReceiver(sender.seat()) for _ in range(3)]

                async def work(worker):
                    done = []
                    async for job in worker:
                        await asyncio.sleep(0)
                        done.append(job.message)
                        job.finish()
                    worker.close()
                    return done

                tasks = [asyncio.create_task(work(worker)) for worker in workers]
                for number in range(300):
                    await asyncio.wait_for(sender.send_async(b"%d" % number), LONG)
                await asyncio.wait_for(sender.settle_async(), LONG)
                self.assertEqual(sender.finished, 300)
                sender.close()
                done = [job for task in tasks for job in await asyncio.wait_for(task, LONG)]
                self.assertEqual(sorted(done, key=int), [b"%d" % number for number in range(300)])

        asyncio.run(run())

    def test_a_closed_worker_has_nothing_in_hand(self):
        sender, worker = self.queue()
        sender.send(b"job", LONG)
        job = worker.recv(LONG)
        worker.close()
        for use in [job.finish, job.release]:
            with self.assertRaisesRegex(ValueError, "closed"):
                use()
        other = ysuite.WorkReceiver(sender.seat())
        sender.serve()
        other.recv(LONG).finish()
        sender.settle(LONG)
        other.close()


class Seats(Test):
    def test_children_of_multiprocessing_get_seats_as_arguments(self):
        for method in ["spawn", "forkserver", "fork"]:
            with self.subTest(method):
                context = multiprocessing.get_context(method)
                self.every_kind(context)

    def start(self, context, target, seat, *arguments):
        child = context.Process(target=target, args=(seat, *arguments))
        child.start()
        if context.get_start_method() == "fork":
            os.close(seat)
        return child

    def every_kind(self, context):
        messages = [b"%d" % number for number in range(50)]
        with (
            ysuite.Broadcast(capacity=4_000) as broadcast,
            ysuite.Watch(b"0", largest=10) as watch,
            ysuite.LoanSender(slots=60, largest=10) as loans,
            ysuite.WorkSender(credit=4, largest=10) as work,
            ysuite.Questions(largest=10) as questions,
        ):
            joined = [(ysuite.BroadcastReceiver, broadcast), (ysuite.WatchReceiver, watch), (ysuite.LoanReceiver, loans)]
            children = [self.start(context, receiving, end.seat(), kind, messages) for kind, end in joined]
            children.append(self.start(context, working, work.seat()))
            children.append(self.start(context, asking, questions.seat()[1], 20))
            for _ in range(20):
                question = questions.recv(LONG)
                question.answer(b"%d" % (2 * int(question.message)))
            for _, end in joined:
                while end.receivers < 1:
                    end.serve(0.01)
            for message in messages:
                broadcast.send(message, LONG)
                watch.send(message)
                work.send(message, LONG)
                with loans.loan(len(message)) as loan:
                    memoryview(loan)[:] = message
                    loan.send()
            work.settle(LONG)
        for child in children:
            child.join(LONG)
            self.assertEqual(child.exitcode, 0)

    def test_a_seat_that_was_given_is_closed(self):
        before = descriptors()
        with ysuite.WorkSender(credit=4, largest=10) as work:
            seat = work.seat()
            with self.assertRaisesRegex(RuntimeError, "spawning|inheritance"):
                multiprocessing.reduction.ForkingPickler.dumps(seat)
            child = multiprocessing.get_context("spawn").Process(target=working, args=(seat,))
            child.start()
            del seat
            work.send(b"job", LONG)
            work.settle(LONG)
        child.join(LONG)
        self.assertEqual(child.exitcode, 0)
        child.close()
        self.assertLessEqual(descriptors(), before + 1)
