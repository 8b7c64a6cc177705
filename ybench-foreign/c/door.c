/* The binding from C, measured by examples/door. */

#include "door.h"

#include "message.h"

#define DEFINE(name, type) YS_DEFINE_PIPE(name, type)

#define CHANNEL of_8
#define BYTES 8
#include "door_loops.h"
#undef CHANNEL
#undef BYTES

#define CHANNEL of_24
#define BYTES 24
#include "door_loops.h"
#undef CHANNEL
#undef BYTES

#define CHANNEL of_64
#define BYTES 64
#include "door_loops.h"
#undef CHANNEL
#undef BYTES

#define CHANNEL of_128
#define BYTES 128
#include "door_loops.h"
#undef CHANNEL
#undef BYTES

static void close_both(ys_tx *tx, ys_rx *rx) {
    ys_tx_free(tx);
    ys_rx_free(rx);
}

#define DOOR(size)                                                                                                             \
    {                                                                                                                          \
        size, door_of_##size##_open, close_both, door_of_##size##_inlined, door_of_##size##_calls, door_of_##size##_runs,      \
            door_of_##size##_batches                                                                                           \
    }

const Door *ybench_door_c(void);
const Door *ybench_door_c(void) {
    static const Door all[] = {DOOR(8), DOOR(24), DOOR(64), DOOR(128)};
    return all;
}
