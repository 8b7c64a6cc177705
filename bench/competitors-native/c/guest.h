/* One kind of channel of ysuite.h as a competitor: its loops for messages of 8, 24 and 64 bytes, and the instrument's
   function for it. Included once by a file that has defined DEFINE, CLONES_TX, CLONES_RX and HAS_RUNS, as loops.h has
   them. A message has 128 bytes at most: for those of 256 nothing can be opened. */
#include <ysuite.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "message.h"
#include "table.h"

#define CHANNEL of_8
#define BYTES 8
#include "loops.h"
#undef CHANNEL
#undef BYTES

#define CHANNEL of_24
#define BYTES 24
#include "loops.h"
#undef CHANNEL
#undef BYTES

#define CHANNEL of_64
#define BYTES 64
#include "loops.h"
#undef CHANNEL
#undef BYTES

static void drop_sender(void *end) { ys_tx_free(end); }
static void drop_receiver(void *end) { ys_rx_free(end); }

static inline bool refuse(size_t senders, size_t receivers, void **all_senders, void **all_receivers) {
    (void)senders, (void)receivers, (void)all_senders, (void)all_receivers;
    return false;
}

#define TABLE_OF(channel, size, opened)                                                                                        \
    {                                                                                                                          \
        size, opened, drop_sender, drop_receiver, loop_##channel##_send, loop_##channel##_receive, loop_##channel##_pour,      \
            loop_##channel##_finish, loop_##channel##_drain, loop_##channel##_expect_end, loop_##channel##_pour_batches,       \
            loop_##channel##_drain_batches, loop_##channel##_drain_rows, loop_##channel##_serve, loop_##channel##_answer       \
    }

#define OPENS(name, channel, room, spin)                                                                                       \
    static bool name##_##channel(size_t senders, size_t receivers, void **all_senders, void **all_receivers) {                 \
        return loop_##channel##_open(room, spin, senders, receivers, all_senders, all_receivers);                              \
    }

/* The instrument's function for a channel: with room for `room` messages, or for any number if that is 0. */
#define YBENCH_EXPORT(name, room, spin)                                                                                        \
    OPENS(name, of_8, room, spin)                                                                                              \
    OPENS(name, of_24, room, spin)                                                                                             \
    OPENS(name, of_64, room, spin)                                                                                             \
    const Table *ybench_native_##name(void);                                                                                  \
    const Table *ybench_native_##name(void) {                                                                                 \
        static const Table all[] = {                                                                                           \
            TABLE_OF(of_8, 8, name##_of_8),                                                                                    \
            TABLE_OF(of_24, 24, name##_of_24),                                                                                 \
            TABLE_OF(of_64, 64, name##_of_64),                                                                                 \
            TABLE_OF(of_64, 256, refuse),                                                                                      \
        };                                                                                                                     \
        return all;                                                                                                            \
    }
