# Tests over captured traffic, read in place through ACOG_CORPUS; skipped visibly where it is not set.
if(TARGET acog)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    foreach(name IN ITEMS replay)
        add_test(NAME data.${name}
                 COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/tests/data/${name}_test.py" $<TARGET_FILE:acog>)
        set_tests_properties(data.${name} PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77)
    endforeach()
endif()
