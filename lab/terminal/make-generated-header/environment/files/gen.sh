#!/bin/sh
# Prints the header with the names of a file, one a line. A name may have letters, digits and `-`.
echo '/* made by gen.sh */'
echo 'static const char *const NAMES[] = {'
while read -r name; do
  case $name in
    *[!A-Za-z0-9-]* | '')
      echo "gen.sh: '$name' is not a name" >&2
      exit 1
      ;;
  esac
  printf '\t"%s",\n' "$name"
done < "$1"
echo '};'
