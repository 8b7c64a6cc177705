/* spsc of ysuite from C, for a language that can only call functions: no window is requested. */

#define YS_NO_INLINE
#define DEFINE(name, type) YS_DEFINE_PIPE(name, type)
#define CLONES_TX 0
#define CLONES_RX 0
#define HAS_RUNS 1
#include "guest.h"

YBENCH_EXPORT(ysuite_c_spsc_by_calls, 0, YS_SPIN_ADAPTIVE)
