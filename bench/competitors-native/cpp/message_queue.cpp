// boost::interprocess::message_queue: a heap of messages by priority in named shared memory, behind a mutex and two conditions.
// Both sides sleep in its calls. All messages have one priority. Its documentation recommends nothing else.

#include <boost/interprocess/ipc/message_queue.hpp>

#include <cstddef>
#include <new>

using boost::interprocess::message_queue;

extern "C" {

// Null: it cannot be made, or not opened.
void* ybench_native_message_queue_make(const char* name, std::size_t messages, std::size_t bytes) {
    try {
        return new message_queue(boost::interprocess::create_only, name, messages, bytes);
    } catch (...) {
        return nullptr;
    }
}

void* ybench_native_message_queue_open(const char* name) {
    try {
        return new message_queue(boost::interprocess::open_only, name);
    } catch (...) {
        return nullptr;
    }
}

void ybench_native_message_queue_drop(void* queue) { delete static_cast<message_queue*>(queue); }

bool ybench_native_message_queue_send(void* queue, const void* message, std::size_t bytes) {
    try {
        static_cast<message_queue*>(queue)->send(message, bytes, 0);
        return true;
    } catch (...) {
        return false;
    }
}

bool ybench_native_message_queue_receive(void* queue, void* message, std::size_t bytes) {
    try {
        message_queue::size_type received = 0;
        unsigned priority = 0;
        static_cast<message_queue*>(queue)->receive(message, bytes, received, priority);
        return received == bytes;
    } catch (...) {
        return false;
    }
}

} // extern "C"
