#define PREFIX "- "

void say(const char *text);
