/* The geometry of slots and groups: the header's constants compared with the list of classes, and with the library. */
#include "check.h"

/* Constant expressions: in a static assertion, in an array's length, in an enumeration. */
_Static_assert(YS_CLASS(1, 1) == 8, "class");
_Static_assert(YS_CLASS(17, 16) == 32, "class");
_Static_assert(YS_FITS(128, 16) && !YS_FITS(129, 8) && !YS_FITS(0, 8) && !YS_FITS(8, 32) && !YS_FITS(8, 3), "fits");
enum { OF_GROUP = YS_GROUP_STRIDE(24, 8) };
struct of_a_class {
  unsigned char bytes[YS_CLASS(sizeof(double), _Alignof(double))];
};

struct group {
  size_t size, align, first, slots, stride;
};

static void groups_are_those_of_window_version_2(void) {
  static const struct group groups[] = {
      {8, 8, 8, 7, 64},      {16, 8, 8, 3, 64},     {24, 8, 8, 5, 128},    {32, 8, 8, 15, 512},   {48, 8, 8, 10, 512},
      {64, 8, 8, 7, 512},    {96, 8, 8, 5, 512},    {128, 8, 8, 7, 1024},  {16, 16, 16, 3, 64},   {32, 16, 16, 15, 512},
      {48, 16, 16, 10, 512}, {64, 16, 16, 7, 512},  {96, 16, 16, 5, 512},  {128, 16, 16, 7, 1024},
  };
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    const struct group g = groups[i];
    CHECK_IS(YS_CLASS(g.size, g.align), g.size);
    CHECK_IS(YS_GROUP_FIRST(g.size, g.align), g.first);
    CHECK_IS(YS_GROUP_SLOTS(g.size, g.align), g.slots);
    CHECK_IS(YS_GROUP_STRIDE(g.size, g.align), g.stride);
    CHECK_IS(YS_GROUP_END(g.size, g.align), g.first + g.slots * g.size);
    CHECK(YS_GROUP_END(g.size, g.align) <= g.stride);
  }
  CHECK_IS(OF_GROUP, 128);
  CHECK_IS(sizeof(struct of_a_class), 8);
}

static void every_size_has_the_smallest_class_and_the_library_agrees(void) {
  static const size_t of8[] = {8, 16, 24, 32, 48, 64, 96, 128}, of16[] = {16, 32, 48, 64, 96, 128};
  for (size_t align = 1; align <= 16; align *= 2) {
    const size_t *classes = align > 8 ? of16 : of8;
    for (size_t size = 1; size <= 128; size++) {
      size_t smallest = 0, i = 0;
      while (classes[i] < size) i++;
      smallest = classes[i];
      CHECK_IS(YS_CLASS(size, align), smallest);
      CHECK(YS_FITS(size, align));

      ys_options options = YS_OPTIONS_INIT;
      ys_tx *tx;
      ys_rx *rx;
      options.size = size;
      options.align = align;
      CHECK_IS(ys_pipe_open(&options, &tx, &rx), YS_OK);
      CHECK_IS(ys_tx_stride(tx), smallest);
      CHECK_IS(ys_rx_stride(rx), smallest);
      ys_tx_free(tx);
      ys_rx_free(rx);
    }
  }
}

int main(void) {
  RUN(groups_are_those_of_window_version_2);
  RUN(every_size_has_the_smallest_class_and_the_library_agrees);
  return 0;
}
