#include "names.h"

unsigned table_length(void)
{
	return sizeof(NAMES) / sizeof(NAMES[0]);
}
