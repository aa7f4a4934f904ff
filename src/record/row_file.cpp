#include "record/row_file.hpp"

#include <algorithm>
#include <utility>

#include "entrain/error.hpp"

namespace entrain::recording {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} * 1024;

}  // namespace

RowFile::RowFile(std::filesystem::path path) : file_(std::move(path)), buffer_(kBufferBytes) {}

RowFile::RowFile(std::filesystem::path path, std::uint64_t keep, std::optional<Time> last)
    : file_(std::move(path), keep), buffer_(kBufferBytes), last_(last) {}

RowFile::~RowFile() {
  try {
    flush();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): `flush` was there to get it
  }
}

char* RowFile::begin_row(std::size_t size) {
  if (used_ + size > buffer_.size()) {
    flush();
    if (size > buffer_.size()) buffer_.resize(size);
  }
  return buffer_.data() + used_;
}

void RowFile::end_row(const char* end, Time t) {
  used_ = static_cast<std::size_t>(end - buffer_.data());
  ends_.push_back(used_);
  times_.push_back(t);
}

void RowFile::flush() {
  if (used_ == 0) return;
  const std::uint64_t before = file_.complete_bytes();
  try {
    file_.append({{buffer_.data(), used_}}, ends_);
  } catch (...) {
    forget(file_.complete_bytes() - before);
    throw;
  }
  forget(file_.complete_bytes() - before);
}

void RowFile::forget(std::uint64_t written) {
  const auto rows = std::upper_bound(ends_.begin(), ends_.end(), written) - ends_.begin();
  if (rows > 0) last_ = times_[static_cast<std::size_t>(rows) - 1];
  ends_.clear();
  times_.clear();
  used_ = 0;
}

}  // namespace entrain::recording
