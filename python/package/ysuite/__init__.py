"""Channels between the processes of one Linux machine.

A `pipe` leads from one process to another, a `Funnel` from many to one. A `Broadcast` leads to many, of which each receives all
messages, and a `Watch` to many that receive the newest value. A `LoanSender` lends memory to many, which is not copied. A
`WorkSender` gives each job to one of many workers, and a `Caller` asks who has `Questions` to answer. A message is any number of
bytes. Ends are for one thread at a time: a second one gets a RuntimeError. A timeout is in seconds; None waits
for ever. While an end waits, other threads run, and signals are handled.

A forked child has no ends of its parent. Give it the descriptor of `into_fd()` of an end that was not used, which it
makes an end again: `Receiver(descriptor)`. The spawned children of `multiprocessing` get ends of pipes as arguments, and a `seat` of
all others, which they make an end: `BroadcastReceiver(seat)`. Nor has a forked child the memory of loans: to touch a memoryview or an array of it ends the child.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
import weakref
from multiprocessing import context, reduction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from . import _ysuite
from ._errors import Broken, Closed, Died, Empty, Ended, Error, Full, Lagged, Refused, Timeout, Unanswered

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from typing_extensions import Buffer

__all__ = [
    "Borrowed", "Broadcast", "BroadcastReceiver", "Broken", "Caller", "Closed", "Died", "Empty", "Ended", "Error", "Full",
    "Funnel", "Job", "Lagged", "Listener", "Loan", "LoanReceiver", "LoanSender", "Pending", "Question", "Questions", "Receiver",
    "Refused", "Seat", "Sender", "Timeout", "Unanswered", "Watch", "WatchReceiver", "WorkReceiver", "WorkSender", "connect",
    "pipe",
]  # fmt: skip

connect = _ysuite.connect
Borrowed = _ysuite.Borrowed
Job = _ysuite.Job
Loan = _ysuite.Loan
Pending = _ysuite.Pending
Question = _ysuite.Question
_R = TypeVar("_R")


def _done(task: asyncio.Future[None]) -> None:
    if not task.done():
        task.set_result(None)


class _End:
    """What all ends have."""

    _task: asyncio.Future[None] | None = None

    if TYPE_CHECKING:

        def fileno(self) -> int: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the end: the other side learns of it. An end that was closed stays so."""
        if self._task is not None:
            raise RuntimeError("a task is waiting for this end")
        super().close()  # type: ignore[misc]

    async def _readable(self) -> None:
        if self._task is not None:
            raise RuntimeError("another task is waiting for this end")
        loop, descriptor = asyncio.get_running_loop(), self.fileno()
        self._task = task = loop.create_future()
        loop.add_reader(descriptor, _done, task)
        try:
            await task
        finally:
            self._task = None
            loop.remove_reader(descriptor)

    async def _until(self, attempt: Callable[[], _R], arm: Callable[[], bool]) -> _R:
        while True:
            try:
                return attempt()
            except (Full, Empty):
                pass
            if arm():
                await self._readable()
            else:
                await asyncio.sleep(0)


class _Given:
    """How multiprocessing gives an end to a child that it spawns."""

    _arguments: dict[str, Any]

    if TYPE_CHECKING:

        def into_fd(self) -> int: ...

    def __reduce__(self) -> tuple[Any, ...]:
        context.assert_spawning(self)
        descriptor = self.into_fd()
        # The child gets it later.
        weakref.finalize(self, os.close, descriptor)
        return _taken, (type(self), reduction.DupFd(descriptor), self._arguments)


def _taken(end: type[Any], descriptor: Any, arguments: dict[str, Any]) -> Any:
    return end(descriptor.detach(), **arguments)


class Seat(int):
    """A descriptor that another process makes an end; whose it is who has it. One that was an argument of a child that
    multiprocessing has spawned is closed where it is dropped."""

    _given: _Given | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        context.assert_spawning(self)
        if self._given is None:
            # The child gets it later. A number has no weak references.
            self._given = _Given()
            weakref.finalize(self._given, os.close, int(self))
        return _seated, (reduction.DupFd(int(self)),)


def _seated(descriptor: Any) -> Seat:
    return Seat(descriptor.detach())


class _Seats:
    """An end that others join."""

    def seat(self) -> Seat:
        return Seat(super().seat())  # type: ignore[misc]


class _Numbers:
    """As `_Seats`, where those that join have numbers."""

    def seat(self) -> tuple[int, Seat]:
        number, descriptor = super().seat()  # type: ignore[misc]
        return number, Seat(descriptor)


class _Receives(_End, Generic[_R]):
    if TYPE_CHECKING:

        def recv(self, timeout: float | None = None) -> _R: ...
        def try_recv(self) -> _R: ...
        def arm(self) -> bool: ...

    async def recv_async(self) -> _R:
        """As `recv`, in an event loop. A task that is cancelled has received nothing."""
        return await self._until(self.try_recv, self.arm)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> _R:
        try:
            return await self.recv_async()
        except Closed:
            raise StopAsyncIteration from None


class _Unpickles(_Receives[bytes]):
    if TYPE_CHECKING:
        _pickles: bool

    def recv_object(self, timeout: float | None = None) -> Any:
        """Receives what `send_object` has sent. Only of an end made with pickles=True: a pickle runs code of its sender."""
        if not self._pickles:
            raise ValueError("unpickling runs code of the sender: an end does it that was made with pickles=True")
        return pickle.loads(self.recv(timeout))


class _Connects:
    """A receiver that connects by the name of its sender."""

    if TYPE_CHECKING:

        def __init__(self, fd: int, **options: Any) -> None: ...

    @classmethod
    def connect(cls, name: str, **options: Any) -> Self:
        """The receiver from who listens at `name`: a path, or an abstract name if there is no slash."""
        return cls(_ysuite.connect(name, allow=options.pop("allow", None)), **options)


class _Gives(_End):
    if TYPE_CHECKING:

        def send(self, message: Buffer, timeout: float | None = None) -> None: ...
        def try_send(self, message: Buffer) -> None: ...
        def arm(self, length: int) -> bool: ...

    async def send_async(self, message: Buffer) -> None:
        """As `send`, in an event loop. A task that is cancelled has sent nothing."""
        length = memoryview(message).nbytes
        await self._until(lambda: self.try_send(message), lambda: self.arm(length))


class _Sends(_Gives):
    def send_object(self, message: Any, timeout: float | None = None) -> None:
        """Sends a pickle, for `recv_object`."""
        self.send(pickle.dumps(message, pickle.HIGHEST_PROTOCOL), timeout)


class Sender(_Sends, _Given, _ysuite.Sender):
    """The sending end of a pipe or funnel, over a socket that it takes over. It has room for `capacity` bytes; a message
    takes 8 more than it has, rounded up to 8."""

    def __init__(self, fd: int, capacity: int, **options: Any) -> None:
        self._arguments = {"capacity": capacity, **options}

    @classmethod
    def connect(cls, name: str, capacity: int, **options: Any) -> Self:
        """The sender to who listens at `name`: a path, or an abstract name if there is no slash."""
        return cls(_ysuite.connect(name, allow=options.pop("allow", None)), capacity, **options)


class Receiver(_Unpickles, _Connects, _Given, _ysuite.Receiver):
    """The receiving end of a pipe, over a socket that it takes over. An iteration ends when the sender has closed, and
    raises when it has died."""

    def __new__(cls, fd: int, *, pickles: bool = False, **options: Any) -> Self:
        return super().__new__(cls, fd, **options)

    def __init__(self, fd: int, *, pickles: bool = False, **options: Any) -> None:
        self._pickles = pickles
        self._arguments = {"pickles": pickles, **options}


class Funnel(_Numbers, _Unpickles, _ysuite.Funnel):
    """The receiver of many senders, which connect by its name or inherit a `seat`. A sender that ends ends nobody else:
    `next_ended` tells of it. One that has connected has a second to say hello, which it does when it is used first; after that it
    is `Refused`. One that has nothing to send yet asks `is_disconnected`."""

    def __new__(cls, name: str | None = None, *, pickles: bool = False, **options: Any) -> Self:
        return super().__new__(cls, name, **options)

    def __init__(self, name: str | None = None, *, pickles: bool = False, **options: Any) -> None:
        self._pickles = pickles


class _Joins(_Unpickles, _Connects):
    """A receiver of a sender that has others as well."""

    def __new__(cls, fd: int, *, pickles: bool = False, **options: Any) -> Self:
        return super().__new__(cls, fd, **options)  # type: ignore[call-arg]

    def __init__(self, fd: int, *, pickles: bool = False, **options: Any) -> None:
        self._pickles = pickles


class Broadcast(_Seats, _Sends, _ysuite.Broadcast):
    """The sender of a broadcast, whose receivers connect by its name or inherit a `seat`, and receive all that is sent while they
    are there. A slow one holds it up, unless it is `lossy`. Room is as that of a `Sender`."""

    def __new__(cls, name: str | None = None, *, capacity: int, **options: Any) -> Self:
        return super().__new__(cls, name, capacity, **options)


class BroadcastReceiver(_Joins, _ysuite.BroadcastReceiver):
    """A receiver of a `Broadcast`. A slow one of a lossy broadcast gets `Lagged`, and goes on with the newest message."""


class Watch(_Seats, _End, _ysuite.Watch):
    """The sender of a watch, which has a first value, and at most `largest` bytes of any. Its receivers connect by its name or
    inherit a `seat`. None of them holds it up."""

    def __new__(cls, value: Buffer, name: str | None = None, *, largest: int, **options: Any) -> Self:
        return super().__new__(cls, name, value, largest, **options)

    def send_object(self, value: Any) -> None:
        """Sends a pickle, for `recv_object`."""
        self.send(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))


class WatchReceiver(_Joins, _ysuite.WatchReceiver):
    """A receiver of a `Watch`: of the newest value, and of none that was replaced before."""


class LoanSender(_Seats, _End, _ysuite.LoanSender):
    """The sender of loans, whose receivers connect by its name or inherit a `seat`. It has a pool of `slots` slots of `largest`
    bytes. A `Loan` of one is filled in place, by a memoryview or a numpy array of it, and sent to all receivers. It is free
    again when each of them has released it, or is gone; until then it is missing. There is one loan at a time. An end of it
    that is closed gives a loan back, unless a memoryview or an array of it is still there: that is a BufferError."""

    def __new__(cls, name: str | None = None, *, slots: int, largest: int, **options: Any) -> Self:
        return super().__new__(cls, name, slots, largest, **options)

    async def loan_async(self, length: int) -> Loan:
        """As `loan`, in an event loop. A task that is cancelled has no loan."""
        return await self._until(lambda: self.try_loan(length), self.arm)

    async def large_async(self, length: int) -> Loan:
        """As `large`, in an event loop. A task that is cancelled has no loan."""
        return await self._until(lambda: self.try_large(length), self.arm_large)


class LoanReceiver(_Receives[Borrowed], _Connects, _ysuite.LoanReceiver):
    """A receiver of a `LoanSender`. What it receives is `Borrowed`, in the memory of the sender: `bytes` and `copy_to` copy it,
    and a memoryview or a numpy array of it reads it in place, if it is a `large` one, which nobody can write any more. A slot
    could be rewritten by a sender that is hostile, under the eyes of who reads it; views=True reads those in place too.

    It misses no message, so that one that is slow, or keeps what it has, holds the sender up. A `for` keeps a message until
    the next one has come: `with message:` gives it back before."""


class WorkSender(_Seats, _Gives, _ysuite.WorkSender):
    """The sender of a work queue, whose workers connect by its name or inherit a `seat`. Each job, of at most `largest` bytes, goes
    to the worker that has the fewest, and none has more than `credit`. A job is finished once, and begun at least once: what a
    worker gives back, or has when it dies, another has next."""

    def __new__(cls, name: str | None = None, *, credit: int, largest: int, **options: Any) -> Self:
        return super().__new__(cls, name, credit, largest, **options)

    async def settle_async(self) -> None:
        """As `settle`, in an event loop."""
        await self._until(self.try_settle, self.arm_to_settle)


class WorkReceiver(_Receives[Job], _Connects, _ysuite.WorkReceiver):
    """A worker of a `WorkSender`, with one `Job` in hand at a time. `with job:` gives it back if it was not finished."""


class Caller(_End, _ysuite.Caller):
    """The end that asks, over a socket that it takes over: questions of at most `largest` bytes, of which at most `calls` are under
    way. `call` waits for the answer; `ask` goes on, and `recv` has the answer of its `Pending`, in any order."""

    @classmethod
    def connect(cls, name: str, largest: int, **options: Any) -> Self:
        """The caller of who answers at `name`: a path, or an abstract name if there is no slash."""
        return cls(_ysuite.connect(name, allow=options.pop("allow", None)), largest, **options)

    async def call_async(self, question: Buffer) -> bytes:
        """As `call`, in an event loop. A task that is cancelled has given up."""
        return await self.recv_async(await self.ask_async(question))

    async def ask_async(self, question: Buffer) -> Pending:
        """As `ask`, in an event loop. A task that is cancelled has not asked."""
        return await self._until(lambda: self.try_ask(question), self.arm_to_ask)

    async def recv_async(self, call: Pending) -> bytes:
        """As `recv`, in an event loop. A task that is cancelled has received nothing."""
        return await self._until(lambda: self.try_recv(call), lambda: self.arm([call]))


class Questions(_Numbers, _Receives[Question], _ysuite.Questions):
    """The receiver of the questions of many callers, which connect by its name or inherit a `seat`. It answers each `Question`, by
    at most `largest` bytes, at any time and in any order; one that it drops raises `Unanswered` at its caller."""

    def __new__(cls, name: str | None = None, *, largest: int, **options: Any) -> Self:
        return super().__new__(cls, name, largest, **options)


class Listener(_End, _ysuite.Listener):
    """Listens at a name: a path if it has a slash, else an abstract one, which vanishes with this process."""

    def accept_sender(self, capacity: int, timeout: float | None = None, **options: Any) -> Sender:
        """The sender to the next process that connects, which receives."""
        return Sender(self.accept(timeout), capacity, **options)

    def accept_receiver(self, timeout: float | None = None, **options: Any) -> Receiver:
        """The receiver from the next process that connects, which sends."""
        return Receiver(self.accept(timeout), **options)


def pipe(capacity: int, *, pickles: bool = False, **options: Any) -> tuple[Sender, Receiver]:
    """A pipe for `capacity` bytes. Either end can be given to another process, as long as it has not been used."""
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sender = Sender(one.detach(), capacity, **options)
    return sender, Receiver(other.detach(), pickles=pickles, **options)
