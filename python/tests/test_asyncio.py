"""Ends in an event loop."""

import asyncio

import ysuite

from . import LONG, Test


class Asyncio(Test):
    def run_async(self, program):
        async def limited():
            async with asyncio.timeout(LONG):
                return await program

        return asyncio.run(limited())

    def test_both_ends_in_one_loop(self):
        async def program():
            sender, receiver = ysuite.pipe(200)

            async def send():
                with sender:
                    for number in range(2_000):
                        await sender.send_async(bytes([number % 256]) * (number % 150))

            async with asyncio.TaskGroup() as group:
                group.create_task(send())
                received = [len(message) async for message in receiver]
            self.assertEqual(received, [number % 150 for number in range(2_000)])

        self.run_async(program())

    def test_another_process(self):
        async def program():
            one, other = ysuite.pipe(1_000)
            there, back = ysuite.pipe(1_000)
            child = self.python(
                "r, s = ysuite.Receiver(int(sys.argv[1])), ysuite.Sender(int(sys.argv[2]), 1000)\n"
                "s.send_batch(r)\ns.send(b'last')\nos.kill(os.getpid(), signal.SIGKILL)",
                other.into_fd(),
                there.into_fd(),
            )
            for number in range(500):
                await one.send_async(b"%d" % number)
                self.assertEqual(await back.recv_async(), b"%d" % number)
            one.close()
            with self.assertRaises(ysuite.Died):
                async for message in back:
                    self.assertEqual(message, b"last")
            self.assert_killed(child)

        self.run_async(program())

    def test_a_funnel(self):
        async def program():
            with ysuite.Funnel() as funnel:
                senders = [ysuite.Sender(funnel.seat()[1], 100) for _ in range(3)]

                async def send(sender):
                    with sender:
                        for _ in range(100):
                            await sender.send_async(b"message")

                async with asyncio.TaskGroup() as group:
                    for sender in senders:
                        group.create_task(send(sender))
                    self.assertEqual(len([message async for message in funnel]), 300)

        self.run_async(program())

    def test_who_is_cancelled_has_received_nothing(self):
        async def program():
            sender, receiver = ysuite.pipe(100)
            waiting = asyncio.ensure_future(receiver.recv_async())
            await asyncio.sleep(0)
            with self.assertRaisesRegex(RuntimeError, "another task"):
                await receiver.recv_async()
            with self.assertRaisesRegex(RuntimeError, "a task is waiting"):
                receiver.close()
            sender.send(b"message")
            waiting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await waiting
            self.assertEqual(await receiver.recv_async(), b"message")
            receiver.close()

        self.run_async(program())
