#include "subsystem/fmi/fmu_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace entrain {
namespace {
constexpr std::size_t kKept = 5;
constexpr std::size_t kLongest = 1000;  // characters of one message
}  // namespace

void FmuLog::add(const char* category, std::string message) {
  if (message.size() > kLongest) message = message.substr(0, kLongest) + "...";
  std::replace_if(
      message.begin(), message.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');  // no terminal codes
  while (!message.empty() && message.back() == ' ') message.pop_back();
  if (category != nullptr && *category != '\0') message = fmt::format("[{}] {}", category, message);
  const std::lock_guard lock(mutex_);
  last_.push_back(std::move(message));
  if (last_.size() > kKept) last_.pop_front();
}

std::string FmuLog::take_text() {
  const std::lock_guard lock(mutex_);
  if (last_.empty()) return {};
  std::string text = fmt::format("; it said: '{}'", fmt::join(last_, "', '"));
  last_.clear();
  return text;
}

}  // namespace entrain
