#pragma once

#include <deque>
#include <mutex>
#include <string>

namespace entrain {

/// The last messages of one FMU instance. An FMU may log from threads of its own.
class FmuLog {
 public:
  void add(const char* category, std::string message);
  /// "; it said: 'a', 'b'", or nothing when it said nothing since the last call.
  std::string take_text();

 private:
  std::mutex mutex_;
  std::deque<std::string> last_;
};

}  // namespace entrain
