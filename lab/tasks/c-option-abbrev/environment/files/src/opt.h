#ifndef OPT_H
#define OPT_H

enum opt_arg { OPT_NONE, OPT_REQUIRED, OPT_OPTIONAL };

/* Flags */
#define OPT_NEGATABLE 1 /* for options without an argument */

/* Tables end with an entry that is all zero. */
struct opt_spec {
    char short_name;       /* or 0 */
    const char *long_name; /* or NULL */
    enum opt_arg arg;
    int flags;
    int id;                /* above 0 */
};

/* What opt_next returns besides the ids. */
enum {
    OPT_END = -1,
    OPT_UNKNOWN = -2,
    OPT_MISSING_ARG = -3,
    OPT_UNWANTED_ARG = -4
};

struct opt_parser {
    const struct opt_spec *specs;
    int argc;
    char *const *argv;
    int index;         /* the next word */
    const char *short_rest; /* what is left of a bundle, or NULL */
    const char *arg;   /* the argument of the option, or NULL */
    int negated;
    char message[128]; /* about the last error, cut off if it is too long */
};

void opt_init(struct opt_parser *p, const struct opt_spec *specs, int argc, char *const *argv);

/* Returns the id of the next option, OPT_END, or an error, after which one may go on. */
int opt_next(struct opt_parser *p);

#endif
