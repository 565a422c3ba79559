# The differential run, in short: a few thousand mutated requests. tests/differential/run.sh has the long form.
if(TARGET acog)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    add_test(NAME differential.requests
             COMMAND ${Python3_EXECUTABLE} "${CMAKE_CURRENT_LIST_DIR}/run.py" $<TARGET_FILE:acog> --requests 4000)
    set_tests_properties(differential.requests PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
