// The shared library is the static one in another wrapping; a CMake target needs one source of its own.
