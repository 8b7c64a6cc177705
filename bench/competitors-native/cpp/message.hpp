// The messages: a number, alone or as a block whose words all hold it. The same as `transport::message` of the
// instrument in Rust: making a message writes all of it, and its check reads all of it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ybench {

/// The message after the last one.
constexpr std::size_t end_of_stream = SIZE_MAX;

template <std::size_t Words> struct Message {
    std::size_t words[Words];

    static Message numbered(std::size_t number) {
        Message message;
        for (std::size_t &word : message.words) {
            word = number;
        }
        return message;
    }

    /// An invalid number if any word disagrees.
    std::size_t number() const {
        const std::size_t first = words[0];
        std::size_t wrong = 0;
        // Without an early return, so that it runs at the speed of the loads.
        for (const std::size_t word : words) {
            wrong |= word ^ first;
        }
        return wrong == 0 ? first : first ^ wrong ^ SIZE_MAX >> 1;
    }
};

/// Only the number: a compiler moves an array through memory where a number would not be, as in an optional.
template <> struct Message<1> {
    std::size_t word;

    static Message numbered(std::size_t number) { return {number}; }
    std::size_t number() const { return word; }
};

} // namespace ybench
