# SPDX-License-Identifier: Apache-2.0
# Writes tarn.7: its list of variables is that of backend/env.h.
file(READ backend/env.h header)
string(REPLACE ";" "@SEMICOLON@" header "${header}") # which would divide a list
string(REGEX MATCHALL "\"TARN_[A-Z_]+\", *\"[^\"]*\", *\"[^\"]*\"" rows "${header}")
set(VARIABLES "")
foreach(row IN LISTS rows)
  string(REGEX MATCH "\"(.*)\", *\"(.*)\", *\"(.*)\"" row "${row}")
  set(preset "${CMAKE_MATCH_2}")
  string(APPEND VARIABLES ".It Ev ${CMAKE_MATCH_1}\n${CMAKE_MATCH_3}\n")
  if(NOT "${preset}" STREQUAL "")
    string(APPEND VARIABLES "(default: ${preset})\n")
  endif()
endforeach()
string(REPLACE "@SEMICOLON@" ";" VARIABLES "${VARIABLES}")
configure_file(docs/man/tarn.7.in ${CMAKE_BINARY_DIR}/man/tarn.7 @ONLY)
