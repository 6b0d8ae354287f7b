// For what concerns others and must not keep a run from ending or leaving: what it throws is reported, and everything goes on.

/** Does a step. @param report told what it throws. @returns what it returns, or undefined. */
export function attempt<T>(step: () => T, report: (error: unknown) => void): T | undefined {
  try {
    return step();
  } catch (error) {
    try {
      report(error);
    } catch {
      // Whoever is told may be broken as well.
    }
    return undefined;
  }
}
