#include "names.h"
#include "util.h"

int main(void)
{
	for (unsigned i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
		say(NAMES[i]);
	return 0;
}
