/* The functions for the program that measures the binding: loops of one thread, which send a number of messages and then
   receive them, again and again, for messages of one size. examples/binding/foreign.rs has the same, field by field. */
#ifndef YBENCH_BINDING_H
#define YBENCH_BINDING_H

#include <ysuite.h>

#include <stdbool.h>
#include <stddef.h>

/* A total number of messages, the number at a time; for batches, the number by one call. False: not all were received
   as they were sent. */
typedef bool (*BindingLoop)(ys_tx *tx, ys_rx *rx, size_t count, size_t burst, size_t batch);

typedef struct Binding {
    /* The bytes of a message. */
    size_t bytes;
    /* A channel without a bound, with a window or without one. False: there is none. */
    bool (*open)(bool window, ys_tx **tx, ys_rx **rx);
    void (*close)(ys_tx *tx, ys_rx *rx);
    /* One by one, compiled into the loop as far as the window allows. */
    BindingLoop inlined;
    /* One by one, by calls. NULL: not here, as the others below. */
    BindingLoop calls;
    /* In slots that are reserved and committed, and read in place. */
    BindingLoop runs;
    /* In arrays. */
    BindingLoop batches;
} Binding;

#endif
