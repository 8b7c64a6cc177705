// A user's program, in C++: a thread sends texts through an spsc channel, and this one reads them in place. Exits with
// 0 when all is as it should be; its one argument is the version that the library should have.
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <ysuite.hpp>

constexpr int messages = 10000;

int main(int arguments, char **argument) {
  if (arguments != 2 || std::string(ys_version()) != argument[1]) {
    std::cerr << "the library is of version " << ys_version() << '\n';
    return 1;
  }
  auto [tx, rx] = ys::pipe<std::string>(64);
  int unsent = 0;
  std::thread sender([tx = std::move(tx), &unsent]() mutable {
    for (int number = 0; number < messages; number++)
      if (!tx.send("a text that is too long to be kept in its string, and has a number: " + std::to_string(number))) unsent++;
  });
  int count = 0, wrong = 0;
  for (auto &run : rx.runs())
    for (std::string &text : run)
      if (text.substr(text.rfind(' ') + 1) != std::to_string(count++)) wrong++;
  sender.join();
  std::cout << count << " texts\n";
  return unsent == 0 && wrong == 0 && count == messages ? 0 : 1;
}
