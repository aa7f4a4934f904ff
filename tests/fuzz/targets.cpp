#include "fuzz/targets.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/archive.hpp"
#include "base/sha256.hpp"
#include "description/osp_file.hpp"
#include "description/ssp_document.hpp"
#include "description/ssp_file.hpp"
#include "description/system_file.hpp"
#include "entrain/entrain.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/learning.hpp"
#include "outside/datagram.hpp"
#include "outside/sequence.hpp"
#include "read/csv_reader.hpp"
#include "read/results_readers.hpp"
#include "record/column_source.hpp"
#include "record/journal.hpp"
#include "report/frames_json.hpp"
#include "session/checkpoint_file.hpp"
#include "subsystem/fmi/elf_file.hpp"
#include "subsystem/fmi/model_description.hpp"
#include "subsystem/native/csv_source.hpp"
#include "worker/messages.hpp"

namespace entrain::fuzz {
namespace {

namespace fs = std::filesystem;

/// A promise of ours is broken: the fuzzer and the tests must notice.
void require(bool kept, const char* promise) {
  if (kept) return;
  std::fputs(promise, stderr);
  std::abort();
}

/// One file per process, in memory where that exists.
class ScratchFile {
 public:
  explicit ScratchFile(const char* extension) {
    const fs::path folder = fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
    path_ = folder / ("entrain-fuzz-" + std::to_string(::getpid()) + extension);
  }
  ~ScratchFile() { ::unlink(path_.c_str()); }
  const fs::path& path() const { return path_; }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const fs::path& write(std::string_view bytes) const {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path_.c_str(), "wb"), std::fclose);
    require(file && std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size(), "no scratch file");
    return path_;
  }

 private:
  fs::path path_;
};

void archive(std::string_view bytes) {
  static const ScratchFile file(".fmu");
  const base::ArchiveLimits limits{.entries = 1000, .bytes = 1U << 20U};
  try {
    const base::UnpackedArchive unpacked(file.write(bytes), limits);
    for (const auto& entry : fs::recursive_directory_iterator(unpacked.folder()))
      require(entry.is_regular_file() || entry.is_directory(), "something else than files was unpacked");
  } catch (const Error&) {
  }
}

void model_description(std::string_view bytes) {
  try {
    const auto description = subsystem::parse_model_description(bytes, "fuzz.fmu");
    for (const auto& output : description.outputs)
      require(output.variable < description.variables.size(), "an output that is no variable");
  } catch (const Error&) {
  }
}

void toml(std::string_view bytes) {
  std::vector<Problem> problems;
  const auto system = description::parse_system(bytes, "fuzz.toml", problems);
  if (!problems.empty()) return;
  const std::string text = system_text(system);
  const auto again = description::parse_system(text, "fuzz.toml", problems);
  require(problems.empty() && system_text(again) == text, "a system does not read back as it was written");
}

void ssd(std::string_view bytes) {
  static const ScratchFile file(".ssd");
  std::vector<Problem> problems;
  try {
    description::read_ssp(file.write(bytes), problems);
  } catch (const Error&) {
  }
}

void ssv(std::string_view bytes) {
  std::vector<Problem> problems;
  description::parse_ssv(bytes, "fuzz.ssv", problems);
}

void ssm(std::string_view bytes) {
  std::vector<Problem> problems;
  description::parse_ssm(bytes, "fuzz.ssm", problems);
}

void uri(std::string_view bytes) {
  try {
    std::string fragment;
    const auto path = description::path_of_uri(bytes, fragment);
    require(description::path_of_uri(description::uri_of_path(path), fragment) == path,
            "a path does not survive as a URI");
  } catch (const Error&) {
  }
}

void csv(std::string_view bytes) {
  try {
    const auto results = reading::parse_csv(bytes, "fuzz.csv");
    for (const auto& column : results.columns)
      require(column.size() == results.times.size(), "columns of different length");
  } catch (const Error&) {
  }
}

void mat(std::string_view bytes) {
  static const ScratchFile file(".mat");
  try {
    const auto results = reading::mat_source(file.write(bytes))->read({});
    for (const auto& column : results.columns)
      require(column.values.size() == results.axes[column.axis].size(), "columns of different length");
  } catch (const Error&) {
  }
}

/// The journal with the right checksums: what was changed on purpose must not be sorted out as damage.
std::string sealed(std::string_view bytes) {
  std::string journal(bytes);
  recording::RecordedLayout layout;
  for (std::size_t at = 0; at + sizeof(recording::JournalRecordHead) <= journal.size();) {
    recording::JournalRecordHead head{};
    std::memcpy(&head, journal.data() + at, sizeof head);
    const auto payload = std::string_view(journal).substr(at + sizeof head);
    const std::uint64_t row_bytes = sizeof(Time) + layout.columns.size() * sizeof(double) + layout.groups.size();
    if (head.bytes > payload.size() || head.rows > head.bytes / row_bytes) break;
    if (at == 0) {
      std::string magic, format;
      try {
        base::from_bytes(std::as_bytes(std::span(payload.substr(0, head.bytes))), magic, format, layout);
      } catch (const Error&) {
        break;
      }
    }
    head.checksum = recording::journal_checksum(layout, head.rows, payload.substr(0, head.bytes));
    std::memcpy(journal.data() + at, &head, sizeof head);
    at += sizeof head + head.bytes;
  }
  return journal;
}

/// What a killed run has left. It names the format that it is made into: here a CSV file, whatever it says.
void journal(std::string_view bytes) {
  static const ScratchFile file(".csv.journal");
  static const ScratchFile made(".csv");
  const auto& written = file.write(sealed(bytes));
  try {
    recording::JournalReader reader(written);
    const auto results = recording::csv_file(made.write(""));
    results->write_header(reader.layout());
    while (const auto block = reader.next()) results->write(*block, block->all());
    results->complete();
  } catch (const Error&) {
  }
}

void frames(std::string_view bytes) {
  static const ScratchFile file("-frames.csv");
  const auto shown = reporting::frames_json(file.write(bytes));
  if (shown.is_null()) return;
  require(shown["frames"].size() <= shown["count"].get<std::size_t>(), "more frames than there are");
  shown.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void learned(std::string_view bytes) {
  static const ScratchFile file(".json");
  try {
    const auto read = read_learned(file.write(bytes));
    save_learned(read, file.path());
    require(read_learned(file.path()).corrections.size() == read.corrections.size(), "a correction got lost");
  } catch (const Error&) {
  }
}

/// What follows the version in a checkpoint, which is of this one, and has the right length and checksum.
void checkpoint(std::string_view bytes) {
  constexpr std::size_t kBeforeSize = 12;  // letters and format
  static const ScratchFile file(".state");
  static const std::string head = [] {
    session::write_checkpoint(file.path(), {});
    std::ifstream written(file.path(), std::ios::binary);
    std::string letters(kBeforeSize, '\0');
    written.read(letters.data(), kBeforeSize);
    return letters;
  }();
  const auto append = [](std::string& to, const base::Bytes& part) {
    to.append(reinterpret_cast<const char*>(part.data()), part.size());
  };
  std::string content;
  append(content, base::to_bytes(std::string(version())));
  content += bytes;
  std::string all = head;
  append(all, base::to_bytes(static_cast<std::uint64_t>(content.size())));
  all += content;
  const auto sum = base::sha256(std::as_bytes(std::span(all)));
  all.append(reinterpret_cast<const char*>(sum.data()), sum.size());
  try {
    session::read_checkpoint(file.write(all));
  } catch (const Error& error) {
    require(error.fact().code != FactCode::CheckpointDamaged && error.fact().code != FactCode::CheckpointVersion,
            "not what this target is made for");
  }
}

/// A table over time as a source, in both ways of reading it between its rows.
void csv_source(std::string_view bytes) {
  for (const auto interpolation : {TableInterpolation::Hold, TableInterpolation::Linear}) {
    try {
      const auto source = subsystem::parse_csv_source(bytes, "fuzz.csv", interpolation);
      require(source->first_time() <= source->last_time(), "a table whose time goes back");
      std::vector<double> values(source->variables().outputs.size());
      for (const Time t : {source->first_time() - 1.0, source->first_time(),
                           0.5 * source->first_time() + 0.5 * source->last_time(), source->last_time() + 1.0}) {
        source->outputs({t, {}, {}, {}, {}}, values);
        source->output_rates({t, {}, {}, {}, {}}, values);
        require(source->next_discontinuity(t) > t, "an event that lies behind");
      }
    } catch (const Error&) {
    }
  }
}

/// A library as a file, before it is loaded.
void elf(std::string_view bytes) {
  static const ScratchFile file(".so");
  const auto& path = file.write(bytes);
  const subsystem::ElfFile library(path);
  for (const auto& symbol : library.symbols()) require(*symbol.name != '\0', "a symbol without a name");
  subsystem::missing_libraries(path);
  subsystem::elf_misfit(path);
}

void osp(std::string_view bytes) {
  static const ScratchFile file("-OspSystemStructure.xml");
  std::vector<Problem> problems;
  try {
    description::read_osp(file.write(bytes), problems);
  } catch (const Error&) {
  }
}

void terminals(std::string_view bytes) {
  static const ScratchFile file(".xml");
  subsystem::FmuDescription description;
  subsystem::read_terminals(file.write(bytes), description);
  require(description.terminals.empty() || description.terminals_fault.empty(), "terminals of a broken file");
}

template <class Answer>
void answer_of(std::span<const std::byte> bytes) {
  try {
    Answer answer;
    base::from_bytes(bytes, answer);
    require(base::to_bytes(answer).size() <= 16 * bytes.size() + 4096, "more than there was");
  } catch (const Error&) {
  }
}

/// What a worker may write where its answers are expected: its FMU can.
void answer(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  answer_of<worker::MadeSubsystem>(bytes);
  answer_of<worker::SubsystemAbilities>(bytes);
  answer_of<base::ErrorRecord>(bytes);
  answer_of<Linearization>(bytes);
  answer_of<LogMessage>(bytes);
  answer_of<std::vector<Value>>(bytes);
  answer_of<std::vector<Fact>>(bytes);
  answer_of<ClockInterval>(bytes);
}

/// What arrives at the socket of a run: it must be exactly what would be written, and a counter must count it once.
void datagram(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  const auto read = outside::parse_datagram(bytes);
  if (!read) return;
  std::vector<double> values(read->head.count);
  read->read(values);
  for (const double value : values) require(std::isfinite(value), "a value that is not finite");
  std::vector<std::byte> again(bytes.size());
  require(outside::write_datagram(read->head, values, again).size() == bytes.size(), "another length");
  require(std::equal(again.begin(), again.end(), bytes.begin()), "a datagram does not read back as it was written");
  outside::SequenceCounter counter;
  counter.take(read->head.answers);
  counter.take(read->head.sequence);
  require(counter.missing() <= std::max(read->head.sequence, read->head.answers), "more lost than sent");
}

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> all{{"archive", archive},
                                       {"model_description", model_description},
                                       {"toml", toml},
                                       {"ssd", ssd},
                                       {"ssv", ssv},
                                       {"ssm", ssm},
                                       {"uri", uri},
                                       {"csv", csv},
                                       {"mat", mat},
                                       {"csv_source", csv_source},
                                       {"elf", elf},
                                       {"osp", osp},
                                       {"terminals", terminals},
                                       {"answer", answer},
                                       {"datagram", datagram},
                                       {"journal", journal},
                                       {"frames", frames},
                                       {"learned", learned},
                                       {"checkpoint", checkpoint}};
  return all;
}

}  // namespace entrain::fuzz
