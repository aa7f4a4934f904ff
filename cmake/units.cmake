# How sources become compiled units. Half of the time to compile a source is the reading of headers, so the sources of one
# folder are compiled some at a time, and the standard library and fmt are read from a precompiled header. A source still
# includes what it uses: clang-tidy sees each one alone (tools/tidy).
option(ENTRAIN_UNITY "Compile some sources of a folder as one unit" ON)
set(ENTRAIN_UNIT_SIZE 8 CACHE STRING "How many sources a unit has at most: more are faster in all, slower after an edit")

# entrain_units(TARGET): units of at most ENTRAIN_UNIT_SIZE sources, all of one folder; half as many in the folders that
# use Eigen, where a source takes three times as long.
function(entrain_units target)
  if(NOT ENTRAIN_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(SORT sources)
  set(folders "")
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    cmake_path(GET path PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND folders ${folder})
    list(APPEND in_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH in_${folder} count)
    set(size ${ENTRAIN_UNIT_SIZE})
    if(folder MATCHES "^src_(numerics|analysis)$")
      math(EXPR size "(${size} + 1) / 2")
    endif()
    math(EXPR units "(${count} + ${size} - 1) / ${size}")
    set(index 0)
    foreach(source ${in_${folder}})
      math(EXPR unit "${index} * ${units} / ${count} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${unit})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# entrain_precompile(NAME [EXECUTABLE] LIBRARY HEADER...): a precompiled header with the flags of LIBRARY, shared by all
# targets that call target_precompile_headers(TARGET REUSE_FROM NAME). The flags must be equal, also whether the code goes
# into a library or an executable; -Winvalid-pch reports it where they are not.
set(ENTRAIN_STANDARD_HEADERS <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory>
  <optional> <set> <span> <string> <string_view> <utility> <vector> <fmt/format.h> <fmt/ranges.h>)
function(entrain_precompile name)
  cmake_parse_arguments(PARSE_ARGV 1 OF "EXECUTABLE" "" "")
  list(POP_FRONT OF_UNPARSED_ARGUMENTS library)
  set(empty ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "")
  add_library(${name} OBJECT ${empty})
  target_link_libraries(${name} PRIVATE ${library})
  if(OF_EXECUTABLE)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE ${CMAKE_CXX_COMPILE_OPTIONS_PIE})
  endif()
  target_precompile_headers(${name} PRIVATE ${OF_UNPARSED_ARGUMENTS})
  if(CCACHE)
    set_target_properties(${name} PROPERTIES
      CXX_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/cmake/precompile;${CMAKE_CXX_COMPILER_LAUNCHER};--")
  endif()
endfunction()
