#include "sweep/sweep_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/file_error.hpp"
#include "base/replace_file.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system.hpp"

namespace entrain::sweeping {
namespace {

namespace fs = std::filesystem;

/// What a sweep writes besides sweep.json, which comes first.
constexpr std::array kFiles{"cases.csv", "cases.h5", "courses.bin", "system.resolved.toml", "sweep.html"};

[[noreturn]] void refuse_folder(const fs::path& folder, const std::string& what, const std::string& remedy) {
  throw Error(ErrorCode::FileFailed, {FactCode::SweepFolderTaken, {folder.string()}, {{"what", what}}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = remedy});
}

/// Which machine it is.
Error fault_of(const CasePool& pool, std::size_t rank, const Error& error) {
  if (rank == 0) return error;
  const Fact fact{FactCode::RankFailed, {pool.ranks()[rank].host}, {{"rank", rank}, {"why", error.what()}}};
  return {error.code(), fact, {.subsystem = {}, .variable = {}, .time = {}, .remedy = error.context().remedy}};
}

}  // namespace

Error other_sweep(const fs::path& folder) {
  return {ErrorCode::InvalidSystem,
          {FactCode::SweepOther, {folder.string()}, {{"what", "system, cases or quantities differ"}}},
          {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Choose another folder"}};
}

void create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw base::file_error("create the folder", folder, error.value());
}

bool contains_sweep(const fs::path& folder, const SweepNote& note) {
  std::error_code unknown;
  if (fs::exists(note_file(folder), unknown)) {
    if (read_note(folder).identity != note.identity) throw other_sweep(folder);
    return true;
  }
  if (recording::contains_run(folder)) refuse_folder(folder, "a run", "Choose another folder");
  for (const char* file : kFiles) {
    if (fs::exists(folder / file, unknown))
      refuse_folder(folder, fmt::format("'{}', and no sweep", file), "Choose another folder");
  }
  return false;
}

SweepRun::SweepRun(const PreparedSweep& sweep, SweepNote note)
    : sweep_(sweep), options_(sweep.options()), note_(std::move(note)) {
  if (options_.reference) reference_ = read_reference(*options_.reference, note_.shape.quantities);
  const fs::path folder = options_.folder ? *options_.folder : free_folder();
  create_folder(folder);
  lock_.emplace(folder);
  const bool begun = contains_sweep(folder, note_);
  if (begun && !options_.resume) refuse_folder(folder, "a sweep", "Add --resume, or choose another folder");
  std::error_code unknown;
  result_ = note_.result(folder);
  if (begun && fs::exists(cases_file(folder), unknown)) {
    result_.cases = read_cases(cases_file(folder), note_.shape);
    if (options_.retry_failed) std::erase_if(result_.cases, [](const SweepCase& row) { return !is_completed(row); });
  }
  write_note(folder, note_);
  base::replace_file(folder / "system.resolved.toml", system_text(resolved(sweep_.description(), sweep_.extensions())));
}

fs::path SweepRun::free_folder() const {
  create_folder("sweeps");
  for (int number = 1;; ++number) {
    auto folder = fs::path("sweeps") / fmt::format("{}-{}", sweep_.description().name, number);
    std::error_code error;
    if (fs::create_directory(folder, error)) return folder;  // and no other sweep that begins now
    if (error && !fs::exists(folder)) throw base::file_error("create the folder", folder, error.value());
  }
}

SweepResult SweepRun::run(CasePool& pool) {
  open_files();
  run_cases(pool);
  result_.ranks = pool.ranks();
  made_.resize(result_.ranks.size());
  for (std::size_t r = 0; r < made_.size(); ++r) {
    result_.ranks[r].cases = made_[r].cases;
    result_.ranks[r].seconds = made_[r].seconds;
  }
  if (machine_fault_) end_in_order();
  complete_files();
  return std::move(result_);
}

void SweepRun::open_files() {
  std::set<std::size_t> done;
  for (const auto& row : result_.cases) done.insert(row.number);
  for (std::size_t c = sweep_.plan().cases.size(); c-- > 0;) {
    if (c % options_.shards == options_.shard && !done.contains(c)) left_.push_back(c);
  }
  courses_ = read_courses(courses_file(result_.folder), note_.course_size(), done);
  course_records_.emplace(courses_file(result_.folder), courses_text(courses_));
  rows_.emplace(cases_file(result_.folder), table_text(note_.shape, result_.cases));
  kept_ = result_.cases.size();
  total_ = kept_ + left_.size();
  context_.emplace(sweep_.context(fs::absolute(result_.folder)));
}

void SweepRun::run_cases(CasePool& pool) {
  began_ = Clock::now();
  const auto is_interrupted = [&] { return sweep_.is_interrupted() || pool.is_interrupted(); };
  while (!left_.empty() || under_way_ > 0) {
    if (is_interrupted() || machine_fault_) break;
    hand_out(pool);
    try {
      for (auto& end : pool.wait()) take_end(pool, end);
    } catch (const Error& error) {
      machine_fault_ = error;
    }
  }
  for (auto& end : pool.close()) {
    if (!end.answer.empty() && !machine_fault_) take_end(pool, end);
  }
  result_.interrupted = is_interrupted() && result_.cases.size() < total_;
  rows_.reset();
  course_records_.reset();
}

void SweepRun::hand_out(CasePool& pool) {
  for (; !left_.empty() && pool.free() > 0; ++under_way_) {
    pool.take(left_.back());
    left_.pop_back();
  }
}

void SweepRun::take_end(const CasePool& pool, CaseEnd& end) {
  --under_way_;
  if (end.answer.empty() && end.killed && killed_.insert(end.number).second) {
    left_.push_back(end.number);  // once more: the case itself need not be wrong
    return;
  }
  CaseAnswer answer;
  if (end.answer.empty()) {
    const Fact ended{FactCode::SweepCaseEnded, {}, {{"how", end.how}}};
    answer.row = failed_case(*context_, end.number, render(ended));
  } else {
    base::from_bytes(end.answer, answer);
  }
  if (answer.machine_fault) {
    machine_fault_ = fault_of(pool, end.rank, answer.machine_fault->error());
  } else {
    add(std::move(answer), end.rank);
  }
}

void SweepRun::add(CaseAnswer answer, std::size_t rank) {
  const std::size_t number = answer.row.number;
  if (!answer.course.empty()) {
    course_records_->add(course_record(number, answer.course));
    courses_[number] = std::move(answer.course);
  }
  rows_->add(table_row(note_.shape, answer.row));
  made_.resize(std::max(made_.size(), rank + 1));
  made_[rank].cases += 1;
  made_[rank].seconds += answer.row.seconds;
  result_.cases.push_back(std::move(answer.row));
  report();
}

void SweepRun::report() const {
  if (!options_.progress) return;
  const double elapsed = std::chrono::duration<double>(Clock::now() - began_).count();
  const auto made = static_cast<double>(result_.cases.size() - kept_);
  options_.progress(result_.cases.size(), total_, elapsed / made * static_cast<double>(total_ - result_.cases.size()));
}

/// What is done is kept and described, as far as the machine lets us; the rest is for --resume.
void SweepRun::end_in_order() {
  try {
    complete_files();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the rows are in the table; the first fault is the one
  }
  throw Error(*machine_fault_);
}

void SweepRun::complete_files() {
  complete(result_, note_, courses_, reference_, options_.page, options_.interrupt);
}

}  // namespace entrain::sweeping
