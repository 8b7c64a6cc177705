// std.concurrency of D: one run in a process of its own. Called as
//
//   concurrency stream|ping-pong BYTES MESSAGES FIRST-CPU SECOND-CPU
//
// it prints "kept START END" in nanoseconds of the monotonic clock, which is that of the instrument, or the expected
// and the received message. Every message is checked.
//
// The documentation's own way: `spawn`, `send`, and `receive` with a handler. A mailbox has no bound by default; a
// thread that finds nothing sleeps at once, on a condition variable.

import core.sys.linux.sched : CPU_SET, cpu_set_t, sched_setaffinity;
import core.sys.posix.time : clock_gettime, CLOCK_MONOTONIC, timespec;
import core.sys.posix.unistd : alarm;
import std.concurrency : receive, receiveOnly, send, spawn, thisTid, Tid;
import std.conv : to;
import std.stdio : stderr, writeln;

/// A number in all its words: making one writes all of it, and its check reads all of it.
struct Message(size_t words)
{
    size_t[words] content;

    static Message numbered(size_t number)
    {
        Message message = void;
        foreach (ref word; message.content)
            word = number;
        return message;
    }

    /// An invalid number if any word disagrees.
    size_t number() const
    {
        const first = content[0];
        size_t wrong = 0;
        foreach (word; content)
            wrong |= word ^ first;
        return wrong == 0 ? first : first ^ wrong ^ size_t.max >> 1;
    }
}

/// After the last message: the time of the first send.
struct Begun
{
    long nanoseconds;
}

struct Wrong
{
    size_t expected;
    size_t received;
}

long now()
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1_000_000_000L + time.tv_nsec;
}

void keepOn(size_t cpu)
{
    cpu_set_t cpus;
    CPU_SET(cpu, &cpus);
    if (sched_setaffinity(0, cpus.sizeof, &cpus) != 0)
        stderr.writeln("a thread may not choose its CPU");
}

void pour(size_t words)(Tid to, size_t messages, size_t cpu)
{
    keepOn(cpu);
    // The receiver exists and waits.
    receiveOnly!bool();
    const begun = now();
    foreach (number; 0 .. messages)
        to.send(Message!words.numbered(number));
    to.send(Begun(begun));
}

void drain(size_t words)(size_t messages, size_t[2] cpus)
{
    keepOn(cpus[1]);
    spawn(&pour!words, thisTid, messages, cpus[0]).send(true);
    foreach (expected; 0 .. messages)
    {
        // A stream that ends early is caught as well.
        size_t received = size_t.max;
        receive((Message!words message) { received = message.number; }, (Begun early) {});
        if (received != expected)
            return writeln("wrong ", expected, " ", received);
    }
    const end = now();
    long begun = -1;
    size_t more;
    receive((Begun last) { begun = last.nanoseconds; }, (Message!words message) { more = message.number; });
    if (begun < 0)
        return writeln("wrong ", messages, " ", more);
    writeln("kept ", begun, " ", end);
}

void answer(size_t words)(Tid back, size_t bounces, size_t cpu)
{
    keepOn(cpu);
    foreach (expected; 0 .. bounces)
    {
        // Not `const`: that would be a message of another type, without a handler.
        auto message = receiveOnly!(Message!words)();
        if (message.number != expected)
            return back.send(Wrong(expected, message.number));
        back.send(message);
    }
}

void serve(size_t words)(size_t messages, size_t[2] cpus)
{
    keepOn(cpus[0]);
    const bounces = messages / 2;
    auto there = spawn(&answer!words, thisTid, bounces, cpus[1]);
    const begun = now();
    foreach (number; 0 .. bounces)
    {
        there.send(Message!words.numbered(number));
        Wrong wrong = Wrong(number, number);
        receive((Message!words message) { wrong.received = message.number; }, (Wrong seen) { wrong = seen; });
        if (wrong.received != wrong.expected)
            return writeln("wrong ", wrong.expected, " ", wrong.received);
    }
    writeln("kept ", begun, " ", now());
}

void run(size_t words)(string what, size_t messages, size_t[2] cpus)
{
    if (what == "stream")
        drain!words(messages, cpus);
    else
        serve!words(messages, cpus);
}

int main(string[] arguments)
{
    if (arguments.length != 6)
        return 2;
    // The instrument's time limit has passed long before.
    alarm(60);
    const messages = arguments[3].to!size_t;
    const size_t[2] cpus = [arguments[4].to!size_t, arguments[5].to!size_t];
    switch (arguments[2])
    {
    case "8":
        run!1(arguments[1], messages, cpus);
        return 0;
    case "24":
        run!3(arguments[1], messages, cpus);
        return 0;
    case "64":
        run!8(arguments[1], messages, cpus);
        return 0;
    case "256":
        run!32(arguments[1], messages, cpus);
        return 0;
    default:
        return 2;
    }
}
