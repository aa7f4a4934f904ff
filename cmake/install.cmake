include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS entrain_program entrain_worker_program entrain_studio_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ${ENTRAIN_PLUGINS} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/entrain)
install(TARGETS entrain_shared EXPORT entrain LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/entrain DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# What examples name by its place in the build folder lies beside them when they are installed.
install(CODE "set(SOURCE ${PROJECT_SOURCE_DIR}/examples)\nset(WORK ${PROJECT_BINARY_DIR}/installed)\nset(DESTINATION ${CMAKE_INSTALL_DATADIR}/entrain)")
install(SCRIPT cmake/install_examples.cmake)
if(NOT ENTRAIN_SANITIZE)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/fmus/2 ${PROJECT_BINARY_DIR}/fmus/3 ${PROJECT_BINARY_DIR}/fmus/supplied
    DESTINATION ${CMAKE_INSTALL_DATADIR}/entrain/fmus)
endif()
install(FILES README.md CHANGELOG.md LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(EXPORT entrain FILE entrain-targets.cmake NAMESPACE entrain:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/entrain)
set(fmukit_folder ${CMAKE_INSTALL_LIBDIR}/entrain/fmukit)  # installed by fmukit/CMakeLists.txt
configure_package_config_file(cmake/entrain-config.cmake.in entrain-config.cmake PATH_VARS fmukit_folder
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/entrain)
write_basic_package_version_file(entrain-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/entrain-config.cmake ${PROJECT_BINARY_DIR}/entrain-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/entrain)

# `make deb`: one package for Debian 12 with all of the above; what it depends on is read from the libraries that are linked.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME entrain)
set(CPACK_PACKAGE_CONTACT "The Entrain authors <entrain@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Coupled simulation of FMUs and models, with a verdict on its error")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "bubblewrap")  # sandboxes
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, cmake")  # the library, FMUs of own models
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "The program entrain, its library with headers and CMake package, a kit that makes FMUs
 of C++ models, and examples in /usr/share/entrain.")
include(CPack)
