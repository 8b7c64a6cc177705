/* mpsc of ysuite from C: a lane for each sender. Its senders have a window, its receiver is called. */

#define DEFINE(name, type) YS_DEFINE_FUNNEL(name, type)
#define CLONES_TX 1
#define CLONES_RX 0
#define HAS_RUNS 1
#include "guest.h"

YBENCH_EXPORT(ysuite_c_mpsc, 0, YS_SPIN_ADAPTIVE)
YBENCH_EXPORT(ysuite_c_mpsc_1k, 1024, YS_SPIN_ADAPTIVE)
