#include "entrain/sweep.hpp"

#include <map>
#include <set>

#include "base/replace_file.hpp"
#include "entrain/fact_codes.hpp"
#include "record/run_folder.hpp"
#include "session/repeatable.hpp"
#include "sweep/case_pool.hpp"
#include "sweep/prepared_sweep.hpp"
#include "sweep/sweep_folder.hpp"
#include "sweep/sweep_run.hpp"
#include "sweep/table.hpp"
#include "sweep/uncertainty.hpp"

namespace entrain {

SweepResult sweep(const SystemDescription& description, const SweepOptions& options, const Extensions& extensions) {
  session::require_repeatable(description, "sweep");
  sweeping::PreparedSweep prepared(description, options, extensions);
  prepared.adopt(prepared.look());
  sweeping::SweepRun run(prepared, prepared.note());
  const auto context = prepared.context(std::filesystem::absolute(run.folder()));
  sweeping::ProcessPool pool(context, sweeping::jobs_of(options));
  return run.run(pool);
}

SweepResult merge_sweeps(const std::vector<std::filesystem::path>& shards, const std::filesystem::path& folder,
                         const std::optional<std::filesystem::path>& reference) {
  if (shards.empty())
    throw Error(ErrorCode::InvalidSystem, {FactCode::SweepEmpty, {}, {{"why", "no folder is named"}}});
  sweeping::SweepNote note = sweeping::read_note(shards.front());
  note.part = note.cases;
  std::map<std::size_t, SweepCase> cases;
  sweeping::Courses courses;
  for (const auto& shard : shards) {
    if (sweeping::read_note(shard).identity != note.identity) throw sweeping::other_sweep(shard);
    std::set<std::size_t> numbers;
    for (auto& row : sweeping::read_cases(sweeping::cases_file(shard), note.shape)) {
      numbers.insert(row.number);
      cases.try_emplace(row.number, std::move(row));
    }
    courses.merge(sweeping::read_courses(sweeping::courses_file(shard), note.course_size(), numbers));
  }
  if (cases.size() != note.cases) {
    throw Error(ErrorCode::InvalidSystem,
                {FactCode::SweepShardsLeft, {}, {{"missing", note.cases - cases.size()}, {"cases", note.cases}}});
  }
  sweeping::create_folder(folder);
  const recording::RunFolderLock lock(folder);
  const bool begun = sweeping::contains_sweep(folder, note);
  const auto measured =
      reference ? sweeping::read_reference(*reference, note.shape.quantities) : sweeping::MeasuredValues{};
  if (reference) sweeping::hash_reference(note, *reference);
  SweepResult result = note.result(folder);
  for (auto& [number, row] : cases) result.cases.push_back(std::move(row));
  if (!begun) sweeping::write_note(folder, note);  // what follows is that of a sweep
  base::replace_file(sweeping::courses_file(folder), sweeping::courses_text(courses));
  sweeping::complete(result, note, courses, measured, true);
  return result;
}

}  // namespace entrain
