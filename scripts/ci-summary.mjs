// Prints how many tests passed and failed in the JSON reports of Vitest that are named on the command line: one line, in the words
// that a reader of CI logs knows from every language.
import { existsSync, readFileSync } from "node:fs";

const total = { passed: 0, failed: 0, skipped: 0 };
for (const file of process.argv.slice(2)) {
  // The shell hands on the pattern itself when no report was written.
  if (!existsSync(file)) continue;
  const report = JSON.parse(readFileSync(file, "utf8"));
  total.passed += report.numPassedTests;
  total.failed += report.numFailedTests;
  total.skipped += report.numPendingTests + report.numTodoTests;
  // A file that does not even load has no tests to count.
  total.failed += report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  ).length;
}
console.log(`\n${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ""}`);
