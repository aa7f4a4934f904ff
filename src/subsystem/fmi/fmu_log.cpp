#include "subsystem/fmi/fmu_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/printable.hpp"

namespace entrain::subsystem {
namespace {
constexpr std::size_t kKept = 5;
constexpr std::size_t kLongest = 1000;  // bytes of one message

bool is_trouble(std::string category) {
  std::transform(category.begin(), category.end(), category.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  constexpr std::array<std::string_view, 4> kWords{"error", "fatal", "discard", "warning"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return category.find(word) != std::string::npos; });
}

}  // namespace

FmuLog::FmuLog(const std::string& fmu, const FmuCaller& caller)
    : subsystem_(caller.subsystem),
      logging_(caller.log),
      code_({.code = fmt::format("FMU '{}'", base::printable(fmu)),
             .subsystem = caller.subsystem,
             .timeout = caller.timeout,
             .last_words =
                 [this] {
                   // It may have crashed while it logged, with the lock held.
                   const std::unique_lock lock(mutex_, std::try_to_lock);
                   return lock.owns_lock() ? text() : std::string();
                 },
             .long_call = caller.log.long_call}) {}

std::vector<const char*> FmuLog::categories(const std::vector<std::string>& of_fmu) const {
  std::vector<const char*> wanted;
  for (const auto& category : of_fmu) {
    if (logging_.everything || is_trouble(category)) wanted.push_back(category.c_str());
  }
  return wanted;
}

bool FmuLog::takes(bool trouble, const char* category) const {
  return trouble || logging_.everything || !made_.load(std::memory_order_relaxed) ||
         (category != nullptr && is_trouble(std::string(category, ::strnlen(category, kLongest))));
}

void FmuLog::add(bool trouble, const char* category, const char* message) {
  if (message == nullptr || !takes(trouble, category)) return;
  const std::size_t length = ::strnlen(message, kLongest + 1);
  std::string line(message, std::min(length, kLongest));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r' || line.back() == ' ')) line.pop_back();
  line = base::printable(line);
  if (length > kLongest) line += "...";
  const std::string kind =
      category == nullptr ? "" : base::printable(std::string_view(category, ::strnlen(category, kLongest)));
  const bool kept = trouble || logging_.everything || is_trouble(kind);
  if (kept && logging_.handler) logging_.handler({subsystem_, code_.time().value_or(0.0), kind, line});
  if (!kind.empty()) line = fmt::format("[{}] {}", kind, line);
  const std::lock_guard lock(mutex_);
  last_.push_back(std::move(line));
  if (last_.size() > kKept) last_.pop_front();
}

void FmuLog::report_end(const Error& error) const noexcept {
  try {
    if (logging_.failed_at_end) logging_.failed_at_end(error);
  } catch (...) {  // NOLINT(bugprone-empty-catch): from a destructor nothing can be reported any more
  }
}

std::string FmuLog::text() const {
  return last_.empty() ? std::string() : fmt::format("; its log: '{}'", fmt::join(last_, "', '"));
}

std::string FmuLog::take_text() {
  const std::lock_guard lock(mutex_);
  std::string taken = text();
  last_.clear();
  return taken;
}

}  // namespace entrain::subsystem
