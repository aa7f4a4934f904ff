// The journal: a header record, then records of rows. A record is {bytes of its payload, rows, checksum} and the
// payload: the times, the numbers row by row, which groups are known, and the values that are no real numbers. Only
// complete records count, so what a killed program or a full disk has cut is not there.
#include "record/journal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fault_watch.hpp"
#include "base/file_error.hpp"
#include "base/finally.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system_description.hpp"
#include "record/append_file.hpp"

namespace entrain::recording {
namespace {

namespace fs = std::filesystem;

const std::string kMagic = "entrain journal 1";

/// Not against intent: it finds the zeros that a crashed operating system leaves.
class Checksum {
 public:
  void add(std::string_view bytes) {
    for (; bytes.size() >= sizeof(Words); bytes.remove_prefix(sizeof(Words))) {
      Words words;
      std::memcpy(words.data(), bytes.data(), sizeof words);
      for (std::size_t lane = 0; lane < words.size(); ++lane) mix(lane, words[lane]);
    }
    for (const char c : bytes) mix(0, static_cast<unsigned char>(c));
  }
  std::uint64_t value() const { return lanes_[0] ^ (lanes_[1] << 1U) ^ (lanes_[2] << 2U) ^ (lanes_[3] << 3U); }

 private:
  using Words = std::array<std::uint64_t, 4>;  // several lanes, because a multiplication takes its time
  void mix(std::size_t lane, std::uint64_t word) { lanes_[lane] = (lanes_[lane] ^ word) * 0x9E37'79B9'7F4A'7C15U; }
  Words lanes_{1, 2, 3, 4};
};

/// Of a record: times, numbers, known groups, other values. The header is the first alone.
using Parts = std::array<std::string_view, 4>;

std::uint64_t checksum(const Parts& parts) {
  Checksum sum;
  for (const auto part : parts) sum.add(part);
  return sum.value();
}

template <class T>
std::string_view as_text(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

class JournalFile : public ResultsFile {
 public:
  JournalFile(std::string_view format, fs::path file) : format_(format), target_(std::move(file)) {
    std::error_code missing;
    fs::remove(target_, missing);  // of an earlier run
    try {
      journal_.emplace(journal_of(target_));
    } catch (const Error& error) {  // the user knows the file by its own name
      Fact fact = error.fact();
      fact.subjects = {target_.string()};
      throw Error(error.code(), std::move(fact), error.context());
    }
  }

  void write_header(const RecordedLayout& layout) override {
    layout_ = layout;
    require_format();
    const auto payload = base::to_bytes(kMagic, format_, layout_);
    append(0, {as_text(std::span<const std::byte>(payload))});
  }

  void write(const RowBlock& block, RowRange rows) override {
    if (rows.count() == 0) return;
    if (format_ == kMatFormat) require_exact_in_mat(target_, layout_, block, rows);
    base::ByteWriter discrete;
    for (const auto& value : block.discrete(rows)) discrete(value);
    const auto others = discrete.take();
    append(rows.count(), {as_text(block.times(rows)), as_text(block.values(rows)), as_text(block.known(rows)),
                          as_text(std::span<const std::byte>(others))});
    last_ = block.time(rows.end - 1);
  }

  void flush() override {}
  void sync() override { journal_->sync(); }
  void complete() override {
    if (base::FaultWatch::is_reporting()) return;  // the first reader makes it, and has the time
    try {
      make_file_of(journal_->path(), target_);
      std::error_code ignored;  // what is left is made into the same file again
      fs::remove(journal_->path(), ignored);
    } catch (const Error& error) {
      if (journal_->failed()) return;  // that ended the run, and is reported
      throw Error(ErrorCode::FileFailed,
                  {FactCode::JournalKept, {target_.string(), journal_->path().string()}, {{"why", error.message()}}},
                  {.subsystem = {},
                   .variable = {},
                   .time = {},
                   .remedy = "Free some space, then look at the run with 'entrain report'"});
    }
  }
  std::optional<Time> last_time() const override { return last_; }

 private:
  /// What the format cannot hold is to be known now, not at the end of a long run.
  void require_format() const {
    auto trial = target_;
    trial += fmt::format(".{}.tmp", ::getpid());
    const base::Finally remove([&] { ::unlink(trial.c_str()); });
    make_final_file(format_, trial)->write_header(layout_);
  }

  void append(std::uint64_t rows, const Parts& parts) {
    JournalRecordHead head{0, rows, checksum(parts)};
    for (const auto part : parts) head.bytes += part.size();
    journal_->append({as_text(std::span<const JournalRecordHead>(&head, 1)), parts[0], parts[1], parts[2], parts[3]});
  }

  std::string format_;
  fs::path target_;
  std::optional<AppendFile> journal_;
  RecordedLayout layout_;
  std::optional<Time> last_;
};

}  // namespace

fs::path journal_of(const fs::path& file) {
  auto journal = file;
  return journal += ".journal";
}

std::unique_ptr<ResultsFile> journal_file(std::string_view format, const fs::path& file) {
  return std::make_unique<JournalFile>(format, file);
}

std::uint64_t journal_checksum(const RecordedLayout& layout, std::uint64_t rows, std::string_view payload) {
  if (rows == 0) return checksum({payload});
  const std::size_t times = rows * sizeof(Time);
  const std::size_t values = rows * layout.columns.size() * sizeof(double);
  const std::size_t known = rows * layout.groups.size();
  return checksum({payload.substr(0, times), payload.substr(times, values), payload.substr(times + values, known),
                   payload.substr(times + values + known)});
}

JournalReader::JournalReader(fs::path journal) : path_(std::move(journal)), stream_(path_, std::ios::binary) {
  std::string magic;
  try {
    if (read_record() && rows_ == 0) base::from_bytes(payload_, magic, format_, layout_);
  } catch (const Error&) {  // of another kind or version
    magic.clear();
  }
  if (magic != kMagic) throw Error(ErrorCode::FileFailed, {FactCode::JournalUnreadable, {path_.string()}});
  for (const auto& column : layout_.columns) discrete_ += column.discrete ? 1 : 0;
  const bool in_range =
      std::all_of(layout_.columns.begin(), layout_.columns.end(), [&](const RecordedLayout::Column& column) {
        return column.group < layout_.groups.size() &&
               column.discrete.value_or(0) < std::max<std::size_t>(discrete_, 1);
      });
  if (!in_range) throw Error(ErrorCode::FileFailed, {FactCode::JournalUnreadable, {path_.string()}});
}

std::optional<RowBlock> JournalReader::next() {
  if (!read_record() || rows_ == 0) return std::nullopt;
  const std::size_t width = layout_.columns.size();
  const std::size_t groups = layout_.groups.size();
  RowBlock block(width, groups, rows_, discrete_);
  const std::byte* times = payload_.data();
  const std::byte* values = times + rows_ * sizeof(Time);
  const std::byte* known = values + rows_ * width * sizeof(double);
  const std::span<const std::byte> whole = payload_;
  base::ByteReader others{whole.subspan(static_cast<std::size_t>(known - times) + rows_ * groups)};
  for (std::size_t i = 0; i < rows_; ++i) {
    Time t = 0.0;
    std::memcpy(&t, times + i * sizeof t, sizeof t);
    const auto row = block.add(t);
    std::memcpy(row.values, values + i * width * sizeof(double), width * sizeof(double));
    std::memcpy(row.known, known + i * groups, groups);
    for (std::size_t k = 0; k < discrete_; ++k) others(row.discrete[k]);
  }
  return block;
}

/// False at the end, and for a record that is not complete or not as it was written.
bool JournalReader::read_record() {
  JournalRecordHead head{};
  stream_.read(reinterpret_cast<char*>(&head), sizeof head);
  std::error_code unknown;
  const auto size = fs::file_size(path_, unknown);
  if (!stream_ || head.bytes > size) return false;
  payload_.resize(head.bytes);
  stream_.read(reinterpret_cast<char*>(payload_.data()), static_cast<std::streamsize>(head.bytes));
  if (!stream_) return false;
  rows_ = head.rows;
  const std::uint64_t row_bytes = sizeof(Time) + layout_.columns.size() * sizeof(double) + layout_.groups.size();
  if (rows_ > head.bytes / row_bytes) return false;
  return journal_checksum(layout_, rows_, as_text(std::span<const std::byte>(payload_))) == head.checksum;
}

void make_file_of(const fs::path& journal, const fs::path& file) {
  JournalReader reader(journal);
  replace_results_file(reader.format(), file, [&](ResultsFile& made) {
    made.write_header(reader.layout());
    while (const auto block = reader.next()) made.write(*block, block->all());
  });
}

}  // namespace entrain::recording
