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

enum fit { NO_FIT, BEGINNING, FULL_NAME };

static enum fit fit(struct name name, const char *text)
{
    size_t len = (size_t)name.len;

    if (len == 0 || strncmp(text, name.text, len) != 0)
        return NO_FIT;
    return text[len] == '\0' ? FULL_NAME : BEGINNING;
}

/* How the name fits the option, plain or negated. */
static enum fit fit_spec(struct name name, const struct opt_spec *spec, int negated)
{
    static const char prefix[] = "no-";
    int prefix_len = (int)sizeof prefix - 1;

    if (!spec->long_name)
        return NO_FIT;
    if (!negated)
        return fit(name, spec->long_name);
    if (!(spec->flags & OPT_NEGATABLE))
        return NO_FIT;
    if (name.len <= prefix_len)
        return fit(name, prefix) == NO_FIT ? NO_FIT : BEGINNING;
    if (memcmp(name.text, prefix, prefix_len) != 0)
        return NO_FIT;
    return fit((struct name){name.text + prefix_len, name.len - prefix_len}, spec->long_name);
}

static int same_meaning(struct match a, struct match b)
{
    return a.spec->id == b.spec->id && a.spec->arg == b.spec->arg && a.negated == b.negated;
}

static struct match find_long(const struct opt_parser *p, struct name name, int *ambiguous)
{
    struct match found = {NULL, 0};
    const struct opt_spec *spec;
    int negated;

    *ambiguous = 0;
    for (spec = p->specs; !is_end(spec); spec++) {
        for (negated = 0; negated <= 1; negated++) {
            struct match match = {spec, negated};

            switch (fit_spec(name, spec, negated)) {
            case NO_FIT:
                break;
            case BEGINNING:
                if (!found.spec)
                    found = match;
                else if (!same_meaning(found, match))
                    *ambiguous = 1;
                break;
            case FULL_NAME:
                *ambiguous = 0;
                return match;
            }
        }
    }
    return found;
}

static void append(struct opt_parser *p, const char *before, const char *text)
{
    size_t len = strlen(p->message);

    snprintf(p->message + len, sizeof p->message - len, "%s%s", before, text);
}

static void list_candidates(struct opt_parser *p, struct name name)
{
    const struct opt_spec *spec;

    snprintf(p->message, sizeof p->message, "option '--%.*s' is ambiguous:", name.len, name.text);
    for (spec = p->specs; !is_end(spec); spec++) {
        if (fit_spec(name, spec, 0))
            append(p, " --", spec->long_name);
        if (fit_spec(name, spec, 1))
            append(p, " --no-", spec->long_name);
    }
}

static int next_long(struct opt_parser *p, const char *word)
{
    struct name name = {word, (int)strcspn(word, "=")};
    const char *value = word[name.len] == '=' ? word + name.len + 1 : NULL;
    int ambiguous;
    struct match match = find_long(p, name, &ambiguous);

    if (ambiguous) {
        list_candidates(p, name);
        return OPT_AMBIGUOUS;
    }
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
