/* The binding from C, measured by examples/binding. */

#include "binding.h"

#include "message.h"

#define DEFINE(name, type) YS_DEFINE_PIPE(name, type)

#define CHANNEL of_8
#define BYTES 8
#include "binding_loops.h"
#undef CHANNEL
#undef BYTES

#define CHANNEL of_24
#define BYTES 24
#include "binding_loops.h"
#undef CHANNEL
#undef BYTES

#define CHANNEL of_64
#define BYTES 64
#include "binding_loops.h"
#undef CHANNEL
#undef BYTES

#define CHANNEL of_128
#define BYTES 128
#include "binding_loops.h"
#undef CHANNEL
#undef BYTES

static void close_both(ys_tx *tx, ys_rx *rx) {
    ys_tx_free(tx);
    ys_rx_free(rx);
}

#define BINDING(size)                                                                                                             \
    {                                                                                                                          \
        size, binding_of_##size##_open, close_both, binding_of_##size##_inlined, binding_of_##size##_calls, binding_of_##size##_runs,      \
            binding_of_##size##_batches                                                                                           \
    }

const Binding *ybench_binding_c(void);
const Binding *ybench_binding_c(void) {
    static const Binding all[] = {BINDING(8), BINDING(24), BINDING(64), BINDING(128)};
    return all;
}
