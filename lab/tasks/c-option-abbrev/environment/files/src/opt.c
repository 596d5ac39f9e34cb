#include "opt.h"

#include <stdio.h>
#include <string.h>

/* The name of an option as it was given: not terminated, without the dashes. */
struct name {
    const char *text;
    int len;
};

struct match {
    const struct opt_spec *spec;
    int negated;
};

void opt_init(struct opt_parser *p, const struct opt_spec *specs, int argc, char *const *argv)
{
    memset(p, 0, sizeof *p);
    p->specs = specs;
    p->argc = argc;
    p->argv = argv;
    p->index = 1;
}

static int is_end(const struct opt_spec *spec)
{
    return spec->id == 0;
}

static int next_short(struct opt_parser *p)
{
    const struct opt_spec *spec = p->specs;
    char c = *p->short_rest++;

    while (!is_end(spec) && spec->short_name != c)
        spec++;
    if (*p->short_rest == '\0')
        p->short_rest = NULL;
    if (is_end(spec)) {
        snprintf(p->message, sizeof p->message, "unknown option '-%c'", c);
        return OPT_UNKNOWN;
    }

    if (spec->arg != OPT_NONE && p->short_rest) {
        p->arg = p->short_rest;
        p->short_rest = NULL;
    } else if (spec->arg == OPT_REQUIRED) {
        if (p->index >= p->argc) {
            snprintf(p->message, sizeof p->message, "option '-%c' needs an argument", c);
            return OPT_MISSING_ARG;
        }
        p->arg = p->argv[p->index++];
    }
    return spec->id;
}

static int name_is(struct name name, const char *text)
{
    return strlen(text) == (size_t)name.len && memcmp(text, name.text, name.len) == 0;
}

static struct match find_long(const struct opt_parser *p, struct name name)
{
    struct name positive = {name.text + 3, name.len - 3};
    int negated = name.len > 3 && memcmp(name.text, "no-", 3) == 0;
    const struct opt_spec *spec;

    for (spec = p->specs; !is_end(spec); spec++) {
        if (!spec->long_name)
            continue;
        if (name_is(name, spec->long_name))
            return (struct match){spec, 0};
        if (negated && (spec->flags & OPT_NEGATABLE) && name_is(positive, spec->long_name))
            return (struct match){spec, 1};
    }
    return (struct match){NULL, 0};
}

static int next_long(struct opt_parser *p, const char *word)
{
    struct name name = {word, (int)strcspn(word, "=")};
    const char *value = word[name.len] == '=' ? word + name.len + 1 : NULL;
    struct match match = find_long(p, name);

    if (!match.spec) {
        snprintf(p->message, sizeof p->message, "unknown option '--%.*s'", name.len, name.text);
        return OPT_UNKNOWN;
    }
    if (value && match.spec->arg == OPT_NONE) {
        snprintf(p->message, sizeof p->message, "option '--%.*s' takes no argument",
                 name.len, name.text);
        return OPT_UNWANTED_ARG;
    }
    if (!value && match.spec->arg == OPT_REQUIRED) {
        if (p->index >= p->argc) {
            snprintf(p->message, sizeof p->message, "option '--%.*s' needs an argument",
                     name.len, name.text);
            return OPT_MISSING_ARG;
        }
        value = p->argv[p->index++];
    }
    p->arg = value;
    p->negated = match.negated;
    return match.spec->id;
}

int opt_next(struct opt_parser *p)
{
    const char *word;

    p->arg = NULL;
    p->negated = 0;
    p->message[0] = '\0';

    if (p->short_rest)
        return next_short(p);
    if (p->index >= p->argc)
        return OPT_END;
    word = p->argv[p->index];
    if (word[0] != '-' || word[1] == '\0')
        return OPT_END;
    p->index++;
    if (strcmp(word, "--") == 0)
        return OPT_END;
    if (word[1] == '-')
        return next_long(p, word + 2);
    p->short_rest = word + 1;
    return next_short(p);
}
