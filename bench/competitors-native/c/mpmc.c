/* mpmc of ysuite from C: any number of handles, one order of all messages. By calls, batches as arrays. */

#define DEFINE(name, type) YS_DEFINE_EXCHANGE(name, type)
#define CLONES_TX 1
#define CLONES_RX 1
#define HAS_RUNS 0
#include "guest.h"

YBENCH_EXPORT(ysuite_c_mpmc, 0, YS_SPIN_ADAPTIVE)
YBENCH_EXPORT(ysuite_c_mpmc_1k, 1024, YS_SPIN_ADAPTIVE)
