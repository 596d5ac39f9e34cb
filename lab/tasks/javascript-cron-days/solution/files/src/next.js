// The next time at which a schedule fires.

const MINUTE = 60_000;

// The first time after `date`, as a Date.
export function next(schedule, date) {
  // Dates that are out of range carry over: minute 60 is the next hour.
  let time = new Date(Math.floor(date.getTime() / MINUTE) * MINUTE + MINUTE);
  for (;;) {
    const year = time.getUTCFullYear();
    const month = time.getUTCMonth();
    const day = time.getUTCDate();
    const hour = time.getUTCHours();
    const minute = time.getUTCMinutes();
    if (!schedule.month.has(month + 1)) {
      time = new Date(Date.UTC(year, month + 1));
    } else if (!runsOn(schedule, time)) {
      time = new Date(Date.UTC(year, month, day + 1));
    } else if (!schedule.hour.has(hour)) {
      time = new Date(Date.UTC(year, month, day, hour + 1));
    } else if (!schedule.minute.has(minute)) {
      time = new Date(Date.UTC(year, month, day, hour, minute + 1));
    } else {
      return time;
    }
  }
}

function runsOn(schedule, time) {
  const day = schedule.day.has(time.getUTCDate());
  const weekday = schedule.weekday.has(time.getUTCDay());
  return schedule.eitherDay ? day || weekday : day && weekday;
}
