#pragma once

#include <chrono>

namespace entrain::base {

// Who waits for what comes within microseconds looks for it before falling asleep (docs/adr/0080), as long as every
// thread and process of the program that may do so has a processor of its own.

/// Threads and processes beside the calling thread that may look while this object lives.
class Lookers {
 public:
  explicit Lookers(int count = 0) { set(count); }
  ~Lookers() { set(0); }
  Lookers(const Lookers&) = delete;
  Lookers& operator=(const Lookers&) = delete;

  void set(int count);

 private:
  int count_ = 0;
};

/// There is a processor for each who looks.
bool may_look();
/// From now on so many processes like this one share its processors.
void share_processors(int processes);
int processes_that_share();
/// That this process may use.
int processors();

/// As long as it takes to fall asleep and to be woken, so that a wait costs at most twice what the better choice would.
inline constexpr std::chrono::microseconds kLooking(50);

/// Looks for a while; false when `changed` was false all the time.
template <class Changed>
bool look_until(Changed&& changed) {
  constexpr int kLooksPerClock = 32;
  const auto until = std::chrono::steady_clock::now() + kLooking;
  do {
    for (int i = 0; i < kLooksPerClock; ++i) {
      if (changed()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

}  // namespace entrain::base
