# shellcheck shell=bash
# Calendar arithmetic in the shell itself: a fork of date(1) for each of some
# thousand snapshots would take seconds. Dates are YYYY-MM-DD, from 1970 on.
# The functions that compute something leave it in REPLY.

# day_number DATE: the days since 1970-01-01.
day_number() {
    local -i year=10#${1:0:4} month=10#${1:5:2} day=10#${1:8:2}
    local -i era of_era of_year
    # Years that start in March put the leap day at the end.
    if ((month <= 2)); then
        year=year-1
        month=month+12
    fi
    era=year/400
    of_era=year-era*400
    of_year='(153 * (month - 3) + 2) / 5 + day - 1'
    REPLY=$((era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468))
}

# valid_date DATE: whether there is such a day.
valid_date() {
    local -i year=10#${1:0:4} month=10#${1:5:2} day=10#${1:8:2}
    local -a length=(0 31 28 31 30 31 30 31 31 30 31 30 31)
    if ((year % 4 == 0 && (year % 100 != 0 || year % 400 == 0))); then
        length[2]=29
    fi
    ((year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= length[month]))
}

# iso_week DATE: the week of a date, as in 2024-W45.
iso_week() {
    local -i year=10#${1:0:4} number day_of_year weekday week
    day_number "$1"
    number=REPLY
    day_number "$year-01-01"
    day_of_year=number-REPLY+1
    weekday='(number + 3) % 7 + 1' # Monday is 1
    week='(day_of_year - weekday + 10) / 7'
    printf -v REPLY '%04d-W%02d' "$year" "$week"
}

# bucket PERIOD DATE: the name of the day, week or month a date is in.
bucket() {
    case $1 in
        daily) REPLY=$2 ;;
        weekly) iso_week "$2" ;;
        monthly) REPLY=${2:0:7} ;;
    esac
}
