// --watch and the progress bar: wrong names, narrow terminals.
#include <gtest/gtest.h>
#include <pty.h>

#include <algorithm>
#include <cerrno>

#include "support/places.hpp"
#include "support/program.hpp"
#include "support/typed_fmus.hpp"

namespace entrain::test {
namespace watch_test {

const std::string kPair = examples_folder() + "/lotka_volterra";

TEST(Watch, wrong_name_is_wrong_usage_however_quiet_and_leaves_older_results_alone) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(folder, {"run", kPair, "--method", "jacobi", "--out", "out", "--quiet"}).exit_code, 0);
  const auto results = text_of(folder / "out/results.csv");
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--quiet"}, {"--json"}}) {
    std::vector<std::string> arguments{"run", kPair,    "--method", "jacobi",  "--out",
                                       "out", "--step", "0.5",      "--watch", "prey.q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = run_program(folder, arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("no signal 'prey.q' to watch; did you mean 'prey.p'?"), std::string::npos) << result.err;
    EXPECT_EQ(text_of(folder / "out/results.csv"), results);
  }
}

TEST(Watch, whole_number_is_shown_without_a_recorder_and_a_text_is_refused) {
  const TemporaryFolder folder;
  write_typed2(folder, "typed.fmu");
  write_text(folder / "system.toml",
             "[run]\nstop = 1.0\nstep = 0.1\n[subsystems.a]\nfmu = \"typed.fmu\"\nstart = { i = 3 }\n"
             "[record]\nvariables = [\"a.y\"]\n");
  const auto result = run_program(folder, {"run", "system.toml", "--watch", "a.j"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto line = result.out.substr(result.out.find("a.j  "));
  EXPECT_EQ(line.find("nan"), std::string::npos) << line;
  const auto text = run_program(folder, {"run", "system.toml", "--watch", "a.t"});
  EXPECT_EQ(text.exit_code, 2);
  EXPECT_NE(text.err.find("'a.t' is no number"), std::string::npos) << text.err;
}

/// What the program writes to a terminal of so many columns.
std::string on_terminal(const TemporaryFolder& folder, unsigned short columns, std::vector<std::string> arguments) {
  winsize size{};
  size.ws_row = 24;
  size.ws_col = columns;
  int terminal = -1;
  std::vector<char*> argv{const_cast<char*>("entrain")};
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    if (::chdir(folder.path().c_str()) == 0) ::execv(test::program().c_str(), argv.data());
    ::_exit(127);
  }
  std::string shown;
  char bytes[4096];
  // The end of the program ends the terminal: an error on Linux.
  for (ssize_t count = 0; (count = ::read(terminal, bytes, sizeof bytes)) > 0 || (count < 0 && errno == EINTR);) {
    if (count > 0) shown.append(bytes, static_cast<std::size_t>(count));
  }
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return shown;
}

/// Columns of the widest line that the progress wrote: those are the ones that end by clearing the rest of the row.
std::size_t widest_row(const std::string& shown) {
  std::size_t widest = 0;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = shown.find("\x1b[K", begin)) != std::string::npos; begin = end + 1) {
    std::size_t from = shown.find_last_of("\nA", end);  // behind a line end, or behind the way up
    from = from == std::string::npos ? 0 : from + 1;
    auto row = std::string_view(shown).substr(from, end - from);
    if (row.starts_with("\x1b[J")) row.remove_prefix(3);  // behind the way up the screen is cleared
    widest = std::max(widest, static_cast<std::size_t>(std::count_if(row.begin(), row.end(), [](char c) {
                        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
                      })));
  }
  return widest;
}

TEST(Watch, no_row_of_the_progress_wraps_on_a_narrow_terminal) {
  const TemporaryFolder folder;
  for (const unsigned short columns : std::initializer_list<unsigned short>{20, 60, 80, 200}) {
    // Long enough that the bar is drawn, once in 0.1 s.
    const auto shown = on_terminal(folder, columns,
                                   {"run", kPair, "--method", "jacobi", "--step", "2e-5", "--out", "out", "--option",
                                    "degree=1", "--watch", "prey.p", "--watch", "predator.P"});
    const auto widest = widest_row(shown);
    EXPECT_LT(widest, columns);
    EXPECT_GT(widest, std::min<std::size_t>(columns, 60) / 2) << "the bar was drawn";
  }
}

}  // namespace watch_test
}  // namespace entrain::test
