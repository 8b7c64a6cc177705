// The binding from C++, measured by examples/binding.

#include <cstddef>
#include <optional>

#include <ysuite.hpp>

#include "../c/binding.h"
#include "message.hpp"

namespace of_binding {

template <std::size_t Words> struct Loops {
    using Message = ybench::Message<Words>;

    static bool open(bool window, ys_tx **tx, ys_rx **rx) {
        ys_options options = YS_OPTIONS_FOR(Message);
        if (!window) {
            options.window = 0;
        }
        return ys_pipe_open(&options, tx, rx) == YS_OK;
    }

    static void close(ys_tx *tx, ys_rx *rx) {
        ys_tx_free(tx);
        ys_rx_free(rx);
    }

    /// Handles of C as those of C++, as long as this lives.
    struct Lent {
        ys::sender<Message> tx;
        ys::receiver<Message> rx;

        Lent(ys_tx *sending, ys_rx *receiving) : tx(sending), rx(receiving) {}
        Lent(const Lent &) = delete;
        Lent &operator=(const Lent &) = delete;
        ~Lent() {
            (void)tx.release();
            (void)rx.release();
        }
    };

    static bool inlined(ys_tx *sending, ys_rx *receiving, std::size_t count, std::size_t burst, std::size_t) {
        Lent ends(sending, receiving);
        std::size_t wrong = 0;
        for (std::size_t first = 0; first < count; first += burst) {
            for (std::size_t at = 0; at < burst; at++) {
                wrong |= !ends.tx.send(Message::numbered(first + at));
            }
            for (std::size_t at = 0; at < burst; at++) {
                const std::optional<Message> message = ends.rx.recv();
                if (!message) {
                    return false;
                }
                wrong |= message->number() ^ (first + at);
            }
        }
        return wrong == 0;
    }

    static bool runs(ys_tx *sending, ys_rx *receiving, std::size_t count, std::size_t burst, std::size_t) {
        Lent ends(sending, receiving);
        std::size_t wrong = 0;
        for (std::size_t first = 0; first < count; first += burst) {
            for (std::size_t sent = 0; sent < burst;) {
                ys::reservation<Message> slots = ends.tx.reserve();
                if (!slots) {
                    return false;
                }
                while (sent < burst && slots.emplace(Message::numbered(first + sent)) != nullptr) {
                    sent++;
                }
                wrong |= !slots.commit();
            }
            std::size_t received = 0;
            for (ys::run<Message> &run : ends.rx.runs()) {
                for (const Message &message : run) {
                    wrong |= message.number() ^ (first + received++);
                }
                if (received == burst) {
                    break;
                }
            }
        }
        return wrong == 0;
    }

    static constexpr Binding binding{Words * sizeof(std::size_t), open, close, inlined, nullptr, runs, nullptr};
};

} // namespace of_binding

extern "C" const Binding *ybench_binding_cpp() {
    static const Binding all[] = {of_binding::Loops<1>::binding, of_binding::Loops<3>::binding, of_binding::Loops<8>::binding, of_binding::Loops<16>::binding};
    return all;
}
