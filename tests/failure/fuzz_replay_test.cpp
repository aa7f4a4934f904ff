// What the fuzzers look for, in seconds: the corpus of the repository and fixed mutations of it through the same
// targets. A broken promise or a crash ends the program; another exception than Error fails the test.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fuzz/targets.hpp"
#include "support/places.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace fuzz_replay_test {

namespace fs = std::filesystem;

class FuzzReplay : public testing::TestWithParam<fuzz::Target> {
 protected:
  static std::vector<std::string> corpus() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(fs::path(test::fuzz_corpus()) / GetParam().name))
      files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<std::string> texts;
    for (const auto& file : files) texts.push_back(test::text_of(file));
    return texts;
  }

  static void run(const std::string& bytes, const std::string& what) { EXPECT_NO_THROW(GetParam().run(bytes)) << what; }
};

/// Cuts, doubles, flips and foreign parts: what breaks readers most. The same on every machine.
class Mutator {
 public:
  explicit Mutator(const std::vector<std::string>& corpus) : corpus_(corpus) {}

  std::string mutated(std::string text) {
    const std::size_t times = 1 + below(4);
    for (std::size_t i = 0; i < times; ++i) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = below(std::min<std::size_t>(text.size() - at, 40) + 1);
    const std::string& other = corpus_[below(corpus_.size())];
    switch (below(6)) {
      case 0: text.erase(at, length); break;
      case 1: text.insert(at, text.substr(at, length)); break;
      case 2: text.insert(at, other.substr(below(other.size()), 1 + below(60))); break;
      case 3: text.resize(at); break;
      case 4: text.insert(at, kNasty[below(kNasty.size())]); break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
    }
  }

  const std::vector<std::string> kNasty{"\"",
                                        "<",
                                        ">",
                                        "&",
                                        "=",
                                        "[",
                                        "]",
                                        "{",
                                        "}",
                                        "\n",
                                        std::string(1, '\0'),
                                        "\xff",
                                        "-1",
                                        "1e999",
                                        "nan",
                                        "18446744073709551616",
                                        "..",
                                        "/",
                                        "#",
                                        "%2",
                                        "\xf0\x9f"};
  const std::vector<std::string>& corpus_;
  std::mt19937_64 random_{20260101};
};

TEST_P(FuzzReplay, survives_the_corpus_and_its_mutations) {
  const auto texts = corpus();
  ASSERT_GE(texts.size(), 3U);
  for (const auto& text : texts) run(text, text.substr(0, 200));
  Mutator mutator(texts);
  for (int round = 0; round < 200; ++round)
    for (const auto& text : texts) {
      const std::string changed = mutator.mutated(text);
      run(changed, changed.substr(0, 2000));
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplay, testing::ValuesIn(fuzz::targets()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace fuzz_replay_test
}  // namespace entrain
