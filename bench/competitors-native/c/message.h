/* The messages: a number, in every word of a message. The same as cpp/message.hpp. */
#ifndef YBENCH_MESSAGE_H
#define YBENCH_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

/* The message after the last one. */
#define YBENCH_END_OF_STREAM SIZE_MAX

static inline void ybench_write_number(size_t *words, size_t count, size_t number) {
    for (size_t at = 0; at < count; at++) {
        words[at] = number;
    }
}

/* An invalid number if any word disagrees. */
static inline size_t ybench_number(const size_t *words, size_t count) {
    size_t wrong = 0;
    /* Without an early return, so that it runs at the speed of the loads. */
    for (size_t at = 1; at < count; at++) {
        wrong |= words[at] ^ words[0];
    }
    return wrong == 0 ? words[0] : words[0] ^ wrong ^ SIZE_MAX >> 1;
}

#endif
