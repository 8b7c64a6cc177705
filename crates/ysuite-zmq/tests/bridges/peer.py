"""The other side of a bridge, in Python: peer.py ROLE ADDRESS COUNT [SERVER PUBLIC SECRET]

ROLE is one of those below. beats is push with a heartbeat, until its input ends. An address that begins with "bind:" is bound, and printed; with keys the
socket is then the server. Records are struct's '<Qd'."""

import struct
import sys

import zmq

role, address, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
keys = [key.encode() for key in sys.argv[4:]]
record, header = struct.Struct("<Qd"), struct.Struct("<BBHIQQQQQQ")
HELLO, MESSAGES, ANSWER, END = 1, 2, 3, 4
HAS_ALL = 2


def open_socket():
    kinds = {"pull": zmq.PULL, "push": zmq.PUSH, "sub": zmq.SUB, "pub": zmq.XPUB, "duplex": zmq.DEALER, "garbage": zmq.DEALER, "beats": zmq.PUSH,
             "topics sub": zmq.SUB, "joined sub": zmq.SUB, "topics pub": zmq.XPUB, "joined pub": zmq.XPUB,
             "rep": zmq.REP, "router": zmq.ROUTER, "req": zmq.REQ, "correlated req": zmq.REQ, "dealer": zmq.DEALER, "bare dealer": zmq.DEALER}
    socket = zmq.Context.instance().socket(kinds[role])
    socket.linger = 0 if role.endswith("sub") else 10_000  # A subscription waits for whoever has gone.
    socket.rcvtimeo = socket.sndtimeo = 60_000
    bound = address.startswith("bind:")
    if role == "beats":
        socket.heartbeat_ivl, socket.heartbeat_timeout = 5, 60_000
    if keys:
        server, socket.curve_publickey, socket.curve_secretkey = keys
        if bound:
            socket.curve_server = True
        else:
            socket.curve_serverkey = server
    if role == "sub":
        socket.subscribe(b"")
    if role == "correlated req":
        socket.req_correlate = 1
    if role in ("topics sub", "joined sub"):
        socket.subscribe(b"b")
    if bound:
        socket.bind(address[len("bind:"):])
        print(socket.last_endpoint.decode(), flush=True)
    else:
        socket.connect(address)
    return socket


def frames():
    """The records as frames of up to 100."""
    for first in range(0, count, 100):
        numbers = range(first, min(first + 100, count))
        yield first, len(numbers), b"".join(record.pack(number, number / 2) for number in numbers)


def check(frame, expected):
    for number, half in record.iter_unpack(frame):
        assert (number, half) == (expected, expected / 2), (number, half, expected)
        expected += 1
    return expected


def receive(socket):
    expected = 0
    while expected < count:
        expected = check(socket.recv_multipart()[-1], expected)
    print(f"received {expected}", flush=True)


def send(socket):
    if role == "pub":
        assert socket.recv() == b"\x01"  # Somebody has subscribed to everything.
    for _, _, frame in frames():
        socket.send_multipart([b"", frame] if role == "pub" else [frame])


def topic_and_text(number):
    return [b"a" if number % 2 == 0 else b"b", b"number %d" % number]


def told(socket):
    """The messages on one topic, every other one."""
    for number in range(1, count, 2):
        parts = socket.recv_multipart()
        topic, text = parts if role == "topics sub" else parts[0].split(b" ", 1)
        assert [topic, text] == topic_and_text(number), (number, parts)
    print(f"received {count // 2}", flush=True)


def tell(socket):
    socket.setsockopt(zmq.XPUB_NODROP, 1)
    assert socket.recv() == b"\x01b"
    for number in range(count):
        parts = topic_and_text(number)
        socket.send_multipart(parts if role == "topics pub" else [b" ".join(parts)])


def twice(question):
    number, half = record.unpack(question)
    return record.pack(number, half * 2)


def answers(socket):
    for _ in range(count):
        *envelope, question = socket.recv_multipart()
        socket.send_multipart([*envelope, twice(question)])
    print(f"answered {count}", flush=True)


def asks(socket):
    """One after the other, or 100 at once."""
    together = 100 if "dealer" in role else 1
    envelope = [b"7", b""] if role == "dealer" else []
    for first in range(0, count, together):
        for number in range(first, first + together):
            socket.send_multipart([*envelope, record.pack(number, number)])
        for number in range(first, first + together):
            parts = socket.recv_multipart()
            assert parts == [*envelope, record.pack(number, number * 2)], (number, parts)
    print(f"received {count}", flush=True)


def beats(socket):
    """Stays until all has been received: a connection that is closed with answers to heartbeats unread is reset by the kernel, which
    throws away what the other side has not read yet."""
    send(socket)
    sys.stdin.read()


def duplex(socket):
    """A stream of records each way, both completely."""
    own, other, expected, limit, acknowledged, has_all, told_end = 7, 0, 0, 0, 0, False, False
    answered, pending = False, list(frames())

    def say(kind, number=0, messages=0, body=b""):
        flags = HAS_ALL if has_all else 0
        socket.send(header.pack(1, kind, flags, messages, own, number, other, expected, expected + 1_000, 0) + body)

    say(HELLO, messages=1)
    while not (has_all and acknowledged == count and told_end):
        frame = socket.recv()
        version, kind, flags, messages, session, number, of, received, allowed, lost = header.unpack_from(frame)
        assert version == 1 and lost == 0
        if kind == HELLO:
            other, expected = session, max(expected, number)
            say(ANSWER, messages=messages)
            if of != own:
                say(HELLO, messages=1)
        elif kind == MESSAGES:
            assert number == expected
            expected = check(frame[header.size:], expected)
        elif kind == END:
            assert number == expected
            has_all = True
        if of == own:
            limit, acknowledged = max(limit, allowed), max(acknowledged, received)
            answered |= kind == ANSWER and messages == 1
        while answered and pending and pending[0][0] + pending[0][1] <= limit:
            first, length, frame = pending.pop(0)
            say(MESSAGES, first, length, frame)
        if answered and not pending and not told_end:
            say(END, count)
            told_end = True
        if kind in (MESSAGES, END):
            say(ANSWER)
    print(f"received {expected}", flush=True)


def garbage(socket):
    """Bytes that are no frame of a duplex, then one that is."""
    for parts in ([b""], [b"x" * 55], [b"\x09" * 56], [bytes(56)], [header.pack(1, 7, 0, 0, 1, 0, 0, 0, 0, 0)],
                  [b"a", b"b", b"c"], [header.pack(1, HELLO, 0, 1, 1, 0, 0, 0, 0, 0) + b"more"],
                  [header.pack(1, HELLO, 0, 1, 1, 0, 0, 0, 0, 0), b"more"]):
        socket.send_multipart(parts)
    # From a peer that has not sent hello, then more than may be sent, then a number beyond the largest.
    socket.send(header.pack(1, MESSAGES, 0, 1, 9, 0, 0, 0, 0, 0) + record.pack(0, 0))
    socket.send(header.pack(1, HELLO, 0, 1, 1, 0, 0, 0, 0, 0))
    while header.unpack(socket.recv())[8] == 0:
        pass  # Nothing may be sent yet.
    socket.send(header.pack(1, MESSAGES, 0, 4_000_000_000, 1, 0, 0, 0, 0, 0) + record.pack(0, 0))
    socket.send(header.pack(1, MESSAGES, 0, 1, 1, 0, 0, 2**64 - 1, 2**64 - 1, 2**64 - 1) + record.pack(0, 0))
    socket.send(header.pack(1, MESSAGES, 0, 4_000_000_000, 1, 2**64 - 2, 0, 0, 0, 0) + record.pack(0, 0))
    print("sent garbage", flush=True)


roles = {"pull": receive, "sub": receive, "push": send, "pub": send, "duplex": duplex, "garbage": garbage, "beats": beats,
         "topics sub": told, "joined sub": told, "topics pub": tell, "joined pub": tell,
         "rep": answers, "router": answers, "req": asks, "correlated req": asks, "dealer": asks, "bare dealer": asks}
roles[role](open_socket())
zmq.Context.instance().term()
