#include "opt.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct opt_spec specs[] = {
    {'v', "verbose", OPT_NONE, 0, 'v'},
    {'o', "output", OPT_REQUIRED, 0, 'o'},
    {0, "color", OPT_NONE, OPT_NEGATABLE, 'c'},
    {0},
};

int main(void)
{
    char *argv[] = {"prog", "-vofile", "--no-color", "--output=x", "--colour", "--", "-v", NULL};
    struct opt_parser p;

    opt_init(&p, specs, 7, argv);
    assert(opt_next(&p) == 'v');
    assert(opt_next(&p) == 'o' && strcmp(p.arg, "file") == 0);
    assert(opt_next(&p) == 'c' && p.negated);
    assert(opt_next(&p) == 'o' && strcmp(p.arg, "x") == 0 && !p.negated);
    assert(opt_next(&p) == OPT_UNKNOWN);
    assert(strcmp(p.message, "unknown option '--colour'") == 0);
    assert(opt_next(&p) == OPT_END);
    assert(p.index == 6);

    puts("ok");
    return 0;
}
