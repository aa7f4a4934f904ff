// An FMU has a C++ library of its own inside, which keeps a block for exceptions without memory until the process ends:
// 72 kB that every unloaded FMU would leave behind.
namespace __gnu_cxx {
void __freeres();  // NOLINT(readability-identifier-naming): of libstdc++, for tools that look for leaks; in no header
}

namespace {

[[gnu::destructor]] void free_the_reserve() {
  __gnu_cxx::__freeres();
}

}  // namespace
