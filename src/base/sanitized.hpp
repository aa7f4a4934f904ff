#pragma once

// ENTRAIN_SANITIZED: the address or the thread sanitizer is built in. They catch signals, bring an allocator and load
// libraries of their own. GCC has macros for them, Clang has features.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ENTRAIN_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ENTRAIN_SANITIZED
#endif
#endif
