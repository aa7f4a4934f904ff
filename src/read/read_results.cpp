#include "read/results_readers.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/private_folder.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system_description.hpp"
#include "read/csv_reader.hpp"
#include "record/column_source.hpp"
#include "record/hdf5_plugin.hpp"
#include "record/journal.hpp"
#include "record/results_file.hpp"
#include "record/run_folder.hpp"
#include "record/selection.hpp"

namespace entrain::reading {
namespace {

namespace fs = std::filesystem;

class CsvColumns final : public recording::ColumnSource {
 public:
  explicit CsvColumns(fs::path file) : file_(std::move(file)) {
    auto outline = outline_csv(file_);
    names_ = std::move(outline.names);
    rows_ = outline.rows;
  }
  Results read(const std::vector<bool>& chosen) override {
    // Beside a run.json it is ours, and ends in the middle of a row when the program was killed.
    const bool ours = fs::exists(file_.parent_path() / "run.json");
    auto table = read_csv(file_, ours ? OpenEnd::Cut : OpenEnd::Complete, chosen);
    Results results;
    results.cut = table.cut;
    SharedRows shared{std::move(table.times), {}};
    for (std::size_t i = 0; i < table.names.size(); ++i) {
      if (!is_chosen(chosen, i)) continue;
      auto& row = shared.columns.emplace_back();
      row.column.name = table.names[i];
      row.column.values = std::move(table.columns[i]);
      row.column.text = table.text[i];
      row.known = std::move(table.known[i]);
    }
    place_where_known(std::move(shared), results);
    return results;
  }

 private:
  fs::path file_;
};

/// Of a run that was killed, or is under way: its file is made of the journal, for good unless a run writes it.
std::unique_ptr<recording::ColumnSource> open_journaled(const fs::path& file) {
  const auto journal = recording::journal_of(file);
  const bool for_good = !recording::RunFolderLock::is_held(file.parent_path()) &&
                        ::access(fs::absolute(file).parent_path().c_str(), W_OK) == 0;
  std::optional<base::PrivateFolder> scratch;
  const auto made = for_good ? file : scratch.emplace().content() / file.filename();
  recording::make_file_of(journal, made);
  std::error_code ignored;  // what is left is made into the same file again
  if (for_good) fs::remove(journal, ignored);
  return open_results(made);  // which holds it open
}

}  // namespace

}  // namespace entrain::reading

namespace entrain {

const Results::Column* Results::find(const std::string& name) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

std::size_t Results::samples() const {
  std::size_t most = 0;
  for (const auto& axis : axes) most = std::max(most, axis.size());
  return most;
}

}  // namespace entrain

namespace entrain::reading {

std::unique_ptr<recording::ColumnSource> open_results(const fs::path& file) {
  if (!fs::exists(file) && fs::exists(recording::journal_of(file))) return open_journaled(file);
  const auto extension = file.extension();
  if (extension == ".h5" || extension == ".hdf5") return recording::hdf5_plugin(file).open(file);
  return extension == ".mat" ? mat_source(file) : csv_source(file);
}

std::unique_ptr<recording::ColumnSource> csv_source(const fs::path& file) {
  return std::make_unique<CsvColumns>(file);
}

Results read_results_file(const fs::path& file) {
  return open_results(file)->read({});
}

Results read_matching(const fs::path& file, const std::vector<std::string>& patterns) {
  const auto source = open_results(file);
  std::vector<bool> chosen;
  for (const auto& name : source->names()) {
    chosen.push_back(std::any_of(patterns.begin(), patterns.end(),
                                 [&](const std::string& pattern) { return recording::matches(pattern, name); }));
  }
  const bool is_all = std::find(chosen.begin(), chosen.end(), false) == chosen.end();
  return source->read(is_all ? std::vector<bool>() : chosen);
}

fs::path find_results(const fs::path& folder) {
  fs::path newest;  // a folder that was run into twice may hold two formats
  fs::file_time_type newest_time = fs::file_time_type::min();
  for (const auto format : kRecordFormats) {
    const auto file = folder / recording::results_file_name(format);
    const auto written = fs::is_regular_file(file) ? file : recording::journal_of(file);
    if (!fs::is_regular_file(written)) continue;
    const auto when = fs::last_write_time(written);
    if (newest.empty() || when > newest_time) newest = file;
    newest_time = std::max(newest_time, when);
  }
  if (!newest.empty()) return newest;
  throw Error(ErrorCode::FileFailed, {FactCode::NoResults, {folder.string()}},
              {.subsystem = {},
               .variable = {},
               .time = std::nullopt,
               .remedy = "Name the folder that 'entrain run' printed, such as runs/NAME-1"});
}

}  // namespace entrain::reading
