#include "entrain/new_system.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/proposals.hpp"
#include "base/archive.hpp"
#include "base/printable.hpp"
#include "base/replace_file.hpp"
#include "base/unique_name.hpp"
#include "base/values.hpp"
#include "description/check_values.hpp"
#include "description/toml_text.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/inspection.hpp"
#include "entrain/sandbox.hpp"
#include "report/system_schema.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

// Beside the system file, so that it fits the version that made both; editors find it by the first line (taplo).
constexpr const char* kSchemaFile = "system.schema.json";

[[noreturn]] void fail(Fact fact, const std::string& remedy) {
  throw Error(ErrorCode::FileFailed, std::move(fact), {.subsystem = {}, .variable = {}, .time = {}, .remedy = remedy});
}

[[noreturn]] void fail_to(std::string_view what, const fs::path& file, const std::error_code& reason) {
  fail({FactCode::FileFailed, {file.string()}, {{"what", what}, {"why", reason.message()}}}, "");
}

struct Placed {
  fs::path source;
  std::string file;  ///< in the new folder
  std::string title;
  std::shared_ptr<subsystem::Fmu> held;
};

class SystemMaker {
 public:
  SystemMaker(const fs::path& folder, const std::vector<fs::path>& fmus, const LoadOptions& options)
      : folder_(folder), sandbox_(options.sandbox) {
    std::set<std::string> names;
    std::set<std::string> files;
    std::map<fs::path, std::string> known;
    for (const auto& fmu : fmus) {
      auto held = subsystem::hold_fmu(fmu);
      const auto [place, is_new] = known.insert({fs::weakly_canonical(fmu), ""});
      if (is_new) place->second = base::unique_name(description::subsystem_name(fmu.stem().string()), files) + ".fmu";
      placed_.push_back({fmu, place->second, subsystem::fmu_title(fmu, {}), held});
      parts_.push_back({base::unique_name(description::subsystem_name(fmu.stem().string()), names),
                        subsystem::make_fmu_subsystem("new", fmu)->variables()});
    }
  }

  void write() const {
    const fs::path file = folder_ / "system.toml";
    if (fs::exists(file)) fail({FactCode::FileExists, {file.string()}}, "Name a new folder");
    for (const auto& fmu : placed_) {
      const fs::path target = folder_ / fmu.file;
      std::error_code error;
      if (fs::exists(target) && !fs::equivalent(target, fmu.source, error))
        fail({FactCode::FileExists, {target.string()}}, "Name a new folder");
    }
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) fail_to("make the folder", folder_, error);
    for (const auto& fmu : placed_) {
      if (fs::exists(folder_ / fmu.file)) continue;  // the source itself, or copied for another instance
      fs::copy_file(base::LocatedFile(fmu.source).path(), folder_ / fmu.file, error);
      if (error) fail_to("copy", fmu.source, error);
    }
    base::replace_file(folder_ / kSchemaFile, system_schema());
    base::replace_file(file, text());
  }

 private:
  std::string text() const { return head() + run() + subsystems() + connections(); }

  std::string head() const {
    return fmt::format(
        "#:schema {1}\n"
        "# Made by `entrain new`. Look through it, then: entrain check {0}; entrain run {0}\n"
        "# Lines that begin with '#' have no effect. `entrain methods` lists the methods and their options.\n",
        folder_.string(), kSchemaFile);
  }

  /// What the FMUs propose; where they differ, the longest run and the smallest step.
  std::string run() const {
    std::optional<double> start;
    std::optional<double> stop;
    std::optional<double> step;
    for (const auto& fmu : placed_) {
      const auto experiment = subsystem::fmu_experiment(fmu.source);
      if (experiment.start) start = std::min(start.value_or(*experiment.start), *experiment.start);
      if (experiment.stop) stop = std::max(stop.value_or(*experiment.stop), *experiment.stop);
      if (experiment.step) step = std::min(step.value_or(*experiment.step), *experiment.step);
    }
    const double begin = start.value_or(0.0);
    const bool usable = stop && *stop > begin;
    const bool step_usable = step && (!usable || *step <= *stop - begin);
    std::string text = "\n[run]\n";
    if (sandbox_) text += "sandbox = true  # no network, files or new processes for these FMUs\n";
    text += fmt::format("start = {}\n", description::toml_text(begin));
    text += fmt::format("stop = {}{}\n", description::toml_text(usable ? *stop : begin + 1.0),
                        usable ? "  # s, as the FMUs propose" : "  # s; no FMU proposes one");
    text += fmt::format("method = \"{}\"  # chosen for this system, with its step; `entrain advise` says why\n",
                        default_method());
    return text + fmt::format("# step = {}  # s, the macro step{}; with it, auto chooses the method alone\n",
                              step_usable ? description::toml_text(*step) : "1e-3",
                              step_usable ? ", as the FMUs propose" : "");
  }

  std::string subsystems() const {
    std::string text;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto& variables = parts_[i].variables;
      text += fmt::format("\n[subsystems.{}]  # {}\n", description::toml_key(parts_[i].name),
                          base::printable(placed_[i].title));
      text += fmt::format("fmu = {}\n", description::toml_text(std::string_view(placed_[i].file)));
      if (is_like_a_controller(i))
        text += comment("sampled = true  # a fixed step and no continuous states: if its step belongs to it");
      text += listed("inputs", variables.inputs, variables.discrete_inputs);
      text += listed("outputs", variables.outputs, variables.discrete_outputs);
      text += parameters(variables.parameters);
    }
    return text;
  }

  /// Of one that samples what it reads, the step is part of the model; of any other it is an error that runs with other
  /// macro steps do not show. The FMU alone does not say which it is.
  bool is_like_a_controller(std::size_t part) const {
    return parts_[part].variables.states.empty() && subsystem::fmu_imposes_step(placed_[part].source);
  }

  /// Real ones with their unit, the others with their type.
  static std::string listed(std::string_view what, const std::vector<Variable>& real,
                            const std::vector<Variable>& discrete) {
    std::vector<std::string> names;
    names.reserve(real.size() + discrete.size());
    for (const auto& variable : real)
      names.push_back(variable.unit.empty() ? variable.name : fmt::format("{} ({})", variable.name, variable.unit));
    for (const auto& variable : discrete)
      names.push_back(fmt::format("{} ({})", variable.name, base::type_name(variable)));
    if (names.empty()) return {};
    return comment(fmt::format("{}: {}", what, fmt::join(names, ", ")));
  }

  static std::string parameters(const std::vector<Variable>& variables) {
    constexpr std::size_t kShown = 8;
    std::vector<std::string> values;
    for (const auto& variable : variables) {
      if (variable.start && values.size() < kShown)
        values.push_back(
            fmt::format("{} = {}", description::toml_key(variable.name), description::toml_text(*variable.start)));
    }
    if (values.empty()) return {};
    return comment(fmt::format("start = {{ {} }}", fmt::join(values, ", ")));
  }

  /// Names come from files of others: a line break in one must not end the comment.
  static std::string comment(std::string_view text) { return "# " + base::printable(text) + "\n"; }

  /// TOML has no key twice: an output has one line. Those that are not clear have a comment with all they could feed.
  std::string connections() const {
    std::map<std::string, std::vector<Input>> sure;
    std::map<std::string, std::vector<Input>> possible;
    std::string alone;
    const auto pairs = api::pair_terminals(parts_);
    for (const auto& [one, other] : pairs) sure[one].push_back({other, "terminals that fit"});
    for (const auto& proposal : api::propose_connections(api::without_terminals(parts_, pairs))) {
      if (proposal.outputs.empty())
        alone += comment(fmt::format("{} keeps its start value: no output fits",
                                     description::toml_text(std::string_view(proposal.input))));
      for (const auto& output : proposal.outputs)
        (proposal.sure ? sure : possible)[output].push_back({proposal.input, proposal.reason});
    }
    std::string text =
        "\n# \"output\" = \"input\", or a list of inputs; { to = \"input\", factor = 2.0, offset = 0.0 } scales.\n";
    text += "[connections]\n";
    for (const auto& [output, inputs] : sure) text += connection(output, inputs) + "\n";
    if (!possible.empty())
      text +=
          "# Not clear. Inputs without a connection keep their start value. Remove the '#' of a line and the inputs in "
          "it "
          "that\n# the output does not feed: an input has one output, and an output one line.\n";
    for (auto& [output, inputs] : possible) {
      const auto known = sure.find(output);
      if (known != sure.end()) inputs.insert(inputs.begin(), known->second.begin(), known->second.end());
      text += comment(connection(output, inputs) + (known == sure.end() ? "" : "; instead of its line above"));
    }
    return text + alone;
  }

  struct Input {
    std::string name;
    std::string reason;
  };
  static std::string connection(const std::string& output, const std::vector<Input>& inputs) {
    std::vector<std::string> names;
    std::vector<std::string> reasons;
    for (const auto& [input, reason] : inputs) {
      names.push_back(description::toml_text(std::string_view(input)));
      if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(reason);
    }
    const auto value = names.size() == 1 ? names.front() : fmt::format("[{}]", fmt::join(names, ", "));
    return fmt::format("{} = {}  # {}", description::toml_key(output), value, fmt::join(reasons, ", "));
  }

  fs::path folder_;
  bool sandbox_;
  std::vector<Placed> placed_;
  std::vector<api::Part> parts_;
};

}  // namespace

std::string system_schema() {
  return reporting::system_schema_json(methods());
}

fs::path new_system(const fs::path& folder, const std::vector<fs::path>& fmus) {
  return new_system(folder, fmus, {});
}

fs::path new_system(const fs::path& folder, const std::vector<fs::path>& fmus, const LoadOptions& options) {
  SystemMaker(folder, fmus, options).write();
  return folder / "system.toml";
}

}  // namespace entrain
