#include "read/results_readers.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/private_folder.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system_description.hpp"
#include "read/csv_reader.hpp"
#include "record/hdf5_plugin.hpp"
#include "record/journal.hpp"
#include "record/results_file.hpp"
#include "record/run_folder.hpp"

namespace entrain::reading {
namespace {

namespace fs = std::filesystem;

Results from_csv(CsvResults table) {
  Results results;
  results.cut = table.cut;
  std::vector<std::vector<bool>> known_on_axis;
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    Results::Column column;
    column.name = table.names[i];
    column.values = std::move(table.columns[i]);
    column.text = table.text[i];
    add_where_known(results, known_on_axis, table.times, std::move(table.known[i]), std::move(column));
  }
  return results;
}

/// Of a run that was killed, or is under way: its file is made of the journal, for good unless a run writes it.
Results read_journaled(const fs::path& file) {
  const auto journal = recording::journal_of(file);
  const bool for_good = !recording::RunFolderLock::is_held(file.parent_path()) &&
                        ::access(fs::absolute(file).parent_path().c_str(), W_OK) == 0;
  std::optional<base::PrivateFolder> scratch;
  const auto made = for_good ? file : scratch.emplace().content() / file.filename();
  recording::make_file_of(journal, made);
  std::error_code ignored;  // what is left is made into the same file again
  if (for_good) fs::remove(journal, ignored);
  return read_results_file(made);
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

Results read_results_file(const fs::path& file) {
  if (!fs::exists(file) && fs::exists(recording::journal_of(file))) return read_journaled(file);
  const auto extension = file.extension();
  if (extension == ".h5" || extension == ".hdf5") return recording::hdf5_plugin(file).read(file);
  if (extension == ".mat") return read_mat(file);
  // Beside a run.json it is ours, and ends in the middle of a row when the program was killed.
  const bool ours = fs::exists(file.parent_path() / "run.json");
  return from_csv(read_csv(file, ours ? OpenEnd::Cut : OpenEnd::Complete));
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
