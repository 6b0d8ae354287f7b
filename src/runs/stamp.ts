// Numbers for what happens on threads, in the order of its happening, over restarts too: they count up from the time, so that nothing
// has to be stored beside them.

let last = 0;

/** A number that is greater than every one before it: the time in microseconds, if nothing else was faster. */
export function nextStamp(): number {
  last = Math.max(last + 1, Date.now() * 1000);
  return last;
}

/** Makes the numbers of this process greater than `stamp`. */
export function advanceStamp(stamp: number): void {
  if (stamp > last) last = stamp;
}
