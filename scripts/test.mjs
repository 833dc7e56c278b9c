// Runs the tests and closes with `N passed, N failed` alone on a line. `--deep` means more random cases; every other
// argument goes to Vitest. Exits non-zero when a test failed, when Vitest itself failed, and when no test ran.
import { countFailures, runSuite } from './suite.mjs'

const result = await runSuite(process.argv.slice(2))
const { passed, skipped, flaky, errors } = result
const failures = countFailures(result)
for (const { file, name } of flaky) console.log(`failed beside others, passed by itself: ${file}: ${name}`)
if (passed + failures === 0) console.error('No test ran.')
if (errors.length > 0) console.error(`Errors that no test has caught: ${errors.length}`)
console.log(`${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failures > 0 ? 1 : 0
