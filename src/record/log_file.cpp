#include "record/log_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "base/posix_write.hpp"

namespace entrain::recording {
namespace {
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20U;  // an FMU can log more than a disk holds
}  // namespace

}  // namespace entrain::recording

namespace entrain {

std::string log_line(const LogMessage& message) {
  const std::string category = message.category.empty() ? "" : fmt::format(" [{}]", message.category);
  return fmt::format("{} {}{} {}\n", message.time, message.subsystem, category, message.text);
}

}  // namespace entrain

namespace entrain::recording {

LogFile::LogFile(std::filesystem::path path, bool append) : path_(std::move(path)) {
  std::error_code ignored;  // there was none
  if (!append) std::filesystem::remove(path_, ignored);
}

LogFile::~LogFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void LogFile::add(const LogMessage& message) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (descriptor_ < 0) descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  std::string line = log_line(message);
  bytes_ += line.size();
  const bool too_long = bytes_ > kMostBytes;
  if (too_long) line = fmt::format("{} more than {} MiB: nothing more is kept\n", message.time, kMostBytes >> 20U);
  closed_ = descriptor_ < 0 || base::write_all(descriptor_, line).error_number != 0 || too_long;
}

}  // namespace entrain::recording
