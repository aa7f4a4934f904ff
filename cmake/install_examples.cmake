# When the project is installed: examples from SOURCE to DESTINATION below the prefix. "build/fmus/" becomes "fmus/", which is installed
# beside them, and "build/entrain" the program of the prefix. WORK: a folder to write them to.
file(REMOVE_RECURSE ${WORK}/examples)
file(COPY ${SOURCE} DESTINATION ${WORK} NO_SOURCE_PERMISSIONS)
file(GLOB_RECURSE files ${WORK}/examples/*.toml ${WORK}/examples/*.md ${WORK}/examples/*.ipynb)
foreach(file ${files})
  file(READ ${file} text)
  string(REPLACE "build/fmus/" "fmus/" text "${text}")
  string(REPLACE "build/entrain" "entrain" text "${text}")
  file(WRITE ${file} "${text}")
endforeach()
file(INSTALL ${WORK}/examples DESTINATION ${CMAKE_INSTALL_PREFIX}/${DESTINATION})
