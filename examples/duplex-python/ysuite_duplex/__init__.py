"""The other side of a duplex of ysuite-zmq: what is sent here is received there, in order, acknowledged, and the other way round.

    from ysuite_duplex import Duplex

    with Duplex(connect="tcp://10.0.0.7:5555") as duplex:
        duplex.send(b"hello")                   # waits while the other side has no room
        for message in duplex:                  # until the other side has no sender any more
            print(message)
        unsent = duplex.close(timeout=5)        # how many the other side has not acknowledged: 0 is what one wants

Messages are bytes, one in a frame, as those of Bridge::duplex::<_, Vec<u8>>; with record=struct.Struct("<Qd") they are tuples, of
which a frame that comes may have any number, as those of a type of record!. What is not acknowledged is kept and sent again, as with
at_least_once of a bridge.

One thread at a time. A connection lives from the calls: a program that neither sends nor receives for long calls serve() now and
then. A third that wants to take part is not heard until the second is gone.
"""

import collections
import os
import struct
import time

import zmq
from zmq.utils.monitor import recv_monitor_message

__all__ = ["Closed", "Duplex", "Header"]

VERSION = 1
HELLO, MESSAGES, ANSWER, END = 1, 2, 3, 4
KEEPS, HAS_ALL, REFUSES, LACKS = 1, 2, 4, 8
# Above it is no number of a message.
LAST = 1 << 63
# Without an acknowledgement for so long hello is said again.
PATIENCE = 1.0
# Earlier peers that are remembered.
KNOWN = 16


class Closed(Exception):
    """Nothing sent will be received any more."""


class Header(collections.namedtuple("Header", "version kind flags messages session number of expected limit lost")):
    """The beginning of each frame, of which crates/ysuite-zmq/src/bridge/duplex/header.rs says what the fields are."""

    LAYOUT = struct.Struct("<BBHIQQQQQQ")

    def pack(self):
        return self.LAYOUT.pack(*self)

    @classmethod
    def read(cls, frame):
        """None: it is no frame of a duplex."""
        if len(frame) < cls.LAYOUT.size:
            return None
        header = cls(*cls.LAYOUT.unpack_from(frame))
        is_right = header.version == VERSION and header.session != 0 and header.number <= LAST
        is_right = is_right and HELLO <= header.kind <= END
        return header if is_right and (header.kind == MESSAGES or len(frame) == cls.LAYOUT.size) else None


class _Stream:
    """How far the stream of a peer has come."""

    def __init__(self, number):
        self.expected, self.allowed, self.lost = number, number, 0


class Duplex:
    """One side of a conversation of two. It binds, or it connects."""

    def __init__(self, connect=None, bind=None, capacity=1_000, unacknowledged=1_000, record=None, context=None):
        if (connect is None) == (bind is None):
            raise ValueError("a duplex binds, or connects to one address")
        if capacity < 1 or unacknowledged < 1:
            raise ValueError("a duplex needs room for one message at least")
        self._record, self._capacity, self._kept = record, capacity, unacknowledged
        self._session = int.from_bytes(os.urandom(8), "little") or 1
        self._begin_sending()
        # The other side: its session, the mark of its last hello, and whether that is to be answered.
        self._peer, self._heard, self._to_answer = None, 0, None
        self._streams = collections.OrderedDict()
        self._stream, self._come, self._is_over = _Stream(0), collections.deque(), False
        self._told, self._lacks, self._is_blocked = None, False, False
        # What has gone through it: frames that were not what was expected, and messages that had come before.
        self.malformed, self.duplicates, self.ignored = 0, 0, 0
        context = context or zmq.Context.instance()
        self._binds = bind is not None
        self._socket = context.socket(zmq.ROUTER if self._binds else zmq.DEALER)
        self._socket.linger = 1_000
        self._other, self._last, self._connections, self._monitor = None, None, 0, None
        try:
            self._open(bind, connect)
        except BaseException:
            self._leave()
            raise

    def _open(self, bind, connect):
        if self._binds:
            self._socket.router_mandatory = True
            self._socket.bind(bind)
            return
        self._socket.reconnect_ivl, self._socket.reconnect_ivl_max = 100, 5_000
        # libzmq reports no connection inside the process.
        self._connections = int(connect.startswith("inproc:"))
        if not self._connections:
            self._monitor = self._socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED)
        self._socket.connect(connect)

    def _begin_sending(self):
        # Frames in order, as (number, messages, bytes), up to `next`; the first `handed` of them are under way.
        self._frames, self._handed, self._next = collections.deque(), 0, 0
        self._acknowledged, self._limit, self._lost, self._missing = 0, 0, 0, 0
        self._end = None  # None, "due", "told", "acknowledged".
        self._is_refused, self._is_closing, self._is_closed = False, False, False
        self._hello, self._mark, self._since = "due", 0, time.monotonic()

    @property
    def address(self):
        """Where the other side can connect, with the port that the system has chosen."""
        return self._socket.last_endpoint.decode()

    # ---- what a program calls ----

    def send(self, message, timeout=None):
        """Sends a message; waits while as many are not acknowledged as are kept, at most timeout seconds. Raises TimeoutError, or Closed."""
        body = bytes(message) if self._record is None else self._record.pack(*message)
        self._wait(lambda: self._is_closing or self._is_refused or self._next - self._acknowledged < self._kept, timeout)
        if self._is_closing or self._is_refused:
            raise Closed("the other side receives no more, or this one was closed")
        self._frames.append((self._next, 1, body))
        self._next += 1
        self._step()

    def recv(self, timeout=None):
        """Receives a message; waits while there is none, at most timeout seconds. None: the other side has no sender any more. Raises
        TimeoutError."""
        self._wait(lambda: self._come or self._is_over or self._is_closed, timeout)
        message = self._come.popleft() if self._come else None
        self._step()
        if not self._come and not self._is_closed:
            # The program may be away for long.
            self._say_news()
        return message

    def __iter__(self):
        return iter(self.recv, None)

    def serve(self, timeout=0):
        """Goes on with the conversation for this number of seconds."""
        end = time.monotonic() + timeout
        self._step()
        while time.monotonic() < end:
            self._sleep(end)
            self._step()

    def close(self, timeout=None):
        """Ends the conversation, after what was sent: returns how many messages the other side has not acknowledged. Nothing more is
        received; what has come can still be."""
        if self._is_closed:
            return self._unsent()
        self._is_closing = True
        try:
            self._wait(self._has_nothing_left, timeout)
        except TimeoutError:
            pass
        self._say_news()
        self._is_closed = True
        self._leave()
        return self._unsent()

    def _leave(self, linger=None):
        if self._monitor is not None:
            self._socket.disable_monitor()
            self._monitor.close(linger=0)
        self._socket.close(linger)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close(timeout=1)

    def _has_nothing_left(self):
        is_acknowledged = self._acknowledged == self._next and not self._is_there()
        return self._end == "acknowledged" or self._is_refused or is_acknowledged

    def _unsent(self):
        return self._lost + self._next - self._acknowledged

    # ---- the own stream ----

    def _hear_of_own(self, header):
        is_answer = header.kind == ANSWER and self._hello == "said" and header.messages == self._mark
        expected = min(header.expected, self._next)
        fresh = max(expected - self._acknowledged, 0)
        self._acknowledged += fresh
        if is_answer:
            self._missing = min(self._missing, header.lost)
        missing = min(max(header.lost - self._missing, 0), fresh)
        self._missing, self._lost = self._missing + missing, self._lost + missing
        self._limit = max(self._limit, header.limit)
        while self._frames and self._frames[0][0] + self._frames[0][1] <= self._acknowledged:
            self._frames.popleft()
            self._handed = max(self._handed - 1, 0)
        if header.flags & HAS_ALL and self._end is not None and self._acknowledged == self._next:
            self._end = "acknowledged"
        if header.flags & REFUSES and not self._is_refused:
            self._is_refused, self._end = True, "due"
            self._frames.clear()
            self._handed = 0
        if fresh:
            self._since = time.monotonic()
        if is_answer:
            # What was handed over before has arrived, or never will.
            self._hello, self._handed = "answered", 0
            if self._end == "told":
                self._end = "due"
        elif header.flags & LACKS and self._hello == "answered":
            self._hello = "due"

    def _hand_over(self):
        while self._handed < len(self._frames):
            number, messages, body = self._frames[self._handed]
            if number >= self._limit:
                return
            was_idle = not self._is_waiting()
            if not self._say(MESSAGES, number, messages, body):
                return
            self._handed += 1
            if was_idle:
                self._since = time.monotonic()
        if self._end is None and self._is_closing:
            self._end = "due"
        if self._end == "due" and self._say(END, self._next):
            self._end = "told"
            self._since = time.monotonic()

    def _is_waiting(self):
        """Whether the other side has something to say without which this one does not go on."""
        if self._hello == "answered":
            return (self._handed > 0 and self._acknowledged < self._next) or self._end == "told"
        return self._hello == "said"

    # ---- the other side's ----

    def _take(self, header, body):
        stream = self._stream
        if header.number > stream.expected:
            if header.flags & KEEPS:
                self._lacks = True
                return
            self._skip_to(header.number)
        known = min(stream.expected - header.number, header.messages)
        self.duplicates += known
        if known == header.messages or self._is_closing:
            return
        messages = self._decoded(body)
        if stream.expected >= stream.allowed or (messages is not None and len(messages) != header.messages):
            self.malformed += 1
            return
        stream.expected = header.number + header.messages
        if messages is None:
            # Sent once more it would be no better.
            self.malformed += 1
            stream.lost += header.messages - known
            return
        self._come.extend(messages[known:])

    def _decoded(self, body):
        if self._record is None:
            return [body]
        return None if len(body) % self._record.size else list(self._record.iter_unpack(body))

    def _skip_to(self, number):
        """A sender that keeps nothing has lost those before this one."""
        gone = max(number - self._stream.expected, 0)
        self._stream.lost += gone
        self._stream.expected += gone

    def _finish(self, header):
        if header.number > self._stream.expected and (header.flags & KEEPS or self._is_closing):
            self._lacks = not self._is_closing
            return
        self._skip_to(header.number)
        self._is_over = True

    def _news(self):
        """What the other side should know."""
        stream, told = self._stream, self._told
        flags = KEEPS | (HAS_ALL if self._is_over else 0) | (LACKS if self._lacks else 0)
        room = max(self._capacity - len(self._come), 0)
        if self._is_closing and not self._is_over:
            flags, room = flags | REFUSES, 0
        limit = max(told[1] if told else 0, stream.expected + room, stream.allowed)
        stream.allowed = limit
        return stream.expected, limit, flags

    def _say_news(self):
        if self._peer is not None and self._news() != self._told:
            self._say(ANSWER)

    # ---- both ----

    def _meet(self, header):
        """The other side says hello. False: it is a third."""
        if self._peer == header.session:
            # Said over a connection that is gone, and read after what was said over the next.
            if (header.messages - self._heard) & 0xFFFF_FFFF >= 1 << 31:
                return False
        elif self._peer is not None and self._is_second_there():
            self.ignored += 1
            return False
        else:
            self._begin(header)
        if header.flags & KEEPS:
            self._stream.expected = max(self._stream.expected, header.number)
        else:
            self._skip_to(header.number)
        if self._binds and self._other != self._last:
            self._other = self._last
            self._hello = "due"
        if header.of != self._session:
            self._hello = "due"
        self._heard = self._to_answer = header.messages
        return True

    def _begin(self, header):
        """Another takes the place of the other side: it gets what was not acknowledged."""
        if self._peer is not None:
            self._streams[self._peer] = self._stream
            while len(self._streams) > KNOWN:
                self._streams.popitem(last=False)
        self._peer = header.session
        self._stream = self._streams.pop(header.session, None) or _Stream(header.number)
        self._is_over, self._lacks, self._told = False, False, None
        self._handed, self._limit, self._missing = 0, 0, 0
        if self._end is not None:
            self._end = "due"
        self._hello = "due"

    def _is_second_there(self):
        if not self._binds:
            return False  # There is one connection.
        self._say(ANSWER)
        return self._other is not None

    def _is_there(self):
        return self._other is not None if self._binds else self._connections > 0

    def _say(self, kind, number=0, messages=0, body=b""):
        """False: there is no room, or nobody."""
        if not self._is_there():
            return False
        news = expected, limit, flags = self._news()
        of = self._peer or 0
        header = Header(VERSION, kind, flags, messages, self._session, number, of, expected, limit, self._stream.lost)
        parts = [header.pack() + body]
        try:
            self._socket.send_multipart([self._other, *parts] if self._binds else parts, zmq.NOBLOCK)
        except zmq.Again:
            self._is_blocked = True
            return False
        except zmq.ZMQError as error:
            if error.errno != zmq.EHOSTUNREACH:
                raise
            self._other = None
            return False
        if self._peer is not None:
            self._told, self._lacks = (expected, limit, flags & ~LACKS), False
        return True

    def _hear(self):
        """Takes in one frame. False: there is none."""
        try:
            parts = self._socket.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return False
        if self._binds:
            self._last, *parts = parts
        header = Header.read(parts[0]) if len(parts) == 1 else None
        if header is None:
            self.malformed += 1
            return True
        if header.kind == HELLO and not self._meet(header):
            return True
        if self._peer != header.session:
            return True
        if header.of == self._session:
            self._hear_of_own(header)
        if header.kind == MESSAGES:
            self._take(header, parts[0][Header.LAYOUT.size:])
        elif header.kind == END:
            self._finish(header)
        return True

    def _notice(self):
        """What has happened to the connection."""
        while self._monitor is not None and self._monitor.poll(0):
            event = recv_monitor_message(self._monitor)["event"]
            self._connections = int(event == zmq.EVENT_HANDSHAKE_SUCCEEDED)
            self._hello = "due"

    def _step(self):
        if self._is_closed:
            return
        self._notice()
        while self._hear():
            pass
        if not self._is_there():
            return
        if self._is_waiting() and time.monotonic() - self._since >= PATIENCE:
            self._hello = "due"
        if self._hello == "due":
            mark = self._mark % 0xFFFF_FFFF + 1
            if self._say(HELLO, self._frames[0][0] if self._frames else self._next, mark):
                self._hello, self._mark, self._since = "said", mark, time.monotonic()
        if self._to_answer is not None and self._say(ANSWER, messages=self._to_answer):
            self._to_answer = None
        if self._hello == "answered":
            self._hand_over()
        # Room that was made is worth a frame when the other side may soon have to wait for it.
        if self._peer is not None and self._told is not None:
            left = self._told[1] - self._stream.expected
            if left <= self._capacity // 2 and self._capacity - len(self._come) - left >= max(self._capacity // 4, 1):
                self._say(ANSWER)

    def _sleep(self, end):
        """Until something comes, or something is to be said again, or the time is up."""
        self._say_news()
        until = self._since + PATIENCE if self._is_waiting() else time.monotonic() + PATIENCE
        if self._is_blocked:
            # No socket says when it has room for this peer.
            self._is_blocked, until = False, time.monotonic() + 0.01
        until = min(until, end) if end is not None else until
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN)
        if self._monitor is not None:
            poller.register(self._monitor, zmq.POLLIN)
        poller.poll(max(until - time.monotonic(), 0) * 1_000 + 1)

    def _wait(self, is_done, timeout):
        end = None if timeout is None else time.monotonic() + timeout
        self._step()
        while not is_done():
            if end is not None and time.monotonic() >= end:
                raise TimeoutError("the time is up")
            self._sleep(end)
            self._step()
