#include <stdio.h>

#include "util.h"

void say(const char *text)
{
	printf("%s%s\n", PREFIX, text);
}
