#include "entrain/sweep.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <thread>

#include "base/file_error.hpp"
#include "base/replace_file.hpp"
#include "base/sha256.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system.hpp"
#include "record/run_folder.hpp"
#include "session/checkpoint_file.hpp"
#include "session/repeatable.hpp"
#include "sweep/case_process.hpp"
#include "sweep/case_runner.hpp"
#include "sweep/sampling.hpp"
#include "sweep/sweep_folder.hpp"
#include "sweep/table.hpp"
#include "sweep/uncertainty.hpp"

namespace entrain::sweeping {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCoursePoints = 101;
/// What a sweep writes besides sweep.json, which comes first.
constexpr std::array kFiles{"cases.csv", "cases.h5", "courses.bin", "system.resolved.toml", "sweep.html"};
constexpr double kMostCourseBytes = 512e6;  // of all cases; beyond it no courses are kept

std::string hash_of(const std::string& text) {
  return base::hexadecimal(base::sha256(std::as_bytes(std::span(text))));
}

Error other_sweep(const fs::path& folder) {
  return {ErrorCode::InvalidSystem,
          {FactCode::SweepOther, {folder.string()}, {{"what", "system, cases or quantities differ"}}},
          {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Choose another folder"}};
}

/// In the place of that of a shard.
void hash_reference(SweepNote& note, const fs::path& file) {
  std::erase_if(note.hashes, [](const auto& of) { return of.first == "reference"; });
  note.hashes.emplace_back("reference", base::sha256_of_file(file));
}

/// What decides the grades of a run, which no checkpoint depends on.
std::string judged_by(const SystemDescription& description) {
  std::string text;
  if (description.tolerance) text += fmt::format("\ntolerance = {}", description.tolerance->value);
  for (const auto& [name, tolerance] : description.tolerances) text += fmt::format("\n{} = {}", name, tolerance.value);
  if (description.open) text += "\nopen";
  for (const auto& pattern : description.open.value_or(std::vector<Written<std::string>>{}))
    text += " " + pattern.value;
  return text;
}

void create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw base::file_error("create the folder", folder, error.value());
}

[[noreturn]] void refuse_folder(const fs::path& folder, const std::string& what, const std::string& remedy) {
  throw Error(ErrorCode::FileFailed, {FactCode::SweepFolderTaken, {folder.string()}, {{"what", what}}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = remedy});
}

/// True of a folder that contains this sweep, false of a free one. What is no sweep is never written over.
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

/// A sweep in its folder.
class SweepRun {
 public:
  SweepRun(const SystemDescription& description, const SweepOptions& options, const Extensions& extensions)
      : description_(description), options_(options), extensions_(extensions) {}

  SweepResult run() {
    if (options_.shard >= options_.shards) {
      const auto why = fmt::format("there is no shard {} of {}", options_.shard + 1, options_.shards);
      throw Error(ErrorCode::InvalidSystem, {FactCode::SweepEmpty, {}, {{"why", why}}});
    }
    std::vector<Problem> problems;
    plan_ = plan_sweep(options_.sweep, description_.file.parent_path(), options_.most_cases, problems);
    if (!problems.empty()) throw Error(std::move(problems));
    description_.sweep = {};
    look();
    make_note();
    make_folder();
    run_cases();
    if (machine_fault_) end_in_order();
    complete(result_, note_, courses_, reference_, options_.page, options_.interrupt);
    return std::move(result_);
  }

 private:
  bool is_interrupted() const { return options_.interrupt != nullptr && options_.interrupt->load(); }

  /// False when the sweep was interrupted meanwhile.
  bool wait_for_answer(const CaseProcess& process) const {
    pollfd end{process.descriptor(), POLLIN, 0};
    while (::poll(&end, 1, kLongestWait) <= 0) {
      if (is_interrupted()) return false;
    }
    return true;
  }

  /// In a process of its own: this one never loads an FMU.
  void look() {
    const CaseContext context{description_, plan_, options_, extensions_, {}, quantities_, note_.times};
    CaseRunner runner(context);
    CaseProcess process(runner);
    process.ask(kLook);
    if (!wait_for_answer(process))
      throw Error(ErrorCode::SubsystemFailed, {FactCode::SweepCaseEnded, {}, {{"how", "interrupted"}}});
    const auto bytes = process.answer();
    if (!bytes) throw Error(ErrorCode::SubsystemFailed, {FactCode::SweepCaseEnded, {}, {{"how", process.how()}}});
    base::from_bytes(*bytes, found_);
    std::erase_if(found_.problems, [](const Problem& each) { return each.severity == Problem::Severity::Warning; });
    if (!found_.problems.empty()) throw Error(std::move(found_.problems));
    description_.method.value = found_.method;
    description_.method_options.clear();
    for (const auto& [method, values] : found_.options) {
      for (const auto& [name, value] : values) description_.method_options[method][name] = {value, {}};
    }
    if (found_.step) description_.step = {*found_.step, {}};
    for (const auto& [name, text] : found_.quantities) {
      quantities_.push_back({name, text, {}});
      quantities_.back().expression.read(text);
      note_.shape.quantities.push_back(name);
    }
    if (options_.reference) reference_ = read_reference(*options_.reference, note_.shape.quantities);
  }

  void make_note() {
    const auto identity = session::identity_of(description_, extensions_, nullptr);
    note_.system = description_.name;
    note_.sampling = plan_.sampling;
    note_.cases = plan_.cases.size();
    note_.shard = options_.shard;
    note_.shards = options_.shards;
    note_.base_cases = plan_.base_cases;
    for (std::size_t number = options_.shard; number < note_.cases; number += options_.shards) ++note_.part;
    note_.estimated = options_.estimate;
    note_.shape.inputs = plan_.inputs;
    note_.signals = found_.signals;
    const double bytes =
        static_cast<double>(plan_.cases.size() * note_.signals.size() * kCoursePoints) * sizeof(double);
    if (bytes <= kMostCourseBytes) note_.times = course_times();
    note_.hashes = {{"system", hash_of(identity.text)}, {"cases", hash_of(plan_.text)}};
    note_.hashes.insert(note_.hashes.end(), identity.files.begin(), identity.files.end());
    if (options_.reference) hash_reference(note_, *options_.reference);
    std::string text = identity.text + plan_.text + (options_.estimate ? "\nestimated" + judged_by(description_) : "");
    for (const auto& [file, hash] : identity.files) text += "\n" + file + " " + hash;
    for (const auto& quantity : quantities_) text += fmt::format("\n{} = {}", quantity.name, quantity.text);
    note_.identity = hash_of(text);
  }

  /// Up to the latest stop of all cases.
  std::vector<double> course_times() const {
    double stop = found_.stop;
    for (std::size_t d = 0; d < plan_.inputs.size(); ++d) {
      if (plan_.inputs[d].name != "stop") continue;
      for (const auto& values : plan_.cases) stop = std::max(stop, values[d]);
    }
    std::vector<double> times;
    for (std::size_t i = 0; i < kCoursePoints; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(kCoursePoints - 1);
      times.push_back(i + 1 == kCoursePoints ? stop : found_.start + share * (stop - found_.start));
    }
    return times;
  }

  void make_folder() {
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
    base::replace_file(folder / "system.resolved.toml", system_text(resolved(description_, extensions_)));
  }

  fs::path free_folder() const {
    create_folder("sweeps");
    for (int number = 1;; ++number) {
      auto folder = fs::path("sweeps") / fmt::format("{}-{}", description_.name, number);
      std::error_code error;
      if (fs::create_directory(folder, error)) return folder;  // and no other sweep that begins now
      if (error && !fs::exists(folder)) throw base::file_error("create the folder", folder, error.value());
    }
  }

  void run_cases() {
    std::set<std::size_t> done;
    for (const auto& row : result_.cases) done.insert(row.number);
    for (std::size_t c = plan_.cases.size(); c-- > 0;) {
      if (c % options_.shards == options_.shard && !done.contains(c)) left_.push_back(c);
    }
    courses_ = read_courses(courses_file(result_.folder), note_.course_size(), done);
    course_records_.emplace(courses_file(result_.folder), courses_text(courses_));
    rows_.emplace(cases_file(result_.folder), table_text(note_.shape, result_.cases));
    kept_ = result_.cases.size();
    total_ = kept_ + left_.size();
    began_ = Clock::now();
    context_.emplace(CaseContext{description_, plan_, options_, extensions_, fs::absolute(result_.folder), quantities_,
                                 note_.times, found_.once_per_process});
    const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const auto jobs = std::min(left_.size(), static_cast<std::size_t>(options_.jobs > 0 ? options_.jobs : processors));
    for (std::size_t j = 0; j < jobs; ++j) start_process();
    while (!processes_.empty() && !is_interrupted() && !machine_fault_) wait_for_some();
    result_.interrupted = is_interrupted() && result_.cases.size() < total_;
    processes_.clear();
    rows_.reset();
    course_records_.reset();
  }

  /// What is done is kept and described, as far as the machine lets us; the rest is for --resume.
  [[noreturn]] void end_in_order() {
    try {
      complete(result_, note_, courses_, reference_, options_.page, options_.interrupt);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the rows are in the table; the first fault is the one
    }
    throw Error(*machine_fault_);
  }

  void start_process() {
    runner_ = std::make_unique<CaseRunner>(*context_);
    processes_.push_back(std::make_unique<CaseProcess>(*runner_));
    ask(*processes_.back());
  }

  void ask(CaseProcess& process) {
    process.ask(left_.back());
    left_.pop_back();
  }

  void wait_for_some() {
    std::vector<pollfd> ends;
    for (const auto& process : processes_) ends.push_back({process->descriptor(), POLLIN, 0});
    if (::poll(ends.data(), ends.size(), kLongestWait) <= 0) return;
    std::size_t ended = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].revents == 0) continue;
      take_answer(*processes_[i]);
      if (!processes_[i]->has_ended() && !left_.empty()) {
        ask(*processes_[i]);
      } else {
        ended += processes_[i]->has_ended() ? 1 : 0;
        processes_[i].reset();
      }
    }
    std::erase(processes_, nullptr);
    for (; ended > 0 && !left_.empty(); --ended) start_process();
  }

  void take_answer(CaseProcess& process) {
    const std::size_t number = process.asked();
    CaseAnswer answer;
    if (const auto bytes = process.answer()) {
      base::from_bytes(*bytes, answer);
    } else if (process.was_killed() && killed_.insert(number).second) {
      left_.push_back(number);  // once more: the case itself need not be wrong
      return;
    } else {
      answer.row = failed_case(*context_, number, render(Fact{FactCode::SweepCaseEnded, {}, {{"how", process.how()}}}));
    }
    if (answer.machine_fault) {
      machine_fault_ = answer.machine_fault->error();
      return;
    }
    if (!answer.course.empty()) {
      course_records_->add(course_record(number, answer.course));
      courses_[number] = std::move(answer.course);
    }
    rows_->add(table_row(note_.shape, answer.row));
    result_.cases.push_back(std::move(answer.row));
    report();
  }

  void report() const {
    if (!options_.progress) return;
    const double elapsed = std::chrono::duration<double>(Clock::now() - began_).count();
    const auto made = static_cast<double>(result_.cases.size() - kept_);
    options_.progress(result_.cases.size(), total_,
                      elapsed / made * static_cast<double>(total_ - result_.cases.size()));
  }

  using Clock = std::chrono::steady_clock;
  static constexpr int kLongestWait = 100;  // ms, so that an interruption is seen

  SystemDescription description_;
  const SweepOptions& options_;
  const Extensions& extensions_;
  SweepPlan plan_;
  SweepLook found_;
  std::vector<Quantity> quantities_;
  MeasuredValues reference_;
  SweepNote note_;
  SweepResult result_;
  Courses courses_;
  std::optional<recording::RunFolderLock> lock_;
  std::optional<AppendedFile> rows_, course_records_;
  std::optional<CaseContext> context_;
  std::vector<std::size_t> left_;       ///< the next one last
  std::set<std::size_t> killed_;        ///< cases whose process was killed once
  std::optional<Error> machine_fault_;  ///< ends the sweep; the case is no row
  std::size_t kept_ = 0, total_ = 0;
  Clock::time_point began_;
  std::unique_ptr<CaseRunner> runner_;  ///< of the process that is being made
  std::vector<std::unique_ptr<CaseProcess>> processes_;
};

}  // namespace
}  // namespace entrain::sweeping

namespace entrain {

SweepResult sweep(const SystemDescription& description, const SweepOptions& options, const Extensions& extensions) {
  session::require_repeatable(description, "sweep");
  return sweeping::SweepRun(description, options, extensions).run();
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
