#include "subsystem/fmi/fmu_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "base/printable.hpp"

namespace entrain {
namespace {
constexpr std::size_t kKept = 5;
constexpr std::size_t kLongest = 1000;  // bytes of one message
}  // namespace

FmuLog::FmuLog(const std::string& fmu, const FmuCaller& caller)
    : subsystem_(caller.subsystem),
      handler_(caller.log),
      code_({.code = fmt::format("FMU '{}'", printable(fmu)),
             .subsystem = caller.subsystem,
             .timeout = caller.timeout,
             .last_words = [this] {
               // It may have crashed while it logged, with the lock held.
               const std::unique_lock lock(mutex_, std::try_to_lock);
               return lock.owns_lock() ? text() : std::string();
             }}) {}

void FmuLog::add(const char* category, const char* message) {
  if (message == nullptr) return;
  const std::size_t length = ::strnlen(message, kLongest + 1);
  std::string line(message, std::min(length, kLongest));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r' || line.back() == ' ')) line.pop_back();
  line = printable(line);
  if (length > kLongest) line += "...";
  const std::string kind =
      category == nullptr ? "" : printable(std::string_view(category, ::strnlen(category, kLongest)));
  if (handler_) handler_({subsystem_, code_.time().value_or(0.0), kind, line});
  if (!kind.empty()) line = fmt::format("[{}] {}", kind, line);
  const std::lock_guard lock(mutex_);
  last_.push_back(std::move(line));
  if (last_.size() > kKept) last_.pop_front();
}

std::string FmuLog::text() const {
  return last_.empty() ? std::string() : fmt::format("; it said: '{}'", fmt::join(last_, "', '"));
}

std::string FmuLog::take_text() {
  const std::lock_guard lock(mutex_);
  std::string said = text();
  last_.clear();
  return said;
}

}  // namespace entrain
