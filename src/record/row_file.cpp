#include "record/row_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file_error.hpp"
#include "base/posix_write.hpp"

namespace entrain::recording {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} * 1024;

}  // namespace

RowFile::RowFile(std::filesystem::path path) : path_(std::move(path)), buffer_(kBufferBytes) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw base::file_error("create", path_, errno);
}

RowFile::RowFile(std::filesystem::path path, std::uint64_t keep)
    : path_(std::move(path)), buffer_(kBufferBytes), complete_bytes_(keep) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw base::file_error("open", path_, errno);
  const auto end = static_cast<off_t>(keep);
  if (::ftruncate(descriptor_, end) == 0 && ::lseek(descriptor_, end, SEEK_SET) == end) return;
  const int error_number = errno;
  ::close(descriptor_);
  throw base::file_error("write", path_, error_number);
}

RowFile::~RowFile() {
  [[maybe_unused]] const auto untold = base::write_all(descriptor_, {buffer_.data(), used_});
  ::close(descriptor_);
}

void RowFile::write_header(std::string_view row) {
  std::copy(row.begin(), row.end(), begin_row(row.size()));
  used_ += row.size();
  flush();
}

char* RowFile::begin_row(std::size_t size) {
  if (used_ + size > buffer_.size()) {
    flush();
    if (size > buffer_.size()) buffer_.resize(size);
  }
  return buffer_.data() + used_;
}

void RowFile::end_row(const char* end) {
  used_ = static_cast<std::size_t>(end - buffer_.data());
}

void RowFile::flush() {
  if (failed_ || used_ == 0) return;
  const auto result = base::write_all(descriptor_, {buffer_.data(), used_});
  if (result.error_number != 0) {
    // Inside the header a line end may be part of a quoted name, so a cut header is no row at all.
    const std::string_view written(buffer_.data(), result.written);
    const auto last_end = complete_bytes_ == 0 ? std::string_view::npos : written.rfind('\n');
    if (last_end != std::string_view::npos) complete_bytes_ += last_end + 1;
    fail(result.error_number);
  }
  complete_bytes_ += used_;
  used_ = 0;
}

void RowFile::fail(int error_number) {
  failed_ = true;
  used_ = 0;
  // A device cannot be cut; then there is no half row to hide either.
  [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, static_cast<off_t>(complete_bytes_));
  throw base::file_error("write", path_, error_number);
}

}  // namespace entrain::recording
