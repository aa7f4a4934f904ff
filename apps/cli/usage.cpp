#include "cli/usage.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "entrain/text.hpp"

namespace entrain::cli {
namespace {

/// Words of other tools.
constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kOtherWords{{{"simulate", "run"},
                                                                                     {"sim", "run"},
                                                                                     {"start", "run"},
                                                                                     {"execute", "run"},
                                                                                     {"validate", "check"},
                                                                                     {"lint", "check"},
                                                                                     {"info", "inspect"},
                                                                                     {"show", "inspect"},
                                                                                     {"dump", "inspect"},
                                                                                     {"init", "new"},
                                                                                     {"create", "new"},
                                                                                     {"import", "new"},
                                                                                     {"export", "convert"},
                                                                                     {"plot", "report"},
                                                                                     {"view", "report"},
                                                                                     {"diff", "compare"},
                                                                                     {"recommend", "advise"},
                                                                                     {"list", "methods"}}};

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    for (const auto& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// The first word that looks like an option and is none of the command's.
std::string unknown_option(const CLI::App& command, const std::vector<std::string>& words) {
  const auto names = option_names(command);
  for (const auto& word : words) {
    const bool number = word.size() > 1 && (std::isdigit(static_cast<unsigned char>(word[1])) != 0 || word[1] == '.');
    if (!word.starts_with('-') || word == "-" || word == "--" || number) continue;
    auto name = word.substr(0, word.find('='));
    if (std::find(names.begin(), names.end(), name) == names.end()) return name;
  }
  return {};
}

struct TimeUnit {
  std::string_view name;
  std::string_view exponent;  ///< of ten; empty: `seconds` is no power of ten
  double seconds;
};
constexpr std::array kTimeUnits{TimeUnit{"s", "e0", 1.0},      TimeUnit{"ms", "e-3", 1e-3}, TimeUnit{"us", "e-6", 1e-6},
                                TimeUnit{"ns", "e-9", 1e-9},   TimeUnit{"min", "", 60.0},   TimeUnit{"h", "", 3600.0},
                                TimeUnit{"d", "", 24 * 3600.0}};

/// The time in s as text; the text itself where it has no unit.
std::string in_seconds(const std::string& text) {
  double value = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc()) return text;
  const auto digits = text.substr(0, static_cast<std::size_t>(end - text.data()));
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  for (const auto& known : kTimeUnits) {
    if (unit != known.name) continue;
    // By its exponent, not by a product: 9ms is the number that 0.009 is.
    const bool plain = digits.find_first_not_of("+-.0123456789") == std::string::npos;
    return plain && !known.exponent.empty() ? digits + std::string(known.exponent)
                                            : fmt::format("{}", value * known.seconds);
  }
  return text;
}

}  // namespace

std::vector<std::string> usual_form(std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words.front() == "--version") return {"version"};
  if (words.front() != "help") return words;
  words.erase(words.begin());
  if (words.size() > 1) words.resize(1);
  words.emplace_back("--help");
  return words;
}

std::string unknown_command(const CLI::App& program, const std::string& word) {
  std::vector<std::string> known;
  for (const auto* command : program.get_subcommands({})) known.push_back(command->get_name());
  if (word.starts_with('-') || std::find(known.begin(), known.end(), word) != known.end()) return {};
  const auto* other =
      std::find_if(kOtherWords.begin(), kOtherWords.end(), [&](const auto& pair) { return pair.first == word; });
  return fmt::format(
      "unknown command '{}'; {}", word,
      other != kOtherWords.end() ? fmt::format("did you mean '{}'?", other->second) : suggestion(word, known));
}

std::string usage_problem(const CLI::App& command, const std::vector<std::string>& words,
                          const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return error.what();
  if (const auto name = unknown_option(command, words); !name.empty()) {
    return fmt::format("unknown option '{}' of 'entrain {}'; {}", name, command.get_name(),
                       suggestion(name, option_names(command)));
  }
  const auto extras = command.remaining();
  return extras.empty() ? error.what()
                        : fmt::format("'entrain {}' does not take '{}'", command.get_name(), extras.front());
}

CLI::Validator time_in_seconds() {
  return CLI::Validator(
      [](std::string& text) {
        text = in_seconds(text);
        double value = 0.0;
        const bool fits = CLI::detail::lexical_cast(text, value);
        return fits ? std::string()
                    : fmt::format("'{}' is not a time: a number of seconds, or with a unit: 10ms, 5us, 2min, 1h", text);
      },
      "");
}

}  // namespace entrain::cli
