#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace entrain::cli {

/// The words of the command line with requests for help and the version in the form of the others: "help run" becomes
/// "run --help", "--version" becomes "version".
std::vector<std::string> usual_form(std::vector<std::string> words);

/// The message about a first word that is no subcommand, with the one that was probably meant. Empty = it is one.
std::string unknown_command(const CLI::App& program, const std::string& word);

/// What CLI11 does not say well: an option or a word that the command does not take, with a suggestion.
std::string usage_problem(const CLI::App& command, const std::vector<std::string>& words, const CLI::ParseError& error);

/// A time: "0.01", "10ms", "2 min". Replaced by the same time in s, exactly as if it had been written so.
CLI::Validator time_in_seconds();

}  // namespace entrain::cli
