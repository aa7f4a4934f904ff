#include "subsystem/fmi/archive.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <array>
#include <cerrno>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "base/printable.hpp"
#include "entrain/error.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestPart = 255;   // bytes: what file systems take (NAME_MAX) ...
constexpr std::size_t kLongestPath = 2000;  // ... and less than PATH_MAX, because the folder comes before it

/// Why an entry of this name must not be written; empty when it may.
std::string_view fault_of_name(std::string_view name) {
  if (name.empty()) return "has no name";
  if (name.size() > kLongestPath) return "has a path that is too long";
  if (!is_utf8(name)) return "has a name that is not UTF-8";
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return "has a control character in its name";
  }
  if (name.front() == '/') return "has an absolute path";
  if (name.find('\\') != std::string_view::npos) return "has a backslash in its path";
  if (name.size() > 1 && name[1] == ':') return "has a drive letter";
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part == "..") return "leads out of the archive ('..')";
    if (part.size() > kLongestPart) return "has a name that is too long for a file";
    begin = end + 1;
  }
  return {};
}

class Unpacker {
 public:
  Unpacker(const fs::path& archive, const fs::path& folder, const ArchiveLimits& limits)
      : archive_(archive), folder_(folder), limits_(limits), zip_(open(archive)) {}

  void run() {
    const zip_int64_t count = zip_get_num_entries(zip_.get(), 0);
    if (static_cast<std::uint64_t>(count) > limits_.entries) {
      refuse(fmt::format("it has {} entries, more than the {} an FMU may have", count, limits_.entries));
    }
    for (zip_int64_t i = 0; i < count; ++i) unpack(static_cast<zip_uint64_t>(i));
  }

 private:
  struct Discard {
    void operator()(zip_t* zip) const { zip_discard(zip); }
    void operator()(zip_file_t* file) const { zip_fclose(file); }
  };
  struct Entry {
    zip_uint64_t index;
    std::string name;
    std::uint64_t packed;  ///< bytes in the archive
    bool executable;
  };

  std::unique_ptr<zip_t, Discard> open(const fs::path& archive) {
    std::error_code error;
    const auto status = fs::status(archive, error);
    if (!fs::exists(status)) fail_file(fmt::format("no such file: '{}'", archive.string()));
    if (!fs::is_regular_file(status)) fail_file(fmt::format("'{}' is not a regular file", archive.string()));
    int code = 0;
    std::unique_ptr<zip_t, Discard> zip(zip_open(archive.c_str(), ZIP_RDONLY, &code));
    if (zip) return zip;
    if (code == ZIP_ER_NOZIP || code == ZIP_ER_INCONS || code == ZIP_ER_EOF) {
      refuse("it is no zip archive, or a truncated one");
    }
    zip_error_t reason;
    zip_error_init_with_code(&reason, code);
    const std::string text = zip_error_strerror(&reason);
    zip_error_fini(&reason);
    fail_file(fmt::format("cannot read '{}': {}", archive.string(), text));
  }

  [[noreturn]] static void fail_file(const std::string& message) { throw Error(ErrorCode::FileFailed, message); }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::InvalidSystem, fmt::format("the archive '{}' was not unpacked: {}", archive_.string(), why),
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Get the file again from where it was made"});
  }
  [[noreturn]] void refuse(std::string_view name, std::string_view why) const {
    refuse(fmt::format("its entry '{}' {}", printable(name), why));
  }

  void unpack(zip_uint64_t index) {
    zip_stat_t status;
    zip_stat_init(&status);
    const char* raw = zip_get_name(zip_.get(), index, ZIP_FL_ENC_RAW);
    if (raw == nullptr || zip_stat_index(zip_.get(), index, 0, &status) != 0) {
      refuse(fmt::format("its entry number {} cannot be read: {}", index, zip_strerror(zip_.get())));
    }
    const std::string name = raw;
    if (const auto fault = fault_of_name(name); !fault.empty()) refuse(name, fault);
    const fs::path relative = fs::path(name).lexically_normal();
    const bool is_folder = name.back() == '/';
    if (!is_folder && (!relative.has_filename() || relative == ".")) refuse(name, "names no file");
    const std::string key = is_folder ? relative.parent_path().string() : relative.string();
    if (!names_.insert(key).second) refuse(name, "is there twice");

    bool executable = false;
    check_kind(index, name, executable);
    if ((status.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && status.encryption_method != ZIP_EM_NONE) {
      refuse(name, "is encrypted");
    }
    const fs::path target = folder_ / relative;
    std::error_code error;
    fs::create_directories(is_folder ? target : target.parent_path(), error);
    if (error) refuse(name, fmt::format("cannot be written: {}", error.message()));
    if (!is_folder) write({index, name, status.comp_size, executable}, target);
  }

  /// Symbolic links and devices are how an archive reaches outside its folder.
  void check_kind(zip_uint64_t index, const std::string& name, bool& executable) const {
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    if (zip_file_get_external_attributes(zip_.get(), index, 0, &system, &attributes) != 0) return;
    if (system != ZIP_OPSYS_UNIX) return;
    const auto mode = static_cast<mode_t>(attributes >> 16U);
    executable = (mode & S_IXUSR) != 0;
    if ((mode & S_IFMT) == 0 || S_ISREG(mode) || S_ISDIR(mode)) return;
    refuse(name, S_ISLNK(mode) ? "is a symbolic link" : "is neither a file nor a folder");
  }

  void write(const Entry& entry, const fs::path& target) {
    const std::unique_ptr<zip_file_t, Discard> file(zip_fopen_index(zip_.get(), entry.index, 0));
    if (!file) refuse(entry.name, fmt::format("cannot be read: {}", zip_strerror(zip_.get())));
    const int out =
        ::open(target.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, entry.executable ? 0700 : 0600);
    if (out < 0) fail_to_write(target);
    try {
      copy(entry, *file, out, target);
    } catch (...) {
      ::close(out);
      throw;
    }
    if (::close(out) != 0) fail_to_write(target);
  }

  void copy(const Entry& entry, zip_file_t& file, int out, const fs::path& target) {
    std::array<char, std::size_t{1} << 16U> buffer;
    std::uint64_t written = 0;
    for (;;) {
      const zip_int64_t got = zip_fread(&file, buffer.data(), buffer.size());
      if (got < 0) refuse(entry.name, fmt::format("is damaged: {}", zip_error_strerror(zip_file_get_error(&file))));
      if (got == 0) return;
      written += static_cast<std::uint64_t>(got);
      total_ += static_cast<std::uint64_t>(got);
      if (total_ > limits_.bytes) {
        refuse(entry.name, fmt::format("makes it larger than {} bytes, the most an FMU may have", limits_.bytes));
      }
      if (written > limits_.ratio_free_bytes && written / limits_.ratio > entry.packed) {
        refuse(entry.name, fmt::format("is more than {} times larger unpacked than packed", limits_.ratio));
      }
      for (zip_int64_t done = 0; done < got;) {
        const ssize_t put = ::write(out, buffer.data() + done, static_cast<std::size_t>(got - done));
        if (put < 0) fail_to_write(target);
        done += put;
      }
    }
  }

  [[noreturn]] static void fail_to_write(const fs::path& target) {
    throw Error(
        ErrorCode::FileFailed,
        fmt::format("cannot write '{}': {}", target.string(), std::generic_category().message(errno)),
        {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Set TMPDIR to a folder with space and rights"});
  }

  const fs::path& archive_;
  const fs::path& folder_;
  const ArchiveLimits& limits_;
  std::unique_ptr<zip_t, Discard> zip_;
  std::set<std::string> names_;
  std::uint64_t total_ = 0;
};

}  // namespace

UnpackedArchive::UnpackedArchive(const fs::path& archive, const ArchiveLimits& limits) {
  Unpacker(archive, folder_.content(), limits).run();
}

}  // namespace entrain
