"""Sends jobs to a bridge and receives its answers: python_peer.py PULL PUSH SERVER-KEY PUBLIC-KEY SECRET-KEY"""

import struct
import sys
import threading

import zmq

pull, push, server, public, secret = sys.argv[1:6]
record, count = struct.Struct("<Qd"), 10_000


def connect(kind, address):
    socket = zmq.Context.instance().socket(kind)
    socket.curve_serverkey, socket.curve_publickey, socket.curve_secretkey = (key.encode() for key in (server, public, secret))
    socket.sndtimeo = socket.rcvtimeo = socket.linger = 30_000
    socket.connect(address)
    return socket


def send_jobs():
    jobs = connect(zmq.PUSH, pull)
    for first in range(0, count, 100):  # A hundred in a frame.
        jobs.send(b"".join(record.pack(number, number / 4) for number in range(first, first + 100)))


sending = threading.Thread(target=send_jobs)
answers, taken = connect(zmq.PULL, push), 0
sending.start()
while taken < count:
    for number, price in record.iter_unpack(answers.recv()):
        assert (number, price) == (taken, taken / 2)
        taken += 1
sending.join()
connect(zmq.PUSH, pull).send(record.pack(2**64 - 1, 0))
print(f"{taken} answers", flush=True)
zmq.Context.instance().destroy(linger=30_000)
