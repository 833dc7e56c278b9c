// Runs the tests and closes with `N passed, N failed` alone on a line. `--deep` means more random cases; every other
// argument goes to Vitest. Exits non-zero when a test failed, when Vitest itself failed, and when no test ran.
import { countFailures, newSeed, runSuite } from './suite.mjs'

/** How many of the slowest files are named. */
const SLOWEST = 15

/** Whether a change is green doesn't depend on the day; new random cases are for those who look for faults. */
const USUAL_SEED = 1

const given = process.argv.slice(2)
const seed = process.env.QUOTA_TEST_SEED ?? (given.includes('--deep') ? newSeed() : USUAL_SEED)
const result = await runSuite(given, seed)
const { passed, skipped, flaky, errors, left, filesMs } = result
const failures = countFailures(result)
for (const { file, name } of flaky) console.log(`failed beside others, passed by itself: ${file}: ${name}`)
console.log(`random cases by seed ${seed}`)
if (passed + failures === 0) console.error('No test ran.')
printTimes(Object.entries(filesMs))
for (const name of left) console.error(`left in the temporary folder by a test: ${name}`)
if (errors.length > 0) console.error(`Errors that no test has caught: ${errors.length}`)
console.log(`${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failures > 0 ? 1 : 0

/** Seconds of the test files by package, and the slowest files. Files run side by side, so the sum is more than the run. */
function printTimes(files) {
  const packages = new Map()
  for (const [file, ms] of files) {
    const name = file.split('/test/', 1)[0]
    packages.set(name, (packages.get(name) ?? 0) + ms)
  }
  const slowest = [...files].sort(([, a], [, b]) => b - a).slice(0, SLOWEST)
  for (const [title, rows] of [
    ['seconds by package', [...packages].sort(([, a], [, b]) => b - a)],
    ['slowest files', slowest],
  ]) {
    console.log(`${title}:`)
    for (const [name, ms] of rows) console.log(`${(ms / 1_000).toFixed(1).padStart(8)}  ${name}`)
  }
}
