#pragma once

#include <cstdarg>
#include <cstddef>
#include <filesystem>
#include <string>

namespace entrain::subsystem {

// What instances of FMI 1 and FMI 2 get from the importer: memory, a logger that formats like printf, and addresses.

void* allocate_for_fmu(std::size_t count, std::size_t size);
void release_for_fmu(void* memory);

/// A message of the instance behind `environment`; where that is unknown, of the one that the calling thread is in.
void log_formatted(const void* environment, bool trouble, const char* category, const char* message,
                   std::va_list arguments);

/// "file:///..." with everything but letters, digits and -._~/ as %NN (RFC 3986).
std::string file_uri(const std::filesystem::path& path);

}  // namespace entrain::subsystem
