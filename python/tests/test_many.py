"""One sender, many receivers."""

import asyncio
import pickle
import struct
import threading
import time

import ysuite

from . import LONG, Test


class Broadcasts(Test):
    def test_all_receive_all_in_order(self):
        program = """
with ysuite.BroadcastReceiver(int(sys.argv[1])) as receiver:
    messages = [int.from_bytes(message, 'little') for message in receiver]
sys.exit(messages != list(range(5000)))
"""
        with ysuite.Broadcast(capacity=4000) as sender:
            children = [self.python(program, sender.seat()) for _ in range(3)]
            while sender.receivers < 3:
                sender.serve(0.01)
            sender.send_batch(number.to_bytes(number % 90 + 2, "little") for number in range(2500))
            for number in range(2500, 5000):
                sender.send(number.to_bytes(number % 90 + 2, "little"))
        for child in children:
            self.assertEqual(child.wait(LONG), 0)

    def test_the_slowest_holds_up(self):
        name = self.name()
        with ysuite.Broadcast(name, capacity=64) as sender, ysuite.BroadcastReceiver.connect(name) as receiver:
            with self.assertRaises(ValueError):
                sender.send(bytes(57))
            sender.serve()
            self.assertEqual((sender.receivers, sender.largest), (1, 56))
            sender.send(bytearray(b"one"))
            sender.send(memoryview(b"a longer one"))
            sender.try_send(b"third")
            with self.assertRaises(ysuite.Full):
                sender.try_send(b"fourth")
            with self.assertRaises(ysuite.Timeout):
                sender.send(b"fourth", 0.01)
            self.assertEqual(receiver.recv_batch(2), [b"one", b"a longer one"])
            self.assertEqual((receiver.recv(LONG), sender.send_batch([b"fourth"])), (b"third", 1))
            self.assertEqual(receiver.try_recv(), b"fourth")
            with self.assertRaises(ysuite.Empty):
                receiver.try_recv()
            with self.assertRaises(ysuite.Timeout):
                receiver.recv(0.01)
            thread = threading.Timer(0.05, sender.close)
            thread.start()
            self.assertEqual(list(receiver), [])
            thread.join()
            with self.assertRaises(ysuite.Closed):
                receiver.recv()

    def test_a_lossy_one_tells_what_was_lost(self):
        with ysuite.Broadcast(capacity=400, lossy=True) as sender:
            receiver = ysuite.BroadcastReceiver(sender.seat())
            sender.serve()
            for number in range(100):
                sender.send(struct.pack("q", number))
            with self.assertRaises(ysuite.Lagged) as lagged:
                receiver.recv()
            self.assertEqual((lagged.exception.lost, pickle.loads(pickle.dumps(lagged.exception)).lost), (99, 99))
            self.assertEqual(receiver.recv(), struct.pack("q", 99))
            receiver.close()

    def test_an_event_loop_receives_and_sends(self):
        async def run():
            with ysuite.Broadcast(capacity=100) as sender:
                receivers = [ysuite.BroadcastReceiver(sender.seat(), pickles=True) for _ in range(3)]
                sender.serve()

                async def receive(receiver):
                    return [pickle.loads(message) async for message in receiver]

                tasks = [asyncio.create_task(receive(receiver)) for receiver in receivers]
                for number in range(200):
                    await sender.send_async(pickle.dumps(number))
                sender.close()
                for task in tasks:
                    self.assertEqual(await asyncio.wait_for(task, LONG), list(range(200)))
                for receiver in receivers:
                    receiver.close()

        asyncio.run(run())

    def test_a_sender_that_is_killed_is_told(self):
        name = self.name()
        program = f"""
sender = ysuite.Broadcast({name!r}, capacity=100)
while sender.receivers < 1:
    sender.serve(0.01)
sender.send(b'last words')
os.kill(os.getpid(), signal.SIGKILL)
"""
        child = self.python(program)
        receiver = None
        while receiver is None:
            try:
                receiver = ysuite.BroadcastReceiver.connect(name)
            except ysuite.Refused:
                time.sleep(0.01)
        self.assertEqual(receiver.recv(LONG), b"last words")
        self.assert_killed(child)
        with self.assertRaises(ysuite.Died):
            receiver.recv(LONG)
        receiver.close()


class Watches(Test):
    def test_the_newest_value_is_received(self):
        name = self.name()
        with ysuite.Watch(b"first", name, largest=100) as sender, ysuite.WatchReceiver.connect(name) as receiver:
            sender.serve()
            self.assertEqual((sender.receivers, receiver.recv(LONG)), (1, b"first"))
            for number in range(50):
                sender.send(bytes(number))
            self.assertEqual((receiver.latest(), receiver.recv()), (bytes(49), bytes(49)))
            with self.assertRaises(ysuite.Empty):
                receiver.try_recv()
            with self.assertRaises(ysuite.Timeout):
                receiver.recv(0.01)
            with self.assertRaises(ValueError):
                sender.send(bytes(105))
            sender.send_object(["an", "object"])
            with self.assertRaises(ValueError):
                receiver.recv_object()
            self.assertEqual(pickle.loads(receiver.recv()), ["an", "object"])
            sender.close()
            self.assertEqual(list(receiver), [])
            with self.assertRaises(ysuite.Closed):
                receiver.recv()

    def test_processes_see_values_that_only_grow(self):
        program = """
receiver = ysuite.WatchReceiver(int(sys.argv[1]))
values = [int.from_bytes(value, 'little') for value in receiver]
sys.exit(values != sorted(set(values)) or values[-1] != 20000)
"""
        with ysuite.Watch(bytes(8), largest=8) as sender:
            children = [self.python(program, sender.seat()) for _ in range(2)]
            while sender.receivers < 2:
                sender.serve(0.01)
            for number in range(1, 20_001):
                sender.send(number.to_bytes(8, "little"))
        for child in children:
            self.assertEqual(child.wait(LONG), 0)

    def test_an_event_loop_waits_for_a_value(self):
        async def run():
            with ysuite.Watch(b"0", largest=8) as sender, ysuite.WatchReceiver(sender.seat()) as receiver:
                sender.serve()
                self.assertEqual(await receiver.recv_async(), b"0")
                task = asyncio.create_task(receiver.recv_async())
                await asyncio.sleep(0.01)
                sender.send(b"1")
                self.assertEqual(await asyncio.wait_for(task, LONG), b"1")

        asyncio.run(run())
