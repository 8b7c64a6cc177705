/* The interface of a channel of C to the instrument for messages of one size, and the messages that its receivers have
   seen. cpp/table.hpp and src/table.rs have the same, field by field. */
#ifndef YBENCH_TABLE_H
#define YBENCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum { KEPT = 0, WRONG_NUMBER = 1, NOBODY_SENDS = 2, ONE_TOO_MANY = 3 };

typedef struct Verdict {
    size_t word;
    size_t expected;
    size_t received;
} Verdict;

typedef struct Row {
    size_t next;
    size_t count;
    size_t sum;
} Row;

typedef struct Rows {
    Row *rows;
    size_t senders;
    bool alone;
    size_t ends;
} Rows;

typedef struct Table {
    size_t bytes;
    bool (*open)(size_t senders, size_t receivers, void **all_senders, void **all_receivers);
    void (*drop_sender)(void *sender);
    void (*drop_receiver)(void *receiver);
    bool (*send)(void *sender, const void *message);
    bool (*receive)(void *receiver, void *message);
    bool (*pour)(void *sender, size_t first, size_t count);
    bool (*finish)(void *sender);
    Verdict (*drain)(void *receiver, size_t count);
    Verdict (*expect_end)(void *receiver);
    bool (*pour_batches)(void *sender, size_t count, size_t batch);
    Verdict (*drain_batches)(void *receiver, size_t count, bool *ended);
    Verdict (*drain_rows)(void *receiver, Rows *rows);
    Verdict (*serve)(void *sender, void *receiver, size_t bounces);
    Verdict (*answer)(void *receiver, void *sender);
} Table;

/* The number of bits of a message's number within its sender's sequence. */
enum { ROW_BITS = 40 };

/* Whether the expected number was received, which is noted. */
static inline bool ybench_check(Rows *rows, size_t number, Verdict *verdict) {
    const size_t from = number >> ROW_BITS;
    const size_t message = number & (((size_t)1 << ROW_BITS) - 1);
    if (from >= rows->senders) {
        *verdict = (Verdict){ONE_TOO_MANY, 0, number};
        return false;
    }
    Row *row = &rows->rows[from];
    if (message < row->next || (rows->alone && message > row->next)) {
        *verdict = (Verdict){WRONG_NUMBER, from << ROW_BITS | row->next, number};
        return false;
    }
    *row = (Row){message + 1, row->count + 1, row->sum + message};
    return true;
}

#endif
