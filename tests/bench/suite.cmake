# The bench is built with the tests and run by hand: sh tests/bench/run.sh
foreach(tool IN ITEMS stub load)
    add_executable(bench_${tool} "${CMAKE_SOURCE_DIR}/tests/bench/${tool}.c")
    target_link_libraries(bench_${tool} PRIVATE acog_flags)
endforeach()
