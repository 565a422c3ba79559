# A few mutants of each policy, others each time. The whole run takes minutes and is started by hand (run.py says how).
if(TARGET acog)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    add_test(NAME mutation.sample
             COMMAND ${Python3_EXECUTABLE} "${CMAKE_CURRENT_LIST_DIR}/run.py" $<TARGET_FILE:acog> --sample 4)
    set_tests_properties(mutation.sample PROPERTIES TIMEOUT 900)
endif()
