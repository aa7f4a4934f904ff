// Every way in which an FMU can be bad that we know of, through the real program: a message of its own that names file
// or call, time and remedy; exit code 1; nothing left in the temporary folder; the results up to there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <regex>

#include "support/facts.hpp"
#include "support/loaded_fmu.hpp"
#include "support/scripted_fmus.hpp"

namespace entrain {
namespace fmu_bad_input_test {

namespace fs = std::filesystem;

class BadFmu;

struct BadInput {
  std::string name;
  int mode;                                     ///< ScriptedMode or Fault
  std::function<fs::path(const BadFmu&)> make;  ///< none: the scripted FMU, which fails at t = 0.5 s
  std::string code;                             ///< of the failure, or of the error that it quotes
  std::vector<std::string> names;               ///< all of these are in the message
  std::string keys{};                           ///< in the table of the subsystem

  bool before_the_run() const { return static_cast<bool>(make); }
};

class BadFmu : public test::ScriptedFmus {
 public:
  using ScriptedFmus::write;
  using ScriptedFmus::write_library;
  fs::path archive(const std::vector<test::ArchiveEntry>& entries) const {
    fs::path file = folder_ / "part 1.fmu";
    test::write_archive(file, entries);
    return file;
  }
  fs::path library_with(const std::string& from, const std::string& to) const {
    std::string library = library_;
    for (auto at = library.find(from); at != std::string::npos; at = library.find(from, at)) {
      library.replace(at, from.size(), to);
    }
    return write_library(library);
  }

  /// What the program prints of it, once everything else about its end was found in order.
  std::string message_of(const BadInput& input) const {
    const fs::path fmu = input.before_the_run() ? input.make(*this) : write(test::scripted_description(""));
    const std::string start = input.before_the_run() ? "" : fmt::format("start = {{ mode = {} }}\n", input.mode);
    test::write_text(folder_ / "s.toml",
                     fmt::format("[run]\nstop = 1\nstep = 0.1\n[subsystems.part]\nfmu = \"{}\"\n{}{}\n",
                                 fmu.filename().string(), start, input.keys));
    const auto result = run_here({"run", "s.toml", "--out", "out", "--json"});
    EXPECT_EQ(result.exit_code, 1) << input.name << ": " << result.err;
    EXPECT_TRUE(fs::is_empty(temporary_)) << input.name;
    if (input.before_the_run()) {
      EXPECT_FALSE(fs::exists(folder_ / "out" / "results.csv")) << input.name;
    } else {
      const std::string table = test::text_of(folder_ / "out" / "results.csv");
      EXPECT_TRUE(table.ends_with(input.mode == ReturnNan ? "\n0.4,1\n" : "\n0.5,1\n")) << input.name << ": " << table;
    }
    const auto failure =
        test::failure_in(input.before_the_run() ? result.out : test::text_of(folder_ / "out" / "run.json"));
    EXPECT_EQ(failure["values"].value("of", failure.value("code", "")), input.code) << input.name << failure;
    if (!input.before_the_run()) {
      EXPECT_EQ(failure.value("subsystem", ""), "part") << input.name;
      EXPECT_DOUBLE_EQ(failure.value("time", 0.0), 0.5) << input.name;
    }
    fs::remove_all(folder_ / "out");
    fs::remove(fmu);
    return result.err;
  }
};

std::string half_of(const std::string& text) {
  return text.substr(0, text.size() / 2);
}

/// An FMU 3 of ours under another token.
fs::path with_another_token(const BadFmu& here) {
  const std::string original = test::fmu_file("test/strict/3", "chain_mass");
  std::string xml = test::text_in_archive(original, "modelDescription.xml");
  const std::string binary = "binaries/x86_64-linux/" + test::matched(xml, "modelIdentifier=\"([^\"]+)\"") + ".so";
  const std::string token = test::matched(xml, "instantiationToken=\"([^\"]+)\"");
  xml.replace(xml.find(token), token.size(), "another");
  return here.archive({{"modelDescription.xml", xml}, {binary, test::text_in_archive(original, binary)}});
}

fs::path truncated(const BadFmu& here) {
  const fs::path file = here.write(test::scripted_description(""));
  test::write_text(file, half_of(test::text_of(file)));
  return file;
}

fs::path bomb(const BadFmu& here) {
  return here.archive({{"modelDescription.xml", test::scripted_description("")},
                       {"resources/zeros", std::string(std::size_t{3} << 20U, '\0')}});
}

fs::path climbing(const BadFmu& here) {
  return here.archive({{"modelDescription.xml", test::scripted_description("")}, {"../../evil", "x"}});
}

std::vector<BadInput> bad_inputs() {
  const std::string file = "part.fmu'";
  return {
      {"no binary",
       Normal,
       [](const BadFmu& here) { return here.write(test::scripted_description(""), "binaries/win64/scripted.dll"); },
       "fmu-binary-missing",
       {file, "win64"}},
      {"missing library",
       Normal,
       [](const BadFmu& here) { return here.write_library(test::text_of(test::needy_fmu_library())); },
       "fmu-library-missing",
       {file, "libabsent.so"}},
      {"newer C library",
       Normal,
       [](const BadFmu& here) { return here.library_with("GLIBC_2.2.5", "GLIBC_9.9.5"); },
       "fmu-needs-glibc",
       {file, "GLIBC 9.9.5"}},
      {"missing symbol",
       Normal,
       [](const BadFmu& here) { return here.library_with(std::string("\0sleep\0", 7), std::string("\0slee?\0", 7)); },
       "fmu-symbol-missing",
       {file, "'slee?'"}},
      {"missing function",
       Normal,
       [](const BadFmu& here) {
         return here.library_with("fmi2EnterInitializationMode", "fmi2EnterInitializationMude");
       },
       "fmu-function-missing",
       {file, "'fmi2EnterInitializationMode'"}},
      {"missing step",
       Normal,
       [](const BadFmu& here) { return here.library_with("fmi2DoStep", "fmi2DoStap"); },
       "fmu-function-missing",
       {"'part'", file, "'fmi2DoStep'"}},
      {"wrong guid",
       Normal,
       [](const BadFmu& here) { return here.write(test::scripted_description("", "another")); },
       "fmu-no-instance",
       {file, "fmi2Instantiate", "'[logStatusError] unknown guid another'"}},
      {"wrong token", Normal, with_another_token, "fmu-no-instance", {file, "fmi3InstantiateCoSimulation"}},
      {"broken XML",
       Normal,
       [](const BadFmu& here) { return here.write(half_of(test::scripted_description(""))); },
       "description-not-xml",
       {file, "modelDescription.xml: line "}},
      {"truncated archive", Normal, truncated, "archive-no-zip", {file}},
      {"bomb", Normal, bomb, "entry-ratio", {file, "'resources/zeros'"}},
      {"way out of the archive", Normal, climbing, "entry-name", {file, "'../../evil'"}},
      {"error",
       ReturnError,
       {},
       "fmu-call-failed",
       {file, "fmi2DoStep", "fmi2Error", "'[logStatusError] the boiler burst'"}},
      {"fatal",
       ReturnFatal,
       {},
       "fmu-call-failed",
       {file, "fmi2DoStep", "fmi2Fatal", "'[logStatusError] out of memory'"}},
      {"NaN", ReturnNan, {}, "output-not-finite", {"'part.y'", file, "fmi2GetReal"}},
      {"discard", DiscardAll, {}, "step-rejected", {"0.1 s", file, "fmi2DoStep", "fmi2Discard"}},
      {"null in the log", LogNothing, {}, "fmu-call-failed", {file, "fmi2DoStep", "fmi2Error", "'\\x1b[2J%n100%'"}},
      {"segmentation fault", Segfault, {}, "code-fault", {file, "fmi2DoStep", "SIGSEGV"}},
      {"abort", Abort, {}, "code-fault", {file, "fmi2DoStep", "SIGABRT"}},
      {"hang", Hang, {}, "code-fault", {file, "fmi2DoStep", "0.3 s"}, "timeout = 0.3"},
  };
}

TEST_F(BadFmu, ends_with_a_message_of_its_own_and_leaves_nothing_but_results_behind) {
  std::map<std::string, std::string> input_of_message;
  for (const auto& input : bad_inputs()) {
    // Each has a file of its own; messages must differ without that.
    const std::string message = std::regex_replace(message_of(input), std::regex("part [0-9]+[.]fmu"), "part.fmu");
    for (const auto& part : input.names) {
      EXPECT_NE(message.find(part), std::string::npos) << input.name << ": '" << part << "' is not in " << message;
    }
    const auto [other, is_new] = input_of_message.emplace(message, input.name);
    EXPECT_TRUE(is_new) << input.name << " and " << other->second << " have the same message";
  }
}

}  // namespace fmu_bad_input_test
}  // namespace entrain
