// "Did you mean …?": the candidate that a mistyped word most likely stands for.

/** The nearest of `candidates`, or undefined when none is near enough to be worth a guess. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Infinity;
  const from = normalise(word);
  for (const candidate of candidates) {
    if (candidate === word) continue;
    const to = normalise(candidate);
    const limit = Math.max(1, Math.floor(Math.max(from.length, to.length) / 3));
    const distance = editDistance(from, to);
    // At a distance of the whole word nothing of it is left: `a` is no misspelling of `b`.
    if (distance <= limit && distance < Math.min(from.length, to.length) && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `disableRuns` and `disable-runs` are spellings of `disable_runs`. */
function normalise(word: string): string {
  return word.toLowerCase().replace(/[_\-\s]/g, "");
}

/** Levenshtein distance in which swapping two neighbours (`grahps`) counts as one edit. */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((row[j - 1] ?? 0) + 1, (previous[j] ?? 0) + 1, (previous[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforePrevious[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    beforePrevious = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
