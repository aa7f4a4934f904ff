# The pages of the reports and of the studio, each as a C++ source that holds it. Rebuilt when something in web/ changes; empty
# without npm.
file(GLOB_RECURSE ENTRAIN_WEB_SOURCES CONFIGURE_DEPENDS web/src/*)
function(entrain_page name file room header)
  set(page ${PROJECT_BINARY_DIR}/web/${file}.html)
  set(source ${PROJECT_BINARY_DIR}/web/${file}_template.cpp)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -D PAGE=${page} -D SOURCE=${source} -D ROOM=${room} -D HEADER=${header}
      -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    DEPENDS ${page} cmake/embed_page.cmake VERBATIM)
  # A library of its own, so that only what links the program waits for npm.
  add_library(${name} STATIC ${source})
  target_include_directories(${name} PRIVATE src apps)
  target_link_libraries(${name} PRIVATE entrain_flags)
endfunction()
# One command after the other: both install the same packages.
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/web/page.html ${PROJECT_BINARY_DIR}/web/studio.html
  COMMAND ${PROJECT_SOURCE_DIR}/tools/build_page index ${PROJECT_BINARY_DIR}/web/page.html
  COMMAND ${PROJECT_SOURCE_DIR}/tools/build_page studio ${PROJECT_BINARY_DIR}/web/studio.html
  DEPENDS ${ENTRAIN_WEB_SOURCES} web/index.html web/studio.html web/vite.config.js web/tsconfig.json web/package.json
    web/package-lock.json tools/build_page
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "Building the pages of the reports and of the studio" VERBATIM)
add_custom_target(entrain_web DEPENDS ${PROJECT_BINARY_DIR}/web/page.html ${PROJECT_BINARY_DIR}/web/studio.html)
entrain_page(entrain_page page reporting report/page.hpp)
entrain_page(entrain_studio_page studio studio studio/page.hpp)
add_dependencies(entrain_page entrain_web)
add_dependencies(entrain_studio_page entrain_web)
target_link_libraries(entrain_report INTERFACE entrain_page)
