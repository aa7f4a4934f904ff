#include "results/csv_recorder.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace entrain {
namespace {

// "-2.2250738585072014e-308" is the longest double in shortest form; then a comma or the line's end.
constexpr std::size_t kLongestNumber = 24;
constexpr std::size_t kCellBytes = kLongestNumber + 1;

char* write_number(char* to, double value) {
  if (std::isnan(value)) {
    *to++ = 'N';
    *to++ = 'a';
    *to++ = 'N';
    return to;
  }
  return std::to_chars(to, to + kLongestNumber, value).ptr;
}

/// Quoted where RFC 4180 asks for it.
std::string csv_name(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

}  // namespace

CsvRecorder::CsvRecorder(std::filesystem::path file, RecordDescription record)
    : file_(std::move(file)), record_(std::move(record)) {}

void CsvRecorder::begin(std::span<const Signal> signals, const RunSummary& summary) {
  chosen_ = select_signals(signals, record_.variables);
  for (const auto index : chosen_) {
    subsystems_.push_back(signals[index].subsystem);
    needs_.states = needs_.states || signals[index].causality == Causality::State;
  }
  row_bytes_ = kCellBytes * (chosen_.size() + 1);
  if (record_.interval) {
    grid_ = std::make_unique<UniformRows>(summary.start, summary.stop, *record_.interval, chosen_, subsystems_);
    needs_.slopes = true;
  }
  write_header(signals);
}

void CsvRecorder::write_header(std::span<const Signal> signals) {
  std::string header = "time";
  for (const auto index : chosen_) header += ',' + csv_name(signals[index].name);
  file_.write_header(header + '\n');
}

void CsvRecorder::communicated(const Sample& sample, const RunSummary&) {
  if (grid_) {
    grid_->add(sample);
    while (grid_->row_is_complete()) write_grid_row();
    return;
  }
  char* to = write_number(file_.begin_row(row_bytes_), sample.t);
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    *to++ = ',';
    const bool known = sample.communicated.empty() || sample.communicated[subsystems_[i]] != 0;
    if (known) to = write_number(to, sample.values[chosen_[i]]);
  }
  *to++ = '\n';
  file_.end_row(to);
}

void CsvRecorder::write_grid_row() {
  const auto row = grid_->take_row();
  char* to = write_number(file_.begin_row(row_bytes_), row.t);
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    *to++ = ',';
    if (row.known[i] != 0) to = write_number(to, row.values[i]);
  }
  *to++ = '\n';
  file_.end_row(to);
}

void CsvRecorder::end(const RunSummary&) {
  while (grid_ && grid_->row_is_started()) write_grid_row();
  file_.flush();
}

}  // namespace entrain
