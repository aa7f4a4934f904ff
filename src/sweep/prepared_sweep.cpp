#include "sweep/prepared_sweep.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/sha256.hpp"
#include "entrain/fact_codes.hpp"
#include "session/checkpoint_file.hpp"
#include "sweep/case_pool.hpp"
#include "sweep/case_process.hpp"

namespace entrain::sweeping {
namespace {

constexpr std::size_t kCoursePoints = 101;
constexpr double kMostCourseBytes = 512e6;  // of all cases; beyond it no courses are kept

std::string hash_of(const std::string& text) {
  return base::hexadecimal(base::sha256(std::as_bytes(std::span(text))));
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

Error ended_look(const std::string& how) {
  return {ErrorCode::SubsystemFailed, {FactCode::SweepCaseEnded, {}, {{"how", how}}}};
}

}  // namespace

void hash_reference(SweepNote& note, const std::filesystem::path& file) {
  std::erase_if(note.hashes, [](const auto& of) { return of.first == "reference"; });
  note.hashes.emplace_back("reference", base::sha256_of_file(file));
}

void refuse_problems(SweepLook& found) {
  std::erase_if(found.problems, [](const Problem& each) { return each.severity == Problem::Severity::Warning; });
  if (!found.problems.empty()) throw Error(std::move(found.problems));
}

PreparedSweep::PreparedSweep(SystemDescription description, SweepOptions options, const Extensions& extensions)
    : description_(std::move(description)), options_(std::move(options)), extensions_(extensions) {
  if (options_.shard >= options_.shards) {
    const auto why = fmt::format("there is no shard {} of {}", options_.shard + 1, options_.shards);
    throw Error(ErrorCode::InvalidSystem, {FactCode::SweepEmpty, {}, {{"why", why}}});
  }
  std::vector<Problem> problems;
  plan_ = plan_sweep(options_.sweep, description_.file.parent_path(), options_.most_cases, problems);
  if (!problems.empty()) throw Error(std::move(problems));
  description_.sweep = {};
}

SweepLook PreparedSweep::look() const {
  const CaseContext context{description_, plan_, options_, extensions_, {}, quantities_, times_};
  CaseRunner runner(context);
  CaseProcess process(runner);
  process.ask(kLook);
  pollfd end{process.descriptor(), POLLIN, 0};
  while (::poll(&end, 1, kLongestWait) <= 0 || !process.receive()) {
    if (is_interrupted()) throw ended_look("interrupted");
  }
  const auto bytes = process.answer();
  if (!bytes) throw ended_look(process.how());
  SweepLook found;
  base::from_bytes(*bytes, found);
  return found;
}

void PreparedSweep::adopt(SweepLook found) {
  refuse_problems(found);
  found_ = std::move(found);
  description_.method.value = found_.method;
  description_.method_options.clear();
  for (const auto& [method, values] : found_.options) {
    for (const auto& [name, value] : values) description_.method_options[method][name] = {value, {}};
  }
  if (found_.step) description_.step = {*found_.step, {}};
  for (const auto& [name, text] : found_.quantities) {
    quantities_.push_back({name, text, {}});
    quantities_.back().expression.read(text);
  }
  const double bytes = static_cast<double>(plan_.cases.size() * found_.signals.size() * kCoursePoints) * sizeof(double);
  if (bytes <= kMostCourseBytes) times_ = course_times();
}

/// Up to the latest stop of all cases.
std::vector<double> PreparedSweep::course_times() const {
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

SweepNote PreparedSweep::note() const {
  const auto identity = session::identity_of(description_, extensions_, nullptr);
  SweepNote note;
  note.system = description_.name;
  note.sampling = plan_.sampling;
  note.cases = plan_.cases.size();
  note.shard = options_.shard;
  note.shards = options_.shards;
  note.base_cases = plan_.base_cases;
  for (std::size_t number = options_.shard; number < note.cases; number += options_.shards) ++note.part;
  note.estimated = options_.estimate;
  note.shape.inputs = plan_.inputs;
  for (const auto& quantity : quantities_) note.shape.quantities.push_back(quantity.name);
  note.signals = found_.signals;
  note.times = times_;
  note.hashes = {{"system", hash_of(identity.text)}, {"cases", hash_of(plan_.text)}};
  note.hashes.insert(note.hashes.end(), identity.files.begin(), identity.files.end());
  if (options_.reference) hash_reference(note, *options_.reference);
  std::string text = identity.text + plan_.text + (options_.estimate ? "\nestimated" + judged_by(description_) : "");
  for (const auto& [file, hash] : identity.files) text += "\n" + file + " " + hash;
  for (const auto& quantity : quantities_) text += fmt::format("\n{} = {}", quantity.name, quantity.text);
  note.identity = hash_of(text);
  return note;
}

CaseContext PreparedSweep::context(std::filesystem::path folder) const {
  return {description_, plan_, options_, extensions_, std::move(folder), quantities_, times_, found_.once_per_process};
}

}  // namespace entrain::sweeping
