/** @file ysuite/geometry.h
 *  Where messages lie, as constant expressions: size classes, and groups of slots of window version 2.
 *
 *  A message of `size` bytes is in a slot of `YS_CLASS(size, align)` bytes. spsc and mpsc channels keep their slots in
 *  groups: one word of state, then slots side by side. Programs need the class only; the rest serves the inline path of
 *  ysuite/inline.h.
 */
#ifndef YSUITE_GEOMETRY_H
#define YSUITE_GEOMETRY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define YS_STATIC_ASSERT(condition, sentence) static_assert(condition, sentence)
#define YS_ALIGNOF(type) alignof(type)
/* Conversions, as either language has them: of values and of pointers to void; and between pointers and numbers. */
#define YS_TO_(type, value) static_cast<type>(value)
#define YS_AS_(type, value) reinterpret_cast<type>(value)
#else
#define YS_STATIC_ASSERT(condition, sentence) _Static_assert(condition, sentence)
#define YS_ALIGNOF(type) _Alignof(type)
#define YS_TO_(type, value) ((type)(value))
#define YS_AS_(type, value) ((type)(value))
#endif

/** The largest message, in bytes. Larger ones travel as messages of a pool. */
#define YS_LARGEST 128
/** The strictest alignment of a message, in bytes. */
#define YS_STRICTEST 16

/** What slots are aligned to for messages aligned to `align`: 8 or 16. */
#define YS_SLOT_ALIGN(align) YS_TO_(size_t, (align) > 8 ? 16 : 8)

/** The bytes of a slot, and so how far slots lie apart: 8, 16, 24, 32, 48, 64, 96 or 128; aligned to 16: 16, 32, 48, 64, 96 or 128. */
#define YS_CLASS(size, align)                                                                                                  \
  YS_TO_(size_t, ((size) <= 8 && (align) <= 8    ? 8                                                                           \
            : (size) <= 16                 ? 16                                                                                \
            : (size) <= 24 && (align) <= 8 ? 24                                                                                \
            : (size) <= 32                 ? 32                                                                                \
            : (size) <= 48                 ? 48                                                                                \
            : (size) <= 64                 ? 64                                                                                \
            : (size) <= 96                 ? 96                                                                                \
                                           : 128))

/** Whether a channel can be opened for such messages: 1 to 128 bytes, aligned to a power of two of at most 16. */
#define YS_FITS(size, align)                                                                                                   \
  ((size) >= 1 && (size) <= YS_LARGEST && (align) >= 1 && (align) <= YS_STRICTEST && ((align) & ((align)-1)) == 0)

/** Where the first slot of a group begins, in bytes from the group's beginning; the word of state is before it. */
#define YS_GROUP_FIRST(size, align) YS_SLOT_ALIGN(align)
/* How many slots there are in one line, in two, in eight and in sixteen. */
#define YS_GROUP_IN_(bytes, size, align) (((bytes)-YS_GROUP_FIRST(size, align)) / YS_CLASS(size, align))
#define YS_GROUP_IS_ONE_(size, align)                                                                                          \
  (YS_GROUP_IN_(64, size, align) > 2 || (YS_GROUP_IN_(64, size, align) == 2 && YS_GROUP_IN_(128, size, align) == 4))

/** How far groups lie apart, in bytes: 64, 128, 512 or 1024. Groups begin at its multiples. */
#define YS_GROUP_STRIDE(size, align)                                                                                           \
  YS_TO_(size_t, (YS_GROUP_IS_ONE_(size, align)            ? 64                                                                \
            : YS_GROUP_IN_(128, size, align) > 4     ? 128                                                                     \
            : YS_GROUP_IN_(512, size, align) > 3     ? 512                                                                     \
                                                     : 1024))

/** How many slots a group has. */
#define YS_GROUP_SLOTS(size, align) YS_TO_(size_t, YS_GROUP_IN_(YS_GROUP_STRIDE(size, align), size, align))

/** Where the last slot of a group ends, in bytes from the group's beginning. */
#define YS_GROUP_END(size, align) (YS_GROUP_FIRST(size, align) + YS_GROUP_SLOTS(size, align) * YS_CLASS(size, align))

#endif
