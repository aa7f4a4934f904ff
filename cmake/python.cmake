# The Python package (docs/python.md, ADR 0063): the module entrain._core is python/src linked with the rooms, which are built anyway.
#   python_package   the package as it can be imported, in <build>/python/package: what the tests use
# nanobind comes from PyPI: from a virtual environment below the build folder, which is made when the module is first built, or from the
# environment that pip builds in.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
execute_process(COMMAND ${Python3_EXECUTABLE} -c
  "import sys, sysconfig as c; print(c.get_paths()['include'], c.get_config_var('EXT_SUFFIX'), '%d.%d' % sys.version_info[:2], c.get_config_var('Py_GIL_DISABLED') or 0, sep=';')"
  OUTPUT_VARIABLE python OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
list(GET python 0 python_headers)
list(GET python 1 python_suffix)
list(GET python 2 python_version)
list(GET python 3 python_is_free_threaded)

set(ENTRAIN_PYTHON_ENVIRONMENT ${PROJECT_BINARY_DIR}/python/environment)
if(SKBUILD)
  execute_process(COMMAND ${Python3_EXECUTABLE} -c "import nanobind, os; print(os.path.dirname(nanobind.__file__))"
    OUTPUT_VARIABLE nanobind OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
else()
  set(nanobind ${ENTRAIN_PYTHON_ENVIRONMENT}/lib/python${python_version}/site-packages/nanobind)
  add_custom_command(OUTPUT ${nanobind}/src/nb_combined.cpp ${ENTRAIN_PYTHON_ENVIRONMENT}/ready.txt
    COMMAND ${PROJECT_SOURCE_DIR}/tools/python_environment ${Python3_EXECUTABLE} ${ENTRAIN_PYTHON_ENVIRONMENT}
      ${PROJECT_SOURCE_DIR}/python/requirements.txt
    DEPENDS ${PROJECT_SOURCE_DIR}/python/requirements.txt
    COMMENT "Python packages from PyPI" VERBATIM)
endif()

# One source has all of it. It is theirs: no warnings.
add_library(entrain_nanobind STATIC EXCLUDE_FROM_ALL ${nanobind}/src/nb_combined.cpp)
target_include_directories(entrain_nanobind SYSTEM PUBLIC ${python_headers} ${nanobind}/include PRIVATE ${nanobind}/ext/robin_map/include)
target_compile_options(entrain_nanobind PRIVATE -w -fno-strict-aliasing)
target_compile_definitions(entrain_nanobind PRIVATE NDEBUG NB_COMPACT_ASSERTIONS)

file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/src/*.cpp)
add_library(entrain_python MODULE EXCLUDE_FROM_ALL ${python_sources})
target_include_directories(entrain_python PRIVATE include)
target_link_libraries(entrain_python PRIVATE entrain_flags_with_fmt entrain_nanobind $<LINK_ONLY:entrain_core>)
target_compile_options(entrain_python PRIVATE -Wno-pedantic)  # headers of Python
set_target_properties(entrain_python PROPERTIES OUTPUT_NAME _core PREFIX "" SUFFIX ${python_suffix}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/package/entrain)
if(python_version VERSION_GREATER_EQUAL 3.12 AND NOT python_is_free_threaded)  # one module for all later ones
  target_compile_definitions(entrain_nanobind PUBLIC Py_LIMITED_API=0x030C0000)
  set_target_properties(entrain_python PROPERTIES SUFFIX .abi3.so)
endif()
if(NOT SKBUILD)
  add_custom_target(python_environment DEPENDS ${ENTRAIN_PYTHON_ENVIRONMENT}/ready.txt)
  add_dependencies(entrain_nanobind python_environment)
  add_dependencies(entrain_python python_environment)
endif()

# The package: the sources in Python, the module, the programs.
file(GLOB python_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/entrain ${PROJECT_SOURCE_DIR}/python/entrain/*)
list(FILTER python_files INCLUDE REGEX "\\.(py|pyi|typed)$")
set(package ${PROJECT_BINARY_DIR}/python/package/entrain)
foreach(file ${python_files})
  add_custom_command(OUTPUT ${package}/${file} DEPENDS ${PROJECT_SOURCE_DIR}/python/entrain/${file}
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/python/entrain/${file} ${package}/${file} VERBATIM)
  list(APPEND python_copies ${package}/${file})
endforeach()
foreach(program entrain_program entrain_worker_program entrain_studio_program)
  add_custom_command(OUTPUT ${package}/bin/${program}.linked DEPENDS ${program}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${package}/bin
    COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:${program}> ${package}/bin/$<TARGET_FILE_NAME:${program}>
    COMMAND ${CMAKE_COMMAND} -E touch ${package}/bin/${program}.linked VERBATIM)
  list(APPEND python_copies ${package}/bin/${program}.linked)
endforeach()
foreach(plugin entrain_hdf5 entrain_pagmo)
  add_custom_command(OUTPUT ${package}/${plugin}.linked DEPENDS ${plugin}
    COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:${plugin}> ${package}/$<TARGET_FILE_NAME:${plugin}>
    COMMAND ${CMAKE_COMMAND} -E touch ${package}/${plugin}.linked VERBATIM)
  list(APPEND python_copies ${package}/${plugin}.linked)
endforeach()
add_custom_target(python_package DEPENDS ${python_copies})
add_dependencies(python_package entrain_python entrain_program entrain_worker_program entrain_studio_program)

install(TARGETS entrain_python entrain_hdf5 entrain_pagmo LIBRARY DESTINATION entrain COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS entrain_program entrain_worker_program entrain_studio_program RUNTIME DESTINATION entrain/bin COMPONENT python EXCLUDE_FROM_ALL)
