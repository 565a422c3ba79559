#!/bin/sh
# layout.sh ROOT - the top level is fixed, and every concept keeps one name in code, header and test.
set -eu
cd "$1"
status=0
for entry in *; do
    case "$entry" in
    CMakeLists.txt | core | lua | policies | include | tests | examples | README.md | LICENSE | build*) ;;
    *)
        echo "at the root, outside the layout: $entry"
        status=1
        ;;
    esac
done
if find core lua include tests -name '*util*' | grep .; then
    echo "   ^ a file named util has no subject"
    status=1
fi
exit $status
