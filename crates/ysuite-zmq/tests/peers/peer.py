"""A peer of the matrix in main.rs, by pyzmq: peer.py TYPE ADDRESS FIRST COUNT. An address that begins with "bind:" is bound."""

import sys
import threading

import zmq

role, address, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
numbers = range(first, first + count)


def say(*words):
    print(*words, flush=True)


def word(part):
    """A message's text, without what follows it."""
    return part.split(b" ")[0].decode()


def open_socket():
    socket = zmq.Context.instance().socket(getattr(zmq, role.upper()))
    if role == "sub":
        socket.subscribe(b"b")
    if role == "pub":
        socket.sndhwm = 0
    bound = address.startswith("bind:")
    if bound:
        socket.bind(address[len("bind:"):])
    else:
        socket.connect(address)
    say("ready")
    return socket


def pull(socket):
    while (parts := socket.recv_multipart()) != [b"end"]:
        say(word(parts[0]), len(parts))


def sub(socket):
    while (parts := socket.recv_multipart()) != [b"b", b"end"]:
        topic, text = parts
        say(topic.decode(), word(text))


def push(socket):
    for number in numbers:
        socket.send_multipart([b"%d" % number] + [b"more"] * (number % 2))
    sys.stdin.read()


def pub(socket):
    """Says hello until it is told that it is heard."""
    heard = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), heard.set()), daemon=True).start()
    while not heard.wait(0.002):
        socket.send_multipart([b"b", b"hello %d" % first])
    for number in numbers:
        for topic in (b"a", b"b"):
            socket.send_multipart([topic, b"%d" % number])
    sys.stdin.read()


def answer(socket):
    while True:
        *envelope, question = socket.recv_multipart()
        socket.send_multipart([*envelope, question + b"!"])
        if question == b"end":
            return
        say(question.decode())


def req(socket):
    for number in numbers:
        socket.send(b"%d" % number)
        say(socket.recv().decode())


def dealer(socket):
    """A hundred are asked at once."""
    for number in numbers:
        socket.send_multipart([b"", b"%d" % number])
        if number >= first + 100:
            say(socket.recv_multipart()[1].decode())
    for _ in range(min(count, 100)):
        say(socket.recv_multipart()[1].decode())


say(f"pyzmq {zmq.__version__}, libzmq {zmq.zmq_version()}")
opened = open_socket()
{"pull": pull, "sub": sub, "push": push, "pub": pub, "rep": answer, "router": answer, "req": req, "dealer": dealer}[role](opened)
opened.close(linger=0 if role in ("sub", "pub") else 10_000)
zmq.Context.instance().term()
