#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstring>

#include "cli/common.hpp"
#include "cli/supervisor.hpp"
#include "cli/system_arguments.hpp"

namespace entrain::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStudioProgram = "entrain-studio";

struct StudioArguments {
  std::string place = ".";
  std::string address = "127.0.0.1";
  int port = 0;
  bool stays_closed = false;
  bool sandbox = false;
};

/// The folder, and the system in it that is opened first.
struct Opened {
  fs::path folder;
  std::string system;
};

Opened opened(const fs::path& place) {
  if (fs::is_directory(place)) {
    const auto file = place / "system.toml";
    if (fs::exists(file)) return {place, "system.toml"};
    for (const auto& entry : fs::directory_iterator(place)) {
      if (entry.path().extension() == ".toml") return {place, entry.path().filename().string()};
    }
    return {place, "system.toml"};
  }
  const auto folder = place.parent_path();
  return {folder.empty() ? "." : folder, place.filename().string()};
}

fs::path own_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path();
}

int studio(const StudioArguments& arguments) {
  const fs::path place = arguments.place;
  if (!fs::exists(place)) {
    print_error(fmt::format("there is no '{}'; name a system file or a folder, which may be empty", arguments.place));
    return kWrongUsage;
  }
  const auto program = own_folder() / kStudioProgram;
  if (!fs::exists(program)) {
    print_error(fmt::format("the program '{}' was not found in {}", kStudioProgram, own_folder().string()));
    return kFailed;
  }
  if (arguments.address != "127.0.0.1") {
    print_error(
        fmt::format("--listen {}: everyone who can reach this address and learns the token, which travels without "
                    "encryption, can run programs as you",
                    arguments.address));
  }
  const auto [folder, system] = opened(place);
  const auto self = fs::read_symlink("/proc/self/exe").string();
  const std::array<std::string, 8> words{program.string(),
                                         self,
                                         folder.string(),
                                         system,
                                         arguments.address,
                                         std::to_string(arguments.port),
                                         arguments.sandbox ? "sandbox" : "no",
                                         arguments.stays_closed ? "closed" : "open"};
  std::array<char*, 9> pointers{};
  for (std::size_t i = 0; i < words.size(); ++i) pointers[i] = const_cast<char*>(words[i].c_str());
  ::dup2(::fileno(output()), STDOUT_FILENO);  // keep_streams made it another one
  report_end();                               // from here on the exit code is that of the server
  ::execv(program.c_str(), pointers.data());
  print_error(fmt::format("the program '{}' could not be started: {}", program.string(), std::strerror(errno)));
  return kFailed;
}

}  // namespace

Command add_studio(CLI::App& program) {
  auto* command =
      add_subcommand(program, "studio", "Couple, run and judge a system in the browser", "entrain studio plant");
  const auto arguments = std::make_shared<StudioArguments>();
  command->add_option("SYSTEM", arguments->place, "System file, or a folder, which may be empty (default: this one)")
      ->type_name("");
  command->add_option("--listen", arguments->address, "Address of this machine to listen at (default: 127.0.0.1)")
      ->type_name("ADDRESS");
  command->add_option("--port", arguments->port, "Port (default: any that is free)")
      ->type_name("N")
      ->check(CLI::Range(0, 65535));
  command->add_flag("--no-browser", arguments->stays_closed, "Print the address, open no browser");
  add_sandbox(*command, arguments->sandbox);
  return {command, [arguments] { return studio(*arguments); }};
}

}  // namespace entrain::cli
