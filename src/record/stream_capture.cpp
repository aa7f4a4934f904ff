#include "record/stream_capture.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <system_error>

#include "base/fault_watch.hpp"

namespace entrain::recording {
namespace {

int copy_of(int descriptor) {
  constexpr int kAboveStreams = 3;
  return ::fcntl(descriptor, F_DUPFD_CLOEXEC, kAboveStreams);
}

}  // namespace

StreamCapture::StreamCapture()
    : output_(copy_of(STDOUT_FILENO)),
      error_(copy_of(STDERR_FILENO)),
      memory_(::memfd_create("entrain-streams", MFD_CLOEXEC)) {
  if (error_ >= 0) base::FaultWatch::report_to(error_);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // an FMU may crash right after a line
  if (memory_ >= 0) redirect(memory_);
}

StreamCapture::~StreamCapture() {
  std::fflush(stdout);
  std::fflush(stderr);
  base::FaultWatch::report_to(STDERR_FILENO);
  if (output_ >= 0) ::dup2(output_, STDOUT_FILENO);
  if (error_ >= 0) ::dup2(error_, STDERR_FILENO);
  take_over();
  for (const int descriptor : {output_, error_, memory_, captured_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
  remove_if_empty();
}

void StreamCapture::remove_if_empty() const {
  std::error_code missing;
  if (!file_.empty() && std::filesystem::file_size(file_, missing) == 0 && !missing) {
    std::filesystem::remove(file_, missing);
  }
}

void StreamCapture::redirect(int target) const {
  std::fflush(stdout);
  std::fflush(stderr);
  // Only streams that can be put back.
  if (output_ >= 0) ::dup2(target, STDOUT_FILENO);
  if (error_ >= 0) ::dup2(target, STDERR_FILENO);
}

void StreamCapture::into(const std::filesystem::path& file) {
  const int target = ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (target < 0) return;
  redirect(target);
  if (captured_ >= 0) ::close(captured_);
  captured_ = target;
  file_ = file;
  take_over();
}

/// By a position of its own: the processes that write there share another one.
void StreamCapture::take_over() {
  std::array<char, 4096> part;
  while (memory_ >= 0 && captured_ >= 0) {
    const ssize_t count = ::pread(memory_, part.data(), part.size(), taken_);
    if (count <= 0 || ::write(captured_, part.data(), static_cast<std::size_t>(count)) != count) return;
    taken_ += count;
  }
}

}  // namespace entrain::recording
