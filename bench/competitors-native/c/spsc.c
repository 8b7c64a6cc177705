/* spsc of ysuite from C. Only the room is chosen: a default channel spins a little before it sleeps. */

#define DEFINE(name, type) YS_DEFINE_PIPE(name, type)
#define CLONES_TX 0
#define CLONES_RX 0
#define HAS_RUNS 1
#include "guest.h"

YBENCH_EXPORT(ysuite_c_spsc, 0, YS_SPIN_ADAPTIVE)
YBENCH_EXPORT(ysuite_c_spsc_1k, 1024, YS_SPIN_ADAPTIVE)
YBENCH_EXPORT(ysuite_c_spsc_none, 0, YS_SPIN_NONE)
