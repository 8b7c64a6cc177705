// Asio, with coroutines in Clang too: one of this age does not see that Clang has those of the standard. WITH_ASIO_END ends the file.
#pragma once

#if defined(__clang__) && defined(__cpp_impl_coroutine)
#define ASIO_HAS_CO_AWAIT 1
#define ASIO_HAS_STD_COROUTINE 1
// Clang 14 cannot compile coroutines with this sanitizer.
#pragma clang diagnostic ignored "-Wignored-attributes"
#pragma clang attribute push(__attribute__((no_sanitize("function"))), apply_to = function)
#define WITH_ASIO_END _Pragma("clang attribute pop")
#else
#define WITH_ASIO_END
#endif

#include <asio.hpp>
#if defined(ASIO_HAS_CO_AWAIT)
#include <asio/experimental/awaitable_operators.hpp>
#endif

#include <ysuite_asio.hpp>
