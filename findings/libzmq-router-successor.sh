#!/usr/bin/env bash
# pyzmq 26.4.0 with libzmq 4.3.5: a ROUTER that connects gives an answer to the next one at the address.
#
# A DEALER binds, asks, and goes. A ROUTER had connected to it, and has the question with the identity of the one that asked. It
# answers that identity, with ZMQ_ROUTER_MANDATORY, which is to refuse what cannot be routed. But the identity belongs to the
# connection that the ROUTER has made, and that one lives on while it looks for somebody at its address. So the answer is
# accepted, and the next DEALER that binds there gets it, whether it was sent before that one came or after: an answer to
# a question that it has not asked. With ZMQ_IMMEDIATE a connection that is lost takes its identity along, and both are refused:
#
#     IMMEDIATE 0, answered before the next one comes: sent, and the next one gets: answer for the first
#     IMMEDIATE 0, answered when the next one is there: sent, and the next one gets: answer for the first
#     IMMEDIATE 1, answered before the next one comes: Host unreachable, and the next one gets: nothing
#     IMMEDIATE 1, answered when the next one is there: Host unreachable, and the next one gets: nothing
#
# Who answers from the side that connects sets ZMQ_IMMEDIATE, and who asks numbers its questions so that no other has the numbers.
# Fails if that changes. Needs python3 with venv; writes only below a temporary folder, and stays on loopback.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyzmq==26.4.0
cat >"$folder/finding.py" <<'PYTHON'
import time

import zmq


def asker(port):
    """A DEALER of its own context. The port may be in use for a moment."""
    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.linger = 0
    for left in reversed(range(200)):
        try:
            socket.bind(f"tcp://127.0.0.1:{port}")
            return context, socket
        except zmq.ZMQError:
            if not left:
                raise
            time.sleep(0.05)


def free_port():
    context = zmq.Context()
    with context.socket(zmq.DEALER) as probe:
        port = probe.bind_to_random_port("tcp://127.0.0.1")
    context.term()
    return port


def answered(router, identity):
    try:
        router.send_multipart([identity, b"answer for the first"])
        return "sent"
    except zmq.ZMQError as error:
        return str(error)


def tried(immediate, before):
    port = free_port()
    context, first = asker(port)
    router = zmq.Context.instance().socket(zmq.ROUTER)
    router.linger = 0
    router.setsockopt(zmq.ROUTER_MANDATORY, 1)
    router.setsockopt(zmq.IMMEDIATE, immediate)
    router.connect(f"tcp://127.0.0.1:{port}")
    first.send(b"question of the first")
    identity, _ = router.recv_multipart()
    first.close()
    context.term()
    # The ROUTER notices that it has gone.
    time.sleep(1)
    said = answered(router, identity) if before else None
    context, second = asker(port)
    if not before:
        # And that the next one has come.
        time.sleep(1)
        said = answered(router, identity)
    got = second.recv().decode() if second.poll(3000) else "nothing"
    when = "before the next one comes" if before else "when the next one is there"
    print(f"IMMEDIATE {immediate}, answered {when}: {said}, and the next one gets: {got}")
    second.close()
    context.term()
    router.close()
    return said, got


assert (zmq.zmq_version(), zmq.__version__) == ("4.3.5", "26.4.0")
stale = ("sent", "answer for the first")
refused = ("Host unreachable", "nothing")
found = [tried(immediate, before) for immediate in (0, 1) for before in (True, False)]
assert found == [stale, stale, refused, refused], found
PYTHON
timeout 120 "$folder/venv/bin/python" "$folder/finding.py"
