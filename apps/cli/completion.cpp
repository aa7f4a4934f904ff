#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/common.hpp"
#include "entrain/entrain.hpp"
#include "entrain/inspection.hpp"

namespace entrain::cli {
namespace {

/// What follows an option, as far as a shell can complete it.
enum class Completed { Files, Variables, Methods };

Completed completed_after(const CLI::Option& option) {
  const auto type = option.get_type_name();
  if (type.starts_with("SUB.VAR") || type.starts_with("NAME=VALUES")) return Completed::Variables;
  return type == "M" ? Completed::Methods : Completed::Files;
}

/// The long options of a subcommand, read from the parser so that they cannot grow old.
template <class Condition>
std::vector<std::string> options_of(const CLI::App& command, const Condition& condition) {
  std::vector<std::string> words;
  for (const auto* option : command.get_options()) {
    if (!condition(*option)) continue;
    for (const auto& name : option->get_lnames()) words.push_back("--" + name);
  }
  return words;
}

std::vector<std::string> all_options_of(const CLI::App& program, Completed kind) {
  std::vector<std::string> words;
  for (const auto* command : program.get_subcommands({})) {
    for (auto& word : options_of(*command, [&](const auto& option) { return completed_after(option) == kind; })) {
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
    }
  }
  return words;
}

std::vector<std::string> command_words(const CLI::App& program) {
  std::vector<std::string> words;
  for (const auto* command : program.get_subcommands({})) words.push_back(command->get_name());
  return words;
}

std::vector<std::string> method_words() {
  std::vector<std::string> words{std::string(default_method())};
  for (const auto& method : methods()) words.emplace_back(method.traits.name);
  return words;
}

std::string bash_script(const CLI::App& program) {
  std::string cases;
  for (const auto* command : program.get_subcommands({})) {
    const auto words = options_of(*command, [](const auto&) { return true; });
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(), fmt::join(words, " "));
  }
  // The system is the first word after the command that is a file or a folder.
  return fmt::format(
      R"SCRIPT(_entrain() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words="" word
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{}" -- "$current"))
    return
  fi
  case "$before" in
    {})
      for word in "${{COMP_WORDS[@]:2}}"; do
        [ -e "$word" ] || continue
        COMPREPLY=($(compgen -W "$("${{COMP_WORDS[0]}}" completion names "$word" 2> /dev/null)" -- "$current"))
        ! type compopt > /dev/null 2>&1 || compopt +o filenames  # zsh has none
        return
      done ;;
    {}) COMPREPLY=($(compgen -W "{}" -- "$current")); return ;;
  esac
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _entrain entrain
)SCRIPT",
      fmt::join(command_words(program), " "), fmt::join(all_options_of(program, Completed::Variables), "|"),
      fmt::join(all_options_of(program, Completed::Methods), "|"), fmt::join(method_words(), " "), cases);
}

std::string zsh_script(const CLI::App& program) {
  return "#compdef entrain\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(program);
}

/// Of an option: what follows it, beside files.
std::string fish_argument(const CLI::Option& option) {
  switch (completed_after(option)) {
    case Completed::Variables: return " -x -a '(__entrain_names)'";
    case Completed::Methods: return fmt::format(" -x -a '{}'", fmt::join(method_words(), " "));
    case Completed::Files: break;
  }
  return "";
}

std::string fish_script(const CLI::App& program) {
  std::string script = R"SCRIPT(function __entrain_names
  for word in (commandline -opc)[3..-1]
    if test -e $word
      entrain completion names $word 2> /dev/null
      return
    end
  end
end
)SCRIPT";
  for (const auto* command : program.get_subcommands({})) {
    script += fmt::format("complete -c entrain -n __fish_use_subcommand -a {} -d '{}'\n", command->get_name(),
                          command->get_description());
    for (const auto* option : command->get_options()) {
      for (const auto& name : option->get_lnames()) {
        script += fmt::format(
            "complete -c entrain -n '__fish_seen_subcommand_from {}' -l {} -d '{}'{}\n", command->get_name(), name,
            CLI::detail::find_and_replace(option->get_description(), "'", "\\'"), fish_argument(*option));
      }
    }
  }
  return script;
}

/// What can be set, varied or watched in a system, a name in each line.
std::string names_text(const std::string& system) {
  std::string text;
  for (const auto& subsystem : inspect(load(system)).subsystems) {
    const auto& variables = subsystem.variables;
    const auto add = [&](const auto& some) {
      for (const auto& variable : some) text += fmt::format("{}.{}\n", subsystem.name, variable.name);
    };
    add(variables.parameters);
    add(variables.inputs);
    add(variables.outputs);
    add(variables.states);
    add(variables.discrete_inputs);
    add(variables.discrete_outputs);
  }
  return text;
}

}  // namespace

Command add_completion(CLI::App& program) {
  struct Arguments {
    std::string shell;
    std::string system;
  };
  auto* command = add_subcommand(program, "completion", "Print a completion script for a shell",
                                 "source <(entrain completion bash)");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("SHELL", arguments->shell, "bash, zsh or fish; or 'names', which a script calls with a system")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh", "fish", "names"}));
  command->add_option("SYSTEM", arguments->system, "Of 'names': print the names of its variables")->type_name("");
  return {command, [arguments, &program] {
            const auto& shell = arguments->shell;
            if ((shell == "names") == arguments->system.empty()) {
              print_error(shell == "names" ? "'completion names' needs a system: entrain completion names SYSTEM"
                                           : "'completion " + shell + "' takes no system");
              return kWrongUsage;
            }
            print_exact(shell == "names"  ? names_text(arguments->system)
                        : shell == "bash" ? bash_script(program)
                        : shell == "zsh"  ? zsh_script(program)
                                          : fish_script(program));
            return kDone;
          }};
}

}  // namespace entrain::cli
