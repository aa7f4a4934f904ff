#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/common.hpp"

namespace entrain::cli {
namespace {

/// The words a subcommand takes, read from the parser so that they cannot grow old.
std::string option_words(const CLI::App& command) {
  std::string words;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) words += fmt::format("{}--{}", words.empty() ? "" : " ", name);
  }
  return words;
}

std::string command_words(const CLI::App& program) {
  std::string words;
  for (const auto* command : program.get_subcommands({})) {
    words += fmt::format("{}{}", words.empty() ? "" : " ", command->get_name());
  }
  return words;
}

std::string bash_script(const CLI::App& program) {
  std::string cases;
  for (const auto* command : program.get_subcommands({})) {
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(), option_words(*command));
  }
  return fmt::format(R"(_entrain() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{}" -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _entrain entrain
)",
                     command_words(program), cases);
}

std::string zsh_script(const CLI::App& program) {
  return "#compdef entrain\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(program);
}

std::string fish_script(const CLI::App& program) {
  std::string script;
  for (const auto* command : program.get_subcommands({})) {
    script += fmt::format("complete -c entrain -n __fish_use_subcommand -a {} -d '{}'\n", command->get_name(),
                          command->get_description());
    for (const auto* option : command->get_options()) {
      for (const auto& name : option->get_lnames()) {
        script +=
            fmt::format("complete -c entrain -n '__fish_seen_subcommand_from {}' -l {} -d '{}'\n", command->get_name(),
                        name, CLI::detail::find_and_replace(option->get_description(), "'", "\\'"));
      }
    }
  }
  return script;
}

}  // namespace

Command add_completion(CLI::App& program) {
  auto* command = add_subcommand(program, "completion", "Print a completion script for a shell",
                                 "source <(entrain completion bash)");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return {command, [shell, &program] {
            print_exact(*shell == "bash"  ? bash_script(program)
                        : *shell == "zsh" ? zsh_script(program)
                                          : fish_script(program));
            return kDone;
          }};
}

}  // namespace entrain::cli
