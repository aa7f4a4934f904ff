#include "studio/workshop.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "entrain/comparison.hpp"
#include "entrain/control.hpp"
#include "entrain/error.hpp"
#include "entrain/inspection.hpp"
#include "entrain/new_system.hpp"
#include "entrain/report.hpp"
#include "entrain/system_edit.hpp"
#include "studio/child.hpp"

namespace entrain::studio {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

constexpr std::uintmax_t kLargestText = 16U << 20U;
constexpr std::uintmax_t kLargestPage = 64U << 20U;
constexpr std::size_t kMostRuns = 200;
constexpr std::size_t kMostArguments = 64;
constexpr auto kLookPatience = 120s;
constexpr std::streamoff kLogTail = 200'000;

[[noreturn]] void refuse_request(int status, const std::string& why) {
  throw Refusal{status, {{"error", why}}};
}

std::string text_of(const fs::path& file, std::uintmax_t most = kLargestText) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  if (error) return {};
  if (size > most) refuse_request(413, fmt::format("{} is too large", file.filename().string()));
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string tail_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream) return {};
  const std::streamoff size = stream.tellg();
  stream.seekg(std::max<std::streamoff>(0, size - kLogTail));
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Which text it is; not against an attacker (FNV-1a).
std::string digest(std::string_view text) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:016x}", sum);
}

/// The old content or the new, never a part; on a full disk the old.
void write_text(const fs::path& file, std::string_view text) {
  std::string temporary = (file.parent_path() / fmt::format(".{}.XXXXXX", file.filename().string())).string();
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  const auto fail = [&](int error) {
    if (descriptor >= 0) ::unlink(temporary.c_str());
    refuse_request(error == ENOSPC ? 507 : 500,
                   fmt::format("cannot write {}: {}", file.filename().string(), std::strerror(error)));
  };
  if (descriptor < 0) fail(errno);
  ::fchmod(descriptor, 0644);
  int error = 0;
  while (!text.empty() && error == 0) {
    const auto count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno != EINTR) error = errno;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (error == 0 && ::fsync(descriptor) != 0) error = errno;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), file.c_str()) != 0) error = errno;
  if (error != 0) fail(error);
}

fs::path layout_of(const fs::path& system) {
  return system.parent_path() / (system.stem().string() + ".layout.json");
}

Json parsed_or_null(const std::string& text) {
  auto json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json() : json;
}

Json methods_json() {
  Json list = Json::array();
  for (const auto& method : methods()) {
    Json options = Json::array();
    for (const auto& option : method.options) {
      options.push_back(
          {{"name", option.name}, {"type", option.type}, {"default", option.default_value}, {"help", option.help}});
    }
    list.push_back({{"name", method.traits.name}, {"summary", method.traits.summary}, {"options", std::move(options)}});
  }
  return list;
}

std::string note_of(const fs::path& folder) {
  std::string note(4000, '\0');
  std::ifstream stream(folder / "note.txt", std::ios::binary);
  stream.read(note.data(), static_cast<std::streamsize>(note.size()));
  note.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, stream.gcount())));
  return note;
}

/// Of a run, from the few things of run.json that a list shows.
Json run_entry(const fs::path& folder, const std::string& name) {
  Json entry{{"run", name}, {"goes_on", fs::exists(folder / kControlSocket)}, {"note", note_of(folder)}};
  std::error_code error;
  const auto written = fs::last_write_time(folder / "run.json", error).time_since_epoch();
  entry["order"] = std::chrono::duration_cast<std::chrono::milliseconds>(written).count();
  if (fs::file_size(folder / "run.json", error) > kLargestText || error) return entry;
  const Json run = parsed_or_null(text_of(folder / "run.json"));
  if (!run.is_object()) return entry;
  for (const char* key : {"system", "method", "termination", "message", "start", "stop", "reached", "step",
                          "macro_steps", "wall_seconds"}) {
    if (run.contains(key)) entry[key] = run[key];
  }
  if (run.contains("verdict")) entry["verdict"] = run["verdict"];
  if (run.contains("failure")) entry["failure"] = run["failure"];
  return entry;
}

/// What a page may pass to a command: nothing that reads or writes elsewhere.
bool is_allowed(const std::string& verb, const std::string& option) {
  static const std::vector<std::string> kOptions{
      "--method",      "--step",      "--start",   "--stop",     "--set",     "--option",
      "--tolerance",   "--real-time", "--isolate", "--sandbox",  "--threads", "--exclude",
      "--no-estimate", "--meet",      "--budget",  "--overrun",  "--vary",    "--cases",
      "--seed",        "--sampling",  "--jobs",    "--quantity", "--yes",     "--iterations",
      "--stand-in",    "--verify",    "--search",  "--require",  "--calls",   "--learned"};
  static const std::vector<std::string> kVerbs{"check", "advise", "run", "verify", "learn", "sweep"};
  return std::find(kVerbs.begin(), kVerbs.end(), verb) != kVerbs.end() &&
         std::find(kOptions.begin(), kOptions.end(), option) != kOptions.end();
}

std::string quoted_word(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=/,:@%") ==
                                          std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

Upload::Upload(fs::path folder, std::string name)
    : folder_(std::move(folder)), name_(std::move(name)), temporary_((folder_ / ".upload-XXXXXX").string()) {
  descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) refuse_request(500, fmt::format("cannot write into the folder: {}", std::strerror(errno)));
}

Upload::Upload(Upload&& other) noexcept
    : folder_(std::move(other.folder_)),
      name_(std::move(other.name_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {
  other.temporary_.clear();
}

Upload::~Upload() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

bool Upload::add(const char* bytes, std::size_t size) {
  while (size > 0) {
    const auto count = ::write(descriptor_, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

std::string Upload::finish() {
  std::array<char, 4> first{};
  const bool is_zip =
      ::pread(descriptor_, first.data(), first.size(), 0) == 4 && std::memcmp(first.data(), "PK\3\4", 4) == 0;
  const fs::path name(name_);
  if (name.extension() != ".csv" && !is_zip)
    refuse_request(415, fmt::format("{} is no FMU and no package: it is no zip archive", name_));
  ::fchmod(descriptor_, 0644);
  for (int i = 1; i < 1000; ++i) {
    const auto candidate = i == 1 ? name_ : fmt::format("{}-{}{}", name.stem().string(), i, name.extension().string());
    // A link, so that nothing that is there is ever replaced.
    if (::link(temporary_.c_str(), (folder_ / candidate).c_str()) == 0) return candidate;
    if (errno != EEXIST) refuse_request(500, fmt::format("cannot write {}: {}", candidate, std::strerror(errno)));
  }
  refuse_request(409, fmt::format("there are too many files named {}", name_));
}

Workshop::Workshop(const Folder& folder, WorkshopOptions options, Jobs& jobs, PageEvents& events)
    : folder_(folder), options_(std::move(options)), jobs_(jobs), events_(events) {}

fs::path Workshop::place_of(const Json& request, const char* key) const {
  const auto name = request.value(key, std::string());
  const auto place = folder_.inside(name);
  if (!place) refuse_request(403, fmt::format("'{}' lies outside the opened folder", name));
  return *place;
}

fs::path Workshop::run_folder(const Json& request, const char* key) const {
  const auto place = place_of(request, key);
  if (place == folder_.path() || !fs::is_regular_file(place / "run.json")) refuse_request(404, "there is no such run");
  return place;
}

Upload Workshop::upload(const std::string& name) const {
  const auto ending = fs::path(name).extension();
  const bool is_known = ending == ".fmu" || ending == ".ssp" || ending == ".csv";
  if (!is_file_name(name) || !is_known)
    refuse_request(415, "FMUs (.fmu), packages (.ssp) and tables (.csv) can be added");
  return Upload(folder_.path(), name);
}

std::string Workshop::fingerprint() const {
  std::string text;
  std::error_code error;
  for (const auto& name : folder_.files({".toml", ".fmu", ".csv", ".ssp"})) {
    const auto file = folder_.path() / name;
    text += fmt::format("{} {} {}\n", name, fs::file_size(file, error),
                        fs::last_write_time(file, error).time_since_epoch().count());
  }
  fs::directory_iterator entry(folder_.path() / "runs", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const auto file = entry->path() / "run.json";
    std::error_code ignored;
    text += fmt::format("{} {}\n", entry->path().filename().string(),
                        fs::last_write_time(file, ignored).time_since_epoch().count());
  }
  return digest(text);
}

Json Workshop::runs() const {
  std::vector<Json> list;
  for (const auto& parent : {folder_.path() / "runs", folder_.path()}) {
    std::error_code error;
    fs::directory_iterator entry(parent, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (entry->is_symlink() || !fs::is_regular_file(entry->path() / "run.json")) continue;
      list.push_back(run_entry(entry->path(), entry->path().lexically_relative(folder_.path()).string()));
    }
  }
  std::sort(list.begin(), list.end(), [](const Json& a, const Json& b) { return a["order"] > b["order"]; });
  if (list.size() > kMostRuns) list.resize(kMostRuns);
  return list;
}

Json Workshop::state(const Json& words) const {
  const std::string system = words.value("system", options_.system);
  const auto file = place_of({{"system", system}}, "system");
  const bool is_text = file.extension() == ".toml";
  const auto text = is_text ? text_of(file) : "";
  return {{"folder", folder_.path().filename().string()},
          {"system", system},
          {"exists", fs::exists(file)},
          {"is_text", is_text},
          {"text", text},
          {"digest", digest(text)},
          {"layout", is_text ? parsed_or_null(text_of(layout_of(file))) : Json()},
          {"systems", folder_.files({".toml", ".ssp", ".ssd"})},
          {"files", folder_.files({".fmu", ".csv"})},
          {"runs", runs()},
          {"jobs", parsed_or_null(jobs_.list())},
          {"sandbox", options_.sandbox},
          {"methods", methods_json()}};
}

std::string Workshop::look(const std::string& what, const Json& words) {
  if (what == "state") return state(words).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (what == "report") return report_json(run_folder(words));
  if (what == "page") return page_json(words);
  if (what == "log") {
    return Json{{"log", tail_text(run_folder(words) / "fmu.log")}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  if (what == "compare") {
    return comparison_page_json(compare({run_folder(words), run_folder(words, "other")}));
  }
  refuse_request(404, "there is nothing of this name");
}

/// The text need not be saved, and may be wrong in any way. FMUs are loaded by that process, not by this one.
std::string Workshop::sketched(const Json& request) {
  const auto file = place_of(request, "system");
  std::vector<std::string> words{"check", "--json", file.string()};
  if (options_.sandbox) words.emplace_back("--sandbox");
  const bool is_text = request.contains("text");
  if (is_text) words.emplace_back("--stdin");
  children_.acquire();
  ChildResult result;
  try {
    result = run_child({options_.program, words, file.parent_path()}, is_text ? request["text"].get<std::string>() : "",
                       kLookPatience);
  } catch (...) {
    children_.release();
    throw;
  }
  children_.release();
  if (result.is_late) refuse_request(504, "looking at the system took more than two minutes; an FMU may hang");
  const Json known = parsed_or_null(result.output);
  if (known.is_object() && known.contains("failure"))
    refuse_request(422, known["failure"].value("text", std::string()));
  if (!known.is_object()) {
    refuse_request(500, result.errors.empty() ? "the process that looked at the system ended" : result.errors);
  }
  return result.output;
}

Json Workshop::edited(const Json& request) const {
  std::string text = request.at("text").get<std::string>();
  try {
    for (const auto& edit : request.at("edits")) {
      const auto op = edit.at("op").get<std::string>();
      const auto word = [&](const char* key) { return edit.at(key).get<std::string>(); };
      if (op == "set") {
        text = with_value(text, edit.at("path").get<KeyPath>(),
                          edit.contains("text") ? quoted_text(word("text")) : word("value"));
      } else if (op == "remove") {
        text = without_value(text, edit.at("path").get<KeyPath>());
      } else if (op == "connect") {
        text = with_connection(text, word("output"), word("input"));
      } else if (op == "disconnect") {
        text = without_connection(text, word("output"), word("input"));
      } else if (op == "remove_subsystem") {
        text = without_subsystem(text, word("name"));
      } else if (op == "rename_subsystem") {
        text = with_subsystem_renamed(text, word("from"), word("to"));
      } else {
        refuse_request(400, fmt::format("unknown edit '{}'", op));
      }
    }
  } catch (const Error& error) {
    refuse_request(422, error.what());
  }
  return {{"text", text}};
}

Json Workshop::saved(const Json& request) {
  const auto file = place_of(request, "system");
  if (file.extension() != ".toml") refuse_request(415, "only system files (.toml) are saved as text");
  const std::lock_guard lock(saving_);
  const auto text = request.at("text").get<std::string>();
  const auto there = text_of(file);
  if (fs::exists(file) && digest(there) != request.at("digest").get<std::string>() && there != text) {
    throw Refusal{409, {{"error", "the file was changed on disk"}, {"text", there}, {"digest", digest(there)}}};
  }
  if (!fs::exists(file) || there != text) write_text(file, text);
  return {{"digest", digest(text)}};
}

/// What the report of a command shows: the JSON that its page holds.
std::string Workshop::page_json(const Json& words) const {
  static constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"entrain-data\">";
  const auto number = words.value("number", std::string());
  if (number.empty() || number.size() > 9 || number.find_first_not_of("0123456789") != std::string::npos)
    refuse_request(400, "the number of a command is missing");
  const auto file = jobs_.page_of(std::stoi(number));
  if (file.empty()) refuse_request(404, "the command left no page");
  const auto html = text_of(file, kLargestPage);
  const auto begin = html.find(kBegin);
  const auto end = begin == std::string::npos ? begin : html.find("</script>", begin);
  if (end == std::string::npos) refuse_request(404, "the command left no page");
  return html.substr(begin + kBegin.size(), end - begin - kBegin.size());
}

std::string Workshop::free_run(const std::string& system, const std::string& parent) const {
  const auto file = folder_.path() / system;
  const auto name = file.filename() == "system.toml" ? file.parent_path().filename().string() : file.stem().string();
  for (int i = 1;; ++i) {
    const auto run = fmt::format("{}/{}-{}", parent, name, i);
    if (!fs::exists(folder_.path() / run)) return run;
  }
}

Json Workshop::started(const Json& request) {
  const auto verb = request.at("verb").get<std::string>();
  const auto system = request.at("system").get<std::string>();
  const auto file = place_of(request, "system");
  if (!fs::exists(file)) refuse_request(404, "save the system first");
  const auto arguments = request.value("arguments", std::vector<std::string>());
  if (arguments.size() > kMostArguments) refuse_request(400, "too many arguments");
  std::vector<std::string> words{verb, file.lexically_relative(folder_.path()).string()};
  if (words.back().starts_with('-')) refuse_request(400, "the name of the system begins with '-'");
  for (const auto& argument : arguments) {
    const auto option = argument.substr(0, argument.find('='));
    const bool is_value = !argument.starts_with("--") && words.size() > 2 && words.back().starts_with("--") &&
                          words.back().find('=') == std::string::npos;
    if (!is_value && !is_allowed(verb, option))
      refuse_request(403, fmt::format("the studio does not pass '{}' to '{}'", argument, verb));
    if (option == "--learned" && option != argument)
      refuse_request(403, "the studio passes the file of --learned as a word of its own");
    if (is_value && words.back() == "--learned") place_of({{"file", argument}}, "file");
    words.push_back(argument);
  }
  if (!is_allowed(verb, "--step")) refuse_request(403, fmt::format("the studio does not start '{}'", verb));
  if (options_.sandbox) words.emplace_back("--sandbox");
  std::string shown = "entrain";
  for (const auto& word : words) shown += ' ' + quoted_word(word);
  Jobs::Product product;
  std::string left;  // the folder that a command makes which is no run
  if (verb == "run") {
    product.run = free_run(words[1]);
    words.insert(words.end(), {"--out", product.run});
  } else if (verb == "learn") {
    left = free_run(words[1]);
    product.page = folder_.path() / left / "report.html";
    words.insert(words.end(), {"--out", left, "--report"});
  } else if (verb == "sweep") {
    left = free_run(words[1], "sweeps");
    product.page = folder_.path() / left / "sweep.html";
    words.insert(words.end(), {"--out", left});
  } else if (verb == "advise") {
    product.page = jobs_.temporary_page();
    words.insert(words.end(), {"--report", product.page.string()});
  }
  const int number = jobs_.start(words, product);
  return {{"number", number}, {"run", product.run}, {"folder", left}, {"command", shown}};
}

Json Workshop::controlled(const Json& request) {
  const auto place = run_folder(request);
  const auto command = request.at("command").get<std::string>();
  try {
    RunControl control(place);
    ControlledState state;
    if (command == "pause") {
      state = control.pause();
    } else if (command == "resume") {
      state = control.resume();
    } else if (command == "status") {
      state = control.status();
    } else if (command == "step") {
      state = control.step(request.value("steps", std::uint64_t{1}));
    } else if (command == "set") {
      const auto& value = request.at("value");
      const auto variable = request.at("variable").get<std::string>();
      if (value.is_boolean()) {
        state = control.set(variable, value.get<bool>());
      } else if (value.is_number_integer()) {
        state = control.set(variable, value.get<std::int64_t>());
      } else if (value.is_number()) {
        state = control.set(variable, value.get<double>());
      } else {
        state = control.set(variable, value.get<std::string>());
      }
    } else if (command == "stop") {
      control.stop();
      return {{"state", "stopped"}};
    } else {
      refuse_request(400, fmt::format("unknown command '{}'", command));
    }
    const Json json{{"event", "state"},   {"run", request.at("run")}, {"state", state.state},
                    {"time", state.time}, {"stop", state.stop},       {"macro_steps", state.macro_steps}};
    events_.send_all(json.dump());
    return json;
  } catch (const Error& error) {
    refuse_request(409, error.what());
  }
}

void Workshop::remove_run(const Json& request) {
  const auto place = run_folder(request);
  if (fs::exists(place / kControlSocket)) refuse_request(409, "the run goes on; stop it first");
  std::error_code error;
  fs::remove_all(place, error);
  if (error) refuse_request(500, fmt::format("cannot remove the run: {}", error.message()));
}

/// SSP as TOML, or the other way; nothing that exists is overwritten.
Json Workshop::converted(const Json& request) {
  const auto from = place_of(request, "from");
  const auto to = place_of(request, "to");
  std::vector<std::string> words{"convert", from.string(), to.string()};
  if (options_.sandbox) words.emplace_back("--sandbox");
  const auto result = run_child({options_.program, words, folder_.path()}, "", kLookPatience);
  if (result.code != 0) refuse_request(422, result.errors.empty() ? "the conversion ended" : result.errors);
  return {{"file", to.lexically_relative(folder_.path()).string()}, {"notes", result.output + result.errors}};
}

std::string Workshop::act(const std::string& what, const Json& request) {
  const auto text = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
  if (what == "sketch") return sketched(request);
  if (what == "edit") return text(edited(request));
  if (what == "save") return text(saved(request));
  if (what == "start") return text(started(request));
  if (what == "control") return text(controlled(request));
  if (what == "convert") return text(converted(request));
  if (what == "interrupt") return text({{"done", jobs_.interrupt(request.at("number").get<int>())}});
  if (what == "layout") {
    write_text(layout_of(place_of(request, "system")),
               request.at("layout").dump(1, ' ', false, Json::error_handler_t::replace) + '\n');
    return "{}";
  }
  if (what == "watch") {
    const auto run = request.value("run", std::string());
    if (!run.empty()) place_of(request, "run");  // it may be about to be made
    jobs_.watch(request.at("page").get<std::string>(), {run, request.value("signals", std::vector<std::string>())});
    return "{}";
  }
  if (what == "note") {
    const auto note = request.at("text").get<std::string>();
    write_text(run_folder(request) / "note.txt", std::string_view(note).substr(0, 4000));
    return "{}";
  }
  if (what == "remove") {
    remove_run(request);
    return "{}";
  }
  refuse_request(404, "there is nothing of this name");
}

}  // namespace entrain::studio
