#include "opt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(cond) \
    do { \
        if (!(cond)) { \
            printf("%s:%d: %s\n", __func__, __LINE__, #cond); \
            exit(1); \
        } \
    } while (0)

static const struct opt_spec specs[] = {
    {'v', "verbose", OPT_NONE, 0, 1},
    {'V', "version", OPT_NONE, 0, 2},
    {'o', "output", OPT_REQUIRED, 0, 3},
    {0, "color-depth", OPT_REQUIRED, 0, 4},
    {0, "color", OPT_NONE, OPT_NEGATABLE, 5},
    {0, "colour", OPT_NONE, OPT_NEGATABLE, 5},
    {0, "notify", OPT_OPTIONAL, 0, 6},
    {'q', NULL, OPT_NONE, 0, 7},
    {0, "pager", OPT_NONE, OPT_NEGATABLE, 8},
    {0, "log", OPT_REQUIRED, 0, 9},
    {0, "logfile", OPT_OPTIONAL, 0, 9},
    {0, "in", OPT_NONE, 0, 10},
    {0, "include", OPT_REQUIRED, 0, 11},
    {0},
};

static struct opt_parser p;

#define MAX_WORDS 8

static int start(const struct opt_spec *table, const char *a, const char *b, const char *c)
{
    static char *argv[MAX_WORDS];
    int argc = 0;

    argv[argc++] = "prog";
    if (a)
        argv[argc++] = (char *)a;
    if (b)
        argv[argc++] = (char *)b;
    if (c)
        argv[argc++] = (char *)c;
    argv[argc] = NULL;
    opt_init(&p, table, argc, argv);
    return opt_next(&p);
}

static int one(const char *word)
{
    return start(specs, word, NULL, NULL);
}

static int arg_is(const char *text)
{
    return text ? p.arg && strcmp(p.arg, text) == 0 : p.arg == NULL;
}

static int message_is(const char *text)
{
    if (strcmp(p.message, text) == 0)
        return 1;
    printf("message: %s\n", p.message);
    return 0;
}

static void test_abbreviations(void)
{
    CHECK(one("--verb") == 1 && arg_is(NULL) && message_is(""));
    CHECK(one("--vers") == 2);
    CHECK(one("--verbos") == 1);
    CHECK(one("--verbosee") == OPT_UNKNOWN);
    CHECK(one("--p") == 8 && !p.negated);
    CHECK(one("--o=x") == 3 && arg_is("x"));
    CHECK(one("--out=") == 3 && arg_is(""));
    CHECK(one("--color-=8") == 4 && arg_is("8"));
    CHECK(one("--inc=a=b") == 11 && arg_is("a=b"));
    CHECK(one("--not") == 6 && arg_is(NULL));
    CHECK(one("--not=mail") == 6 && arg_is("mail"));
    CHECK(start(specs, "--outp", "file", "--vers") == 3 && arg_is("file"));
    CHECK(opt_next(&p) == 2 && arg_is(NULL));
    CHECK(opt_next(&p) == OPT_END && p.index == 4);
    CHECK(start(specs, "--not", "mail", NULL) == 6 && arg_is(NULL));
    CHECK(opt_next(&p) == OPT_END && p.index == 2);
}

static void test_full_names_win(void)
{
    CHECK(one("--color") == 5 && !p.negated);
    CHECK(one("--no-color") == 5 && p.negated);
    CHECK(one("--in") == 10);
    CHECK(one("--log=x") == 9 && arg_is("x"));
    CHECK(one("--color-depth=1") == 4 && arg_is("1"));
}

static void test_ambiguous(void)
{
    CHECK(OPT_AMBIGUOUS == -5);
    CHECK(one("--ver") == OPT_AMBIGUOUS);
    CHECK(message_is("option '--ver' is ambiguous: --verbose --version"));
    CHECK(one("--v=x") == OPT_AMBIGUOUS && arg_is(NULL));
    CHECK(message_is("option '--v' is ambiguous: --verbose --version"));
    CHECK(one("--col") == OPT_AMBIGUOUS && !p.negated);
    CHECK(message_is("option '--col' is ambiguous: --color-depth --color --colour"));
    CHECK(one("--i") == OPT_AMBIGUOUS);
    CHECK(message_is("option '--i' is ambiguous: --in --include"));
    /* The same id, but another kind of argument. */
    CHECK(one("--lo") == OPT_AMBIGUOUS);
    CHECK(message_is("option '--lo' is ambiguous: --log --logfile"));
}

static void test_negated(void)
{
    CHECK(one("--no-p") == 8 && p.negated);
    CHECK(one("--no-col") == 5 && p.negated);
    CHECK(one("--no-colo") == 5 && p.negated);
    CHECK(one("--no-colou") == 5 && p.negated);
    CHECK(one("--colou") == 5 && !p.negated);
    CHECK(one("--no-") == OPT_AMBIGUOUS && !p.negated);
    CHECK(message_is("option '--no-' is ambiguous: --no-color --no-colour --no-pager"));
    CHECK(one("--n") == OPT_AMBIGUOUS);
    CHECK(message_is("option '--n' is ambiguous: --no-color --no-colour --notify --no-pager"));
    CHECK(one("--no") == OPT_AMBIGUOUS);
    CHECK(one("--no-v") == OPT_UNKNOWN && message_is("unknown option '--no-v'"));
    CHECK(one("--no-color-") == OPT_UNKNOWN);
    CHECK(one("--no-p=x") == OPT_UNWANTED_ARG);
    CHECK(message_is("option '--no-p' takes no argument") && !p.negated);
}

static void test_plain_and_negated_name(void)
{
    static const struct opt_spec table[] = {
        {0, "nonstop", OPT_NONE, OPT_NEGATABLE, 1},
        {0, "no-nonsense", OPT_NONE, 0, 2},
        {0},
    };
    static const struct opt_spec north[] = {
        {0, "no-north", OPT_NONE, OPT_NEGATABLE, 1},
        {0},
    };

    CHECK(start(table, "--no", NULL, NULL) == OPT_AMBIGUOUS);
    CHECK(message_is("option '--no' is ambiguous: --nonstop --no-nonstop --no-nonsense"));
    CHECK(start(table, "--non", NULL, NULL) == 1 && !p.negated);
    CHECK(start(table, "--no-nonst", NULL, NULL) == 1 && p.negated);
    CHECK(start(table, "--no-nonse", NULL, NULL) == 2 && !p.negated);

    /* One entry only, but the names do not mean the same. */
    CHECK(start(north, "--no-no", NULL, NULL) == OPT_AMBIGUOUS);
    CHECK(message_is("option '--no-no' is ambiguous: --no-north --no-no-north"));
    CHECK(start(north, "--no-nor", NULL, NULL) == 1 && !p.negated);
    CHECK(start(north, "--no-no-", NULL, NULL) == 1 && p.negated);
}

static void test_full_name_late_in_table(void)
{
    static const struct opt_spec table[] = {
        {0, "formats", OPT_NONE, 0, 1},
        {0, "formatter", OPT_REQUIRED, 0, 8},
        {0, "forma", OPT_OPTIONAL, 0, 2},
        {0, "format", OPT_REQUIRED, 0, 3},
        {0, "dry", OPT_NONE, OPT_NEGATABLE, 4},
        {0, "no-drying", OPT_NONE, 0, 5},
        {0, "x", OPT_NONE, 0, 6},
        {0, "xy", OPT_NONE, 0, 6},
        {0, "xz", OPT_NONE, 0, 7},
        {0},
    };

    CHECK(start(table, "--format", "a", NULL) == 3 && arg_is("a"));
    CHECK(start(table, "--forma", "a", NULL) == 2 && arg_is(NULL));
    CHECK(start(table, "--form", "a", NULL) == OPT_AMBIGUOUS);
    CHECK(start(table, "--no-dry", NULL, NULL) == 4 && p.negated);
    CHECK(start(table, "--no-dr", NULL, NULL) == OPT_AMBIGUOUS);
    CHECK(message_is("option '--no-dr' is ambiguous: --no-dry --no-drying"));
    CHECK(start(table, "--no-dryi", NULL, NULL) == 5 && !p.negated);
    CHECK(start(table, "--x", NULL, NULL) == 6);
}

static void test_names_that_occur_twice(void)
{
    static const struct opt_spec table[] = {
        {'a', "alpha", OPT_NONE, 0, 1},
        {'b', "alpha", OPT_NONE, 0, 1},
        {0, "alphabet", OPT_NONE, 0, 2},
        {0},
    };

    CHECK(start(table, "--alpha", NULL, NULL) == 1);
    CHECK(start(table, "--al", NULL, NULL) == OPT_AMBIGUOUS);
    CHECK(message_is("option '--al' is ambiguous: --alpha --alpha --alphabet"));
    CHECK(start(table, "--alphab", NULL, NULL) == 2);
}

static void test_going_on(void)
{
    CHECK(start(specs, "--l", "word", "-v") == OPT_AMBIGUOUS);
    CHECK(p.index == 2);
    CHECK(opt_next(&p) == OPT_END && p.index == 2);
    CHECK(start(specs, "--ver", "-vq", "--no-pag") == OPT_AMBIGUOUS);
    CHECK(opt_next(&p) == 1 && message_is(""));
    CHECK(opt_next(&p) == 7);
    CHECK(opt_next(&p) == 8 && p.negated);
    CHECK(opt_next(&p) == OPT_END && !p.negated);
}

static void test_other_errors(void)
{
    CHECK(one("--out") == OPT_MISSING_ARG);
    CHECK(message_is("option '--out' needs an argument"));
    CHECK(one("--verb=x") == OPT_UNWANTED_ARG);
    CHECK(message_is("option '--verb' takes no argument"));
    CHECK(one("--=x") == OPT_UNKNOWN && message_is("unknown option '--'"));
    CHECK(one("--=") == OPT_UNKNOWN);
    CHECK(one("--xyz") == OPT_UNKNOWN && message_is("unknown option '--xyz'"));
    CHECK(one("--VERB") == OPT_UNKNOWN);
    CHECK(one("--") == OPT_END && p.index == 2);
}

static void test_empty_name_of_only_option(void)
{
    static const struct opt_spec table[] = {{0, "only", OPT_OPTIONAL, 0, 1}, {0}};

    CHECK(start(table, "--=x", NULL, NULL) == OPT_UNKNOWN);
    CHECK(start(table, "--o=x", NULL, NULL) == 1 && arg_is("x"));
}

static void test_long_messages(void)
{
    static char names[40][32];
    static struct opt_spec table[41];
    static char word[400], first[400], second[400];
    char expected[2000];
    int i;

    strcpy(expected, "option '--same-beg' is ambiguous:");
    for (i = 0; i < 40; i++) {
        sprintf(names[i], "same-beginning-%d", i);
        table[i] = (struct opt_spec){0, names[i], OPT_NONE, 0, i + 1};
        sprintf(expected + strlen(expected), " --%s", names[i]);
    }
    CHECK(start(table, "--same-beg", NULL, NULL) == OPT_AMBIGUOUS);
    CHECK(strlen(p.message) == sizeof p.message - 1);
    CHECK(strncmp(p.message, expected, sizeof p.message - 1) == 0);
    CHECK(p.specs == table && p.index == 2);

    /* The name alone fills the message. */
    memset(word, 'w', 300);
    memcpy(word, "--", 2);
    CHECK(start(specs, word, NULL, NULL) == OPT_UNKNOWN);
    CHECK(strlen(p.message) == sizeof p.message - 1);
    strcpy(first, word + 2);
    strcat(first, "x");
    strcpy(second, word + 2);
    strcat(second, "y");
    table[0].long_name = first;
    table[1].long_name = second;
    CHECK(start(table, word, NULL, NULL) == OPT_AMBIGUOUS);
    CHECK(strlen(p.message) == sizeof p.message - 1);
    CHECK(p.specs == table && p.index == 2);
}

static void test_what_was_there_before(void)
{
    CHECK(start(specs, "-vofile", "-o", "x") == 1);
    CHECK(opt_next(&p) == 3 && arg_is("file"));
    CHECK(opt_next(&p) == 3 && arg_is("x"));
    CHECK(opt_next(&p) == OPT_END && p.index == 4);
    CHECK(one("-x") == OPT_UNKNOWN && message_is("unknown option '-x'"));
    CHECK(one("-o") == OPT_MISSING_ARG && message_is("option '-o' needs an argument"));
    CHECK(one("-") == OPT_END && p.index == 1);
    CHECK(one("--verbose=1") == OPT_UNWANTED_ARG);
    CHECK(one("--notify=now") == 6 && arg_is("now"));
}

int main(void)
{
    test_abbreviations();
    test_full_names_win();
    test_ambiguous();
    test_negated();
    test_plain_and_negated_name();
    test_full_name_late_in_table();
    test_names_that_occur_twice();
    test_going_on();
    test_other_errors();
    test_empty_name_of_only_option();
    test_long_messages();
    test_what_was_there_before();
    puts("all passed");
    return 0;
}
