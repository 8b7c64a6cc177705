#!/usr/bin/env bash
# faster-fifo 1.5.2 (Python): `get()` without arguments gives up, and what can never fit is reported as "full".
#
# The queue is offered as a faster alternative to multiprocessing.Queue, with its methods. There, `get()` and `put()` wait
# for as long as it takes. Here their `timeout` is 10 seconds where none is named: a consumer that is idle for longer gets
# `queue.Empty`, out of a call that was asked to block. And a message that is longer than the whole queue is answered with
# `queue.Full`, after the time limit, as if there could be room later. Seen with CPython 3.11 on Linux:
#
#     get: (self, block=True, timeout=10.0)
#     put: (self, x, block=True, timeout=10.0)
#     get of an empty queue: Empty
#     put of 2000 bytes into an empty queue of 1000: Full
#     multiprocessing.Queue.get: (self, block=True, timeout=None)
#
# Fails if that changes. Needs Python 3 with pip and venv; takes 10 s; writes only below a temporary folder.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check faster-fifo==1.5.2
cat >"$folder/finding.py" <<'PYTHON'
import inspect
import multiprocessing.queues

import faster_fifo

print("get:", inspect.signature(faster_fifo.Queue.get))
print("put:", inspect.signature(faster_fifo.Queue.put))
queue = faster_fifo.Queue(max_size_bytes=1000)


def outcome(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__


print("get of an empty queue:", outcome(queue.get))
print("put of 2000 bytes into an empty queue of 1000:", outcome(lambda: queue.put(bytes(2000), timeout=0.2)))
print("multiprocessing.Queue.get:", inspect.signature(multiprocessing.queues.Queue.get))
PYTHON
seen=$(timeout 60 "$folder/venv/bin/python" "$folder/finding.py")
printf '%s\n' "$seen"
diff <(printf '%s\n' "$seen") - <<'EXPECTED'
get: (self, block=True, timeout=10.0)
put: (self, x, block=True, timeout=10.0)
get of an empty queue: Empty
put of 2000 bytes into an empty queue of 1000: Full
multiprocessing.Queue.get: (self, block=True, timeout=None)
EXPECTED
