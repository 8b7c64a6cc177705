// What must not compile, and what its twin, which does nothing wrong, must: see tests/misuse.
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

#if CASE == 1 // says: a message has at most 128 bytes
auto opened() { return ys::pipe<std::conditional_t<wrong, large, char>>(); }
#elif CASE == 2 // says: a message is aligned to at most 16 bytes
auto opened() { return ys::funnel<std::conditional_t<wrong, strict, int>>(); }
#elif CASE == 3 // says: a message must have a move constructor that does not throw
auto opened() { return ys::pipe<std::conditional_t<wrong, throwing, std::string>>(); }
#elif CASE == 4 // says: a message must have a destructor that does not throw
auto opened() { return ys::pipe<std::conditional_t<wrong, endless, std::string>>(); }
#elif CASE == 5 // says: trivially copyable
auto opened() { return ys::exchange<std::conditional_t<wrong, std::string, std::unique_ptr<std::string>>>(); }
#elif CASE == 6 // says: trivially copyable
auto opened() { return ys::oneshot<std::conditional_t<wrong, std::string, int>>(); }
#elif CASE == 7 // says: deleted
bool copied(ys::sender<int> &tx) {
#ifdef WRONG
  ys::sender<int> other = tx;
#else
  ys::sender<int> other = std::move(tx);
#endif
  return other.closed();
}
#elif CASE == 8 // says: is assigned by a move, which must not throw
using message = std::conditional_t<wrong, unassignable, std::string>;
bool into(ys::receiver<message> &rx, message &to) { return bool(rx.recv(to)); }
#elif CASE == 9 // says: nodiscard
void looked_at(ys::sender<int> &tx) {
#ifdef WRONG
  tx.try_send(1);
#else
  (void)tx.try_send(1);
#endif
}
#elif CASE == 10 // says: must be trivially copyable; use reserve() instead
using message = std::conditional_t<wrong, std::string, int>;
bool hidden(ys::sender<message> &tx, const message &what) { return bool(tx.write(what)); }
#elif CASE == 11 // says: clone
bool more(ys::funnel_sender<int> &tx) {
#ifdef WRONG
  ys::sender<int> &one = tx;
  return one.clone().closed();
#else
  return tx.clone().closed();
#endif
}
#elif CASE == 12 // says: an object of a type without const, no reference and no array
auto opened() { return ys::pipe<std::conditional_t<wrong, const int, int>>(); }
#elif CASE == 13 // says: an object of a type without const, no reference and no array
auto opened() { return ys::exchange<std::conditional_t<wrong, const int, int>>(); }
#elif CASE == 14 // says: a message has at most 128 bytes
auto opened() { return ys::exchange<std::conditional_t<wrong, large, std::unique_ptr<large>>>(); }
#elif CASE == 15 // says: a message is aligned to at most 16 bytes
auto opened() { return ys::oneshot<std::conditional_t<wrong, strict, std::unique_ptr<strict>>>(); }
#elif CASE == 16 // says: trivially copyable
struct stateful {
  int state;
  void operator()(int *what) const { delete what; }
};
using pointer = std::conditional_t<wrong, std::unique_ptr<int, stateful>, std::unique_ptr<int>>;
auto opened() { return ys::exchange<pointer>(); }
#elif CASE == 17 // says: this type has constructors, use ysuite.hpp
using message = std::conditional_t<wrong, std::string, int>;
YS_DEFINE_EXCHANGE(ends, message);
#elif CASE == 18 // says: nodiscard
void looked_at(ys::receiver<int> &rx) {
#ifdef WRONG
  rx.try_recv();
#else
  (void)rx.try_recv();
#endif
}
#elif CASE == 19 // says: nodiscard
void looked_at(ys::sender<int> &tx) {
#ifdef WRONG
  tx.reserve();
#else
  // Closing says nothing that must be looked at.
  tx.close();
#endif
}
#elif CASE == 20 // says: deleted
void carried(ys::sender<std::unique_ptr<int>> &tx, std::unique_ptr<int> message) {
#ifdef WRONG
  (void)tx.emplace(message);
#else
  (void)tx.emplace(std::move(message));
#endif
}
#endif
