#include "cli/pace_arguments.hpp"

#include "cli/common.hpp"

namespace entrain::cli {

void PaceArguments::add(CLI::App& command) {
  option =
      command
          .add_option("--real-time", factor, "At the pace of the wall clock: simulated seconds per second (default: 1)")
          ->type_name("[FACTOR]")
          ->expected(0, 1)
          ->check([](const std::string& text) { return text.empty() ? std::string() : positive_number()(text); });
  std::vector<std::string> words;
  for (const auto word : words_of<OverrunRule>()) words.emplace_back(word);
  command.add_option("--overrun", overrun, "When a macro step ends after its deadline (default: catch-up)")
      ->type_name("RULE")
      ->check(CLI::IsMember(words));
  command.add_flag("--priority", priority, "Ask for SCHED_FIFO, locked memory and a core, and tell what was granted");
}

SystemDescription PaceArguments::changed(SystemDescription description) const {
  if (option->count() > 0) {
    double seconds = 1.0;
    if (!factor.empty()) CLI::detail::lexical_cast(factor, seconds);  // as it was checked
    description.real_time = {seconds, {"--real-time", 0, 0}};
  }
  if (overrun) description.overrun = {*from_word<OverrunRule>(*overrun), {"--overrun", 0, 0}};
  return description;
}

std::optional<RealTimeOptions> PaceArguments::options(const SystemDescription& description) const {
  if (!description.real_time || !(description.real_time->value > 0.0)) return std::nullopt;
  RealTimeOptions options;
  options.factor = description.real_time->value;
  if (description.overrun) options.overrun = description.overrun->value;
  options.priority = priority;
  return options;
}

}  // namespace entrain::cli
