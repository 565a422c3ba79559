# Tests over captured traffic, read in place through ACOG_CORPUS; skipped visibly where it is not set.
if(TARGET acog)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    foreach(name IN ITEMS replay)
        add_test(NAME data.${name}
                 COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/tests/data/${name}_test.py" $<TARGET_FILE:acog>)
        set_tests_properties(data.${name} PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77)
    endforeach()
endif()

# The facts of recorded errors beside a reviewed table.
add_executable(data_errors "${CMAKE_CURRENT_LIST_DIR}/errors_test.c" "${CMAKE_CURRENT_LIST_DIR}/grade.c")
target_include_directories(data_errors PRIVATE "${CMAKE_SOURCE_DIR}")
target_link_libraries(data_errors PRIVATE acog_test_support acog_policy acog_engine acog_dialect acog_stream acog_base
                                          PkgConfig::CMOCKA PkgConfig::JANSSON)
add_test(NAME data.errors COMMAND data_errors "${CMAKE_CURRENT_LIST_DIR}/errors.tsv")
set_tests_properties(data.errors PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77)
