/* What the program that measures the door calls: loops of one thread, which send so many messages and then receive them, again and
   again, for messages of one size. examples/door.rs has the same, field by field. */
#ifndef YBENCH_DOOR_H
#define YBENCH_DOOR_H

#include <ysuite.h>

#include <stdbool.h>
#include <stddef.h>

/* So many messages altogether, so many at a time; those in batches, so many by one call. False: not all came as they were sent. */
typedef bool (*DoorLoop)(ys_tx *tx, ys_rx *rx, size_t count, size_t burst, size_t batch);

typedef struct Door {
    /* Of a message. */
    size_t bytes;
    /* A pipe without a bound, with a window or without one. False: there is none. */
    bool (*open)(bool window, ys_tx **tx, ys_rx **rx);
    void (*close)(ys_tx *tx, ys_rx *rx);
    /* One by one, compiled into the loop as far as the window allows. */
    DoorLoop inlined;
    /* One by one, by calls. NULL: not here, as the others below. */
    DoorLoop calls;
    /* In slots that are reserved and committed, and where they lie. */
    DoorLoop runs;
    /* In arrays. */
    DoorLoop batches;
} Door;

#endif
