/* longjmp.c - lets ThreadSanitizer see how Lua leaves a function by an error. Preloaded by tests/support/tsan.sh.
 *
 * Debian builds liblua with _FORTIFY_SOURCE, so its longjmp() is __longjmp_chk(), which ThreadSanitizer does not
 * intercept: what was left stays on its own stack of calls, and that is hashed at each allocation. A test with many Lua
 * errors got slower with each of them, and its reports would show frames that are long gone.
 */
#include <setjmp.h>

_Noreturn void __longjmp_chk(struct __jmp_buf_tag *env, int value);

_Noreturn void __longjmp_chk(struct __jmp_buf_tag *env, int value)
{
    longjmp(env, value);
}
