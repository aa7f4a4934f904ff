#include <algorithm>
#include <utility>

#include "base/bytes.hpp"
#include "base/values.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/recording.hpp"
#include "record/background_writer.hpp"
#include "record/held_values.hpp"
#include "record/results_file.hpp"
#include "record/selection.hpp"
#include "record/uniform_rows.hpp"

namespace entrain {
namespace {

/// Its own signals come before those of methods and bonds, which may have another prefix.
std::string subsystem_name(std::span<const Signal> signals, std::size_t subsystem) {
  const auto own =
      std::find_if(signals.begin(), signals.end(), [=](const Signal& signal) { return signal.subsystem == subsystem; });
  return own->name.substr(0, own->name.find('.'));
}

}  // namespace

struct Recorder::Impl {
  Impl(std::unique_ptr<recording::ResultsFile> file, RecordDescription record)
      : record_(std::move(record)), file_(std::move(file)) {}
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void begin(std::span<const Signal> signals, const RunSummary& summary);
  void communicated(const Sample& sample);
  void end();
  std::vector<std::byte> memory() const;
  void resume(const Sample& sample, std::span<const std::byte> memory);
  recording::RecordedLayout layout_of(std::span<const Signal> signals, const RunSummary& summary);
  void complete();
  std::optional<recording::RowBlock::Row> add_row(Time t);
  void add_grid_row();
  std::vector<Value> chosen_discrete(const Sample& sample) const;
  void write_discrete(std::span<const Value> values, const recording::RowBlock::Row& row) const;

  RecordDescription record_;
  std::unique_ptr<recording::ResultsFile> file_;
  Needs needs_;
  std::vector<std::size_t> chosen_;            ///< signal of each column
  std::vector<std::size_t> discrete_;          ///< of the columns that are no real numbers: index in Sample::discrete
  std::vector<std::size_t> discrete_columns_;  ///< the columns
  recording::HeldValues held_;                 ///< of them, with an interval only
  std::vector<std::size_t> group_subsystems_;  ///< subsystem of each group
  std::vector<std::size_t> group_columns_;     ///< one column of each group
  std::unique_ptr<recording::UniformRows> grid_;         ///< with an interval only
  std::unique_ptr<recording::BackgroundWriter> writer_;  ///< from the first row to the end
  bool never_waits_ = false;
  std::uint64_t dropped_ = 0;  ///< rows that found no room
  Time last_row_ = -kNever;    ///< without an interval
  std::uint64_t rows_at_last_ = 0;
  bool begun_ = false;      ///< the file has its header, and is not complete yet
  base::Bytes before_end_;  ///< what was to be remembered before incomplete rows were written at the end
};

namespace {

std::string_view format_of(const RecordDescription& record) {
  return record.format ? std::string_view(record.format->value) : kCsvFormat;
}

}  // namespace

recording::RecordedLayout Recorder::Impl::layout_of(std::span<const Signal> signals, const RunSummary& summary) {
  recording::RecordedLayout layout;
  layout.start = summary.start;
  layout.stop = summary.stop;
  const Duration apart = record_.interval ? record_.interval->value : summary.step;
  if (apart > 0.0) layout.expected_rows = (summary.stop - summary.start) / apart + 1.0;
  for (std::size_t column = 0; column < chosen_.size(); ++column) {
    const Signal& signal = signals[chosen_[column]];
    const auto known = std::find(group_subsystems_.begin(), group_subsystems_.end(), signal.subsystem);
    const auto group = static_cast<std::size_t>(known - group_subsystems_.begin());
    if (known == group_subsystems_.end()) {
      group_subsystems_.push_back(signal.subsystem);
      group_columns_.push_back(column);
      layout.groups.push_back(subsystem_name(signals, signal.subsystem));
    }
    layout.columns.push_back({signal.name, signal.unit, signal.description, group, signal.type});
    if (!signal.discrete) continue;
    layout.columns.back().discrete = discrete_.size();
    discrete_.push_back(*signal.discrete);
    discrete_columns_.push_back(column);
  }
  return layout;
}

void Recorder::Impl::begin(std::span<const Signal> signals, const RunSummary& summary) {
  chosen_ = recording::select_signals(signals, record_.variables);
  discrete_.clear();  // of an earlier run
  discrete_columns_.clear();
  group_subsystems_.clear();
  group_columns_.clear();
  held_ = {};
  last_row_ = -kNever;
  needs_ = {};
  std::vector<std::size_t> subsystems;
  for (const auto index : chosen_) {
    subsystems.push_back(signals[index].subsystem);
    needs_.add(signals[index], index);
  }
  if (record_.interval) {
    grid_ =
        std::make_unique<recording::UniformRows>(summary.start, summary.stop, *record_.interval, chosen_, subsystems);
    needs_.slopes = true;
  }
  file_->write_header(layout_of(signals, summary));
  begun_ = true;
}

/// To be published when it is filled. The threads begin with the first row: until then a run may be resumed, which
/// changes the file. Nothing where the row is dropped.
std::optional<recording::RowBlock::Row> Recorder::Impl::add_row(Time t) {
  if (!writer_) {
    writer_ = std::make_unique<recording::BackgroundWriter>(*file_, chosen_.size(), group_subsystems_.size(),
                                                            discrete_.size());
    if (never_waits_) writer_->never_wait();
  }
  if (auto* block = writer_->block()) return block->add(t);
  ++dropped_;
  return std::nullopt;
}

void Recorder::Impl::communicated(const Sample& sample) {
  if (grid_) {
    before_end_.clear();
    grid_->add(sample);
    if (!discrete_.empty()) held_.add(sample.t, chosen_discrete(sample));
    while (grid_->row_is_complete()) add_grid_row();
    return;
  }
  const auto added = add_row(sample.t);
  if (!added) return;
  rows_at_last_ = std::exchange(last_row_, sample.t) == sample.t ? rows_at_last_ + 1 : 1;
  const auto& row = *added;
  const double* values = sample.values.data();
  for (std::size_t i = 0; i < chosen_.size(); ++i) row.values[i] = values[chosen_[i]];
  for (std::size_t g = 0; g < group_subsystems_.size(); ++g) {
    row.known[g] = sample.communicated.empty() ? 1 : sample.communicated[group_subsystems_[g]];
  }
  if (!discrete_.empty()) write_discrete(chosen_discrete(sample), row);
  writer_->publish();
}

std::vector<Value> Recorder::Impl::chosen_discrete(const Sample& sample) const {
  std::vector<Value> values;
  for (const auto index : discrete_) values.push_back(sample.discrete[index]);
  return values;
}

void Recorder::Impl::write_discrete(std::span<const Value> values, const recording::RowBlock::Row& row) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    row.values[discrete_columns_[i]] = base::number_of(values[i]);  // held, where numbers are interpolated
    row.discrete[i] = values[i];
  }
}

void Recorder::Impl::add_grid_row() {
  const auto from = grid_->take_row();
  const auto added = add_row(from.t);
  if (!added) return;
  const auto& row = *added;
  std::copy(from.values.begin(), from.values.end(), row.values);
  for (std::size_t g = 0; g < group_columns_.size(); ++g) row.known[g] = from.known[group_columns_[g]];
  if (!discrete_.empty()) write_discrete(held_.at(from.t), row);
  writer_->publish();
}

std::vector<std::byte> Recorder::Impl::memory() const {
  if (writer_) writer_->finish();
  if (!before_end_.empty()) return before_end_;
  return grid_ ? base::to_bytes(chosen_, *grid_, held_) : base::to_bytes(rows_at_last_);
}

void Recorder::Impl::resume(const Sample& sample, std::span<const std::byte> memory) {
  const bool of_rows = memory.size() == base::to_bytes(rows_at_last_).size();  // of a recorder without an interval
  if (!grid_) {
    if (of_rows) base::from_bytes(memory, rows_at_last_);
    last_row_ = sample.t;
    return file_->continue_after(sample.t, of_rows ? rows_at_last_ : recording::kAllRows);
  }
  if (memory.empty() || of_rows)
    return communicated(sample);  // the run that saved the checkpoint had no recorder: the grid begins here
  std::vector<std::size_t> chosen;
  base::from_bytes(memory, chosen, *grid_, held_);
  if (chosen != chosen_) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::OtherSignalsRecorded});
  }
  file_->continue_after(grid_->last_row_time(), recording::kAllRows);
}

void Recorder::Impl::end() {
  if (!begun_) return;  // it failed before it began, or has ended
  if (grid_) before_end_ = base::to_bytes(chosen_, *grid_, held_);
  while (grid_ && grid_->row_is_started()) add_grid_row();
  complete();
}

void Recorder::Impl::complete() {
  if (writer_) writer_->finish();
  writer_.reset();
  begun_ = false;
  file_->complete();
}

/// Of a run that was not ended.
Recorder::Impl::~Impl() {
  try {
    if (begun_) complete();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): `end` was there to get it
  }
}

Recorder::Recorder(const std::filesystem::path& file, RecordDescription record, bool append) {
  auto results = append ? recording::continued_results_file(format_of(record), file)
                        : recording::make_results_file(format_of(record), file);
  impl_ = std::make_unique<Impl>(std::move(results), std::move(record));
}
Recorder::Recorder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Recorder::~Recorder() = default;
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;

void Recorder::begin(std::span<const Signal> signals, const RunSummary& summary) {
  impl_->begin(signals, summary);
}

void Recorder::communicated(const Sample& sample, const RunSummary&) {
  impl_->communicated(sample);
}

void Recorder::end(const RunSummary&) {
  impl_->end();
}

void Recorder::never_wait() {
  impl_->never_waits_ = true;
}

std::uint64_t Recorder::dropped_rows() const {
  return impl_->dropped_;
}

std::optional<Time> Recorder::recorded_until() const {
  return impl_->file_->last_time();
}

std::vector<std::byte> Recorder::memory() const {
  return impl_->memory();
}

void Recorder::resume(const Sample& sample, const RunSummary&, std::span<const std::byte> memory) {
  impl_->resume(sample, memory);
}

Observer::Needs Recorder::needs() const {
  return impl_->needs_;
}

ResultsRecorder::ResultsRecorder(RecordDescription record)
    : ResultsRecorder(std::make_shared<Results>(), std::move(record)) {}

ResultsRecorder::ResultsRecorder(std::shared_ptr<Results> results, RecordDescription record)
    : Recorder(std::make_unique<Impl>(recording::memory_results(results), std::move(record))),
      results_(std::move(results)) {}

Results ResultsRecorder::take() {
  return std::exchange(*results_, {});
}

}  // namespace entrain
