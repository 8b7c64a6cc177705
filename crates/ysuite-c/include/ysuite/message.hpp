/** @file ysuite/message.hpp
 *  Which types may be messages, and how they get into slots and out of them.
 */
#ifndef YSUITE_MESSAGE_HPP
#define YSUITE_MESSAGE_HPP

#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "geometry.h"
#include "inline.h"

namespace ys {

/** How a type travels as a pointer through channels that move bytes. Specialise it for an owner of your own:
 *  `static void *release(T &) noexcept` gives the pointer away, `static T adopt(void *) noexcept` takes it back. */
template <class T>
struct as_pointer {
  static constexpr bool value = false;
};

/** A std::unique_ptr without a state in its deleter. */
template <class U, class D>
struct as_pointer<std::unique_ptr<U, D>> {
  using owner = std::unique_ptr<U, D>;
  using pointer = typename owner::pointer;
  static constexpr bool value = std::is_empty_v<D> && std::is_default_constructible_v<D> && std::is_pointer_v<pointer>;

  static void *release(owner &from) noexcept { return const_cast<void *>(static_cast<const volatile void *>(from.release())); }
  static owner adopt(void *address) noexcept { return owner(static_cast<pointer>(address)); }
};

namespace detail {

/* A message that is built and destroyed in its slot. */
template <class T>
struct in_place {
  static_assert(std::is_object_v<T> && !std::is_array_v<T> && std::is_same_v<T, std::remove_cv_t<T>>,
                "ysuite: a message is an object of a type without const, no reference and no array");
  static_assert(sizeof(T) <= YS_LARGEST, "ysuite: a message has at most 128 bytes; send a std::unique_ptr or a ys::pool_message instead");
  static_assert(alignof(T) <= YS_STRICTEST, "ysuite: a message is aligned to at most 16 bytes; send a std::unique_ptr to it instead");
  static_assert(std::is_nothrow_destructible_v<T>, "ysuite: a message must have a destructor that does not throw");
  static_assert(std::is_nothrow_move_constructible_v<T>, "ysuite: a message must have a move constructor that does not throw");

  static constexpr std::size_t size = sizeof(T);
  static constexpr std::size_t align = alignof(T);
  /* How far slots lie apart. */
  static constexpr std::size_t stride = YS_CLASS(sizeof(T), alignof(T));
  static constexpr bool is_bytes = std::is_trivially_copyable_v<T>;

  /* The message in a slot. */
  static T *at(void *slot) noexcept { return std::launder(static_cast<T *>(slot)); }
  static T *at(unsigned char *first, std::size_t index) noexcept { return at(static_cast<void *>(first + index * stride)); }

  template <class... Args>
  static constexpr bool builds_nothrow() noexcept {
    if constexpr (std::is_constructible_v<T, Args...>) {
      return std::is_nothrow_constructible_v<T, Args...>;
    } else {
      return noexcept(T{std::declval<Args>()...});
    }
  }

  /* Builds a message; by braces where there is no such constructor. */
  template <class... Args>
  static T *build(void *slot, Args &&...args) noexcept(builds_nothrow<Args...>()) {
    if constexpr (std::is_constructible_v<T, Args...>) {
      return ::new (slot) T(std::forward<Args>(args)...);
    } else {
      return ::new (slot) T{std::forward<Args>(args)...};
    }
  }

  /* Moves a message into a slot, or copies it; what is bytes as the functions of C do. */
  static void move_in(void *slot, T &message) noexcept {
    if constexpr (is_bytes) {
      ys_copy_(slot, std::addressof(message), size, align);
    } else {
      build(slot, std::move(message));
    }
  }
  static void copy_in(void *slot, const T &message) noexcept(std::is_nothrow_copy_constructible_v<T>) {
    if constexpr (is_bytes) {
      ys_copy_(slot, std::addressof(message), size, align);
    } else {
      build(slot, message);
    }
  }

  /* Messages that are never received. */
  static void drop(void *slot, void *) noexcept { at(slot)->~T(); }
};

/* Moves a message back to whom it was moved from. */
template <class T>
void give_back(T &to, T &from) noexcept {
  if constexpr (std::is_nothrow_move_assignable_v<T>) {
    to = std::move(from);
  } else {
    /* As a T, which may be the base of what was handed over: the rest of that object was not moved, and stays. But a T with virtual
       functions is a T from now on, so one that cannot be assigned must be handed over as the whole object. Its old name is the new
       object's also where members are const or references: of C++17 that is so since the defect report P1971 (RU 007), by which all
       compilers go. */
    to.T::~T();
    ::new (static_cast<void *>(std::addressof(to))) T(std::move(from));
  }
}

/* What is moved by copying its bytes, and fits. */
template <class T>
inline constexpr bool is_bytes_v =
    std::is_trivially_copyable_v<T> && !as_pointer<T>::value && sizeof(T) <= YS_LARGEST && alignof(T) <= YS_STRICTEST;

/* A message that a channel moves as bytes: a copy of itself, the pointer that it travels as, or the address of a box, in which it is built
 * once and stays until it is received. */
template <class T>
struct by_bytes {
  static constexpr bool is_pointer = as_pointer<T>::value;
  static constexpr bool is_boxed = !is_pointer && !is_bytes_v<T>;
  static_assert(std::is_object_v<T> && !std::is_array_v<T> && std::is_same_v<T, std::remove_cv_t<T>>,
                "ysuite: a message is an object of a type without const, no reference and no array");
  static_assert(!is_boxed || std::is_nothrow_destructible_v<T>, "ysuite: a message must have a destructor that does not throw");
  static_assert(!is_boxed || std::is_nothrow_move_constructible_v<T>, "ysuite: a message must have a move constructor that does not throw");

  using bytes = std::conditional_t<is_bytes_v<T>, T, void *>;
  using box_type = T;
  static constexpr bool arrives_nothrow = true;
  static constexpr bool drops = is_boxed || !std::is_trivially_destructible_v<T>;

  static T &inside(T &box) noexcept { return box; }

  /* Builds a message in a box. Null: there is no memory. What its constructor throws passes. */
  template <class... Args>
  static T *box(Args &&...args) {
    if constexpr (std::is_constructible_v<T, Args...>) {
      return new (std::nothrow) T(std::forward<Args>(args)...);
    } else {
      return new (std::nothrow) T{std::forward<Args>(args)...};
    }
  }

  /* The message that has arrived as these bytes. */
  static T arrived(void *bytes) noexcept {
    if constexpr (is_bytes_v<T>) {
      return std::move(*std::launder(static_cast<T *>(bytes)));
    } else if constexpr (is_pointer) {
      return as_pointer<T>::adopt(address(bytes));
    } else {
      const std::unique_ptr<T> box(static_cast<T *>(address(bytes)));
      return T(std::move(*box));
    }
  }

  /* Messages that are never received. */
  static void drop(void *slot, void *) noexcept {
    if constexpr (is_pointer) {
      [[maybe_unused]] const T owner = as_pointer<T>::adopt(address(slot));
    } else if constexpr (is_boxed) {
      delete static_cast<T *>(address(slot));
    } else {
      (void)slot;
    }
  }

  /* What was sent by its address. */
  static void *address(const void *bytes) noexcept {
    void *address;
    std::memcpy(&address, bytes, sizeof(address));
    return address;
  }
};

template <class It>
struct is_move_iterator : std::false_type {};
template <class It>
struct is_move_iterator<std::move_iterator<It>> : std::true_type {
  using base = It;
};

/* Iterators of newer standards that pass once may have no category. */
template <class It, class = void>
struct is_forward : std::false_type {};
template <class It>
struct is_forward<It, std::void_t<typename std::iterator_traits<It>::iterator_category>>
    : std::is_base_of<std::forward_iterator_tag, typename std::iterator_traits<It>::iterator_category> {};
template <class It>
inline constexpr bool is_forward_v = is_forward<It>::value;

/* Iterators of newer standards whose elements are no objects, as those of many views, say by another name that they
   pass more than once: by category they are input iterators. */
template <class It, class = void>
struct is_forward_by_concept : std::false_type {};
template <class It>
struct is_forward_by_concept<It, std::void_t<typename It::iterator_concept>>
    : std::is_base_of<std::forward_iterator_tag, typename It::iterator_concept> {};

/* The base of iterators that pass once, and never wait for what comes next: it is there. */
struct at_hand {};

/* Whether the next element exists already, and is not made by a thread that may wait for the one before. Either
   name will do: of a std::move_iterator the concept is an input iterator's, whatever it goes over. */
template <class It>
inline constexpr bool is_at_hand_v =
    is_forward_v<It> || is_forward_by_concept<It>::value || std::is_base_of<at_hand, It>::value;

}  // namespace detail
}  // namespace ys

#endif
