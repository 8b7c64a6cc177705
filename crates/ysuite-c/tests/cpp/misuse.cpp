// What must not compile, and what its twin, which does nothing wrong, must: see tests/misuse. Case 0 is all of them.
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <ysuite.hpp>

struct large {
  char bytes[129];
};
struct alignas(32) strict {
  char bytes[32];
};
struct throwing {
  throwing() = default;
  throwing(throwing &&) noexcept(false) {}
};
struct unassignable {
  unassignable() = default;
  unassignable(unassignable &&) noexcept = default;
  unassignable &operator=(unassignable &&) = delete;
};
struct endless {
  endless() = default;
  endless(endless &&) noexcept {}
  ~endless() noexcept(false) {}
};

#ifdef WRONG
[[maybe_unused]] constexpr bool wrong = true;
#else
[[maybe_unused]] constexpr bool wrong = false;
#endif

#if CASE == 1 || CASE == 0 // says: a message has at most 128 bytes
namespace case_1 {
auto opened() { return ys::pipe<std::conditional_t<wrong, large, char>>(); }
}
#endif

#if CASE == 2 || CASE == 0 // says: a message is aligned to at most 16 bytes
namespace case_2 {
auto opened() { return ys::funnel<std::conditional_t<wrong, strict, int>>(); }
}
#endif

#if CASE == 3 || CASE == 0 // says: a message must have a move constructor that does not throw
namespace case_3 {
auto opened() { return ys::pipe<std::conditional_t<wrong, throwing, std::string>>(); }
}
#endif

#if CASE == 4 || CASE == 0 // says: a message must have a destructor that does not throw
namespace case_4 {
auto opened() { return ys::pipe<std::conditional_t<wrong, endless, std::string>>(); }
}
#endif

#if CASE == 5 || CASE == 0 // says: a message must have a move constructor that does not throw
namespace case_5 {
auto opened() { return ys::exchange<std::conditional_t<wrong, throwing, std::string>>(); }
}
#endif

#if CASE == 6 || CASE == 0 // says: a message must have a destructor that does not throw
namespace case_6 {
auto opened() { return ys::oneshot<std::conditional_t<wrong, endless, std::string>>(); }
}
#endif

#if CASE == 7 || CASE == 0 // says: deleted
namespace case_7 {
bool copied(ys::sender<int> &tx) {
#ifdef WRONG
  ys::sender<int> other = tx;
#else
  ys::sender<int> other = std::move(tx);
#endif
  return other.closed();
}
}
#endif

#if CASE == 8 || CASE == 0 // says: is assigned by a move, which must not throw
namespace case_8 {
using message = std::conditional_t<wrong, unassignable, std::string>;
bool into(ys::receiver<message> &rx, message &to) { return bool(rx.recv(to)); }
}
#endif

#if CASE == 9 || CASE == 0 // says: nodiscard
namespace case_9 {
void looked_at(ys::sender<int> &tx) {
#ifdef WRONG
  tx.try_send(1);
#else
  (void)tx.try_send(1);
#endif
}
}
#endif

#if CASE == 10 || CASE == 0 // says: must be trivially copyable; use reserve() instead
namespace case_10 {
using message = std::conditional_t<wrong, std::string, int>;
bool hidden(ys::sender<message> &tx, const message &what) { return bool(tx.write(what)); }
}
#endif

#if CASE == 11 || CASE == 0 // says: clone
namespace case_11 {
bool more(ys::funnel_sender<int> &tx) {
#ifdef WRONG
  ys::sender<int> &one = tx;
  return one.clone().closed();
#else
  return tx.clone().closed();
#endif
}
}
#endif

#if CASE == 12 || CASE == 0 // says: an object of a type without const, no reference and no array
namespace case_12 {
auto opened() { return ys::pipe<std::conditional_t<wrong, const int, int>>(); }
}
#endif

#if CASE == 13 || CASE == 0 // says: an object of a type without const, no reference and no array
namespace case_13 {
auto opened() { return ys::exchange<std::conditional_t<wrong, const int, int>>(); }
}
#endif

#if CASE == 14 || CASE == 0 // says: no matching
namespace case_14 {
struct owner {
  std::unique_ptr<int> only;
};
bool copied(ys::exchange_sender<owner> &tx, owner &what) {
#ifdef WRONG
  return bool(tx.send(what));
#else
  return bool(tx.send(std::move(what)));
#endif
}
}
#endif

#if CASE == 15 || CASE == 0 // says: an object of a type without const, no reference and no array
namespace case_15 {
auto opened() { return ys::oneshot<std::conditional_t<wrong, int[2], std::unique_ptr<strict>>>(); }
}
#endif

#if CASE == 16 || CASE == 0 // says: deleted
namespace case_16 {
auto opened() { return ys::exchange<std::unique_ptr<int>>(); }
using sender = ys::exchange_sender<int>;
bool copied(sender &tx) {
#ifdef WRONG
  sender other = tx;
#else
  sender other = tx.clone();
#endif
  return other.closed();
}
}
#endif

#if CASE == 17 || CASE == 0 // says: this type has constructors, use ysuite.hpp
using message = std::conditional_t<wrong, std::string, int>;
YS_DEFINE_EXCHANGE(ends, message);
#endif

#if CASE == 18 || CASE == 0 // says: nodiscard
namespace case_18 {
void looked_at(ys::receiver<int> &rx) {
#ifdef WRONG
  rx.try_recv();
#else
  (void)rx.try_recv();
#endif
}
}
#endif

#if CASE == 19 || CASE == 0 // says: nodiscard
namespace case_19 {
void looked_at(ys::sender<int> &tx) {
#ifdef WRONG
  tx.reserve();
#else
  // Closing returns nothing that must be checked.
  tx.close();
#endif
}
}
#endif

#if CASE == 20 || CASE == 0 // says: deleted
namespace case_20 {
void carried(ys::sender<std::unique_ptr<int>> &tx, std::unique_ptr<int> message) {
#ifdef WRONG
  (void)tx.emplace(message);
#else
  (void)tx.emplace(std::move(message));
#endif
}
}
#endif
