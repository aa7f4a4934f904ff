#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace entrain::subsystem {

/// A shared library (ELF, 64 bits) as a file, before it is loaded. A file that is none, or whose tables are damaged,
/// has no symbols and needs nothing: the loader reports what is wrong with it.
class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path);
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  struct Symbol {
    const char* name;  ///< ends with 0, as long as the file is held
    bool defined;      ///< here; else by another library
    bool weak;
    bool object;  ///< data, according to the file
  };
  std::vector<Symbol> symbols() const;
  /// Names of the libraries that it needs.
  std::vector<std::string> needed() const { return dynamic_texts({DT_NEEDED}); }
  /// Lists of folders in which it looks for them first.
  std::vector<std::string> search_paths() const { return dynamic_texts({DT_RPATH, DT_RUNPATH}); }

  /// Changes the file so that the library looks for what it refers to in itself first (DT_SYMBOLIC). False when the
  /// table has no place for it, or the file cannot be written.
  static bool prefer_own_symbols(const std::filesystem::path& path);
  /// Changes the file so that it no longer asks for these libraries: what it uses of them it finds in the process.
  /// False when the file cannot be written.
  static bool leave_to_process(const std::filesystem::path& path, const std::vector<std::string>& libraries);

 private:
  template <class Entry>
  std::span<const Entry> table(const Elf64_Shdr* section) const;
  const Elf64_Shdr* section(Elf64_Word type) const;
  const char* text(const Elf64_Shdr* owner, std::size_t offset) const;
  std::vector<std::string> dynamic_texts(std::initializer_list<Elf64_Sxword> tags) const;

  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  bool read(int descriptor, std::uint64_t offset, std::uint64_t count);

  /// As large as the file. Only what has been read of it is there: the rest is zero, and takes no memory.
  std::unique_ptr<std::byte, Free> content_;
  std::span<std::byte> bytes_;
  std::span<const Elf64_Shdr> sections_;
};

/// Why the loader would not take a file, or would crash with it: it is for another machine, or no whole library.
struct ElfMisfit {
  std::string machine{};  ///< "AArch64 (64 bits)"; empty = this one
  std::string present{};  ///< the machine of this process
  std::string why{};      ///< for a file of this machine
};
/// nullopt for a file that fits.
std::optional<ElfMisfit> elf_misfit(const std::filesystem::path& library);

/// What `library`, and those beside it that it needs, need and the loader finds nowhere.
std::vector<std::string> missing_libraries(const std::filesystem::path& library);

/// How a library of an FMU is to be loaded so that it calls what it brings, and shares what the process has.
struct ElfLoading {
  bool own_symbols = false;  ///< of the library itself some have the name of one in the process
  bool apart = false;        ///< so have some of other libraries that it brings
  /// Needed libraries whose data the program holds a copy of (std::cout of libstdc++): apart from the rest of the
  /// process the originals would be found, which stay untouched.
  std::vector<std::string> copied{};
};
/// `library` and those beside it that it needs, against all that the process has loaded globally.
ElfLoading required_loading(const std::filesystem::path& library);
/// Lets `library` and those beside it that it needs find the copies, as ElfLoading says. False where that cannot be.
bool use_copies(const std::filesystem::path& library, const std::vector<std::string>& copied);

}  // namespace entrain::subsystem
