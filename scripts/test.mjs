// Runs Vitest and closes with `N passed, N failed` alone on a line, read from its JSON report.
// `--deep` sets QUOTA_TEST_DEEP=1 (more random cases); every other argument goes to Vitest.
// Files that fail beside all others are run once more by themselves, since a busy machine may miss deadlines of the real
// clock: what fails again has failed, what passes is named. A random test that found something has failed in any case, and
// so has a run with an error that no test has caught: nobody knows which test it belongs to.
// Exits non-zero when a test failed, when Vitest itself failed, and when no test ran.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

/** With more failing files than these something else is wrong than the time. */
const MOST_AGAIN = 8
/** How fast-check begins what it has found. */
const FOUND = 'Property failed after'
const UNHANDLED_ERRORS = join(import.meta.dirname, 'unhandled-errors.mjs')

const args = process.argv.slice(2)
const deep = args.includes('--deep')
const given = args.filter((arg) => arg !== '--deep')
const folder = mkdtempSync(join(tmpdir(), 'quota-test-'))
const vitest = join(createRequire(import.meta.url).resolve('vitest/package.json'), '..', 'vitest.mjs')

const first = run(given)
const again = filesToRunAgain(first)
const second = again.length > 0 ? run([...again, '--maxWorkers=1']) : undefined
rmSync(folder, { recursive: true, force: true })

const { passed, failed, skipped, vitestFailed, unhandled } = second === undefined ? first : together(first, second)
if (passed + failed === 0) console.error('No test ran.')
if (unhandled > 0) console.error(`Errors that no test has caught: ${unhandled}`)
// A crash still counts as a failure.
const failures = failed + unhandled === 0 && (vitestFailed || passed === 0) ? 1 : failed + unhandled
console.log(`${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failures > 0 ? 1 : 0

function run(more) {
  const report = join(folder, 'report.json')
  const unhandled = join(folder, 'unhandled')
  for (const file of [report, unhandled]) rmSync(file, { force: true })
  const env = { ...process.env, QUOTA_TEST_UNHANDLED: unhandled, ...(deep ? { QUOTA_TEST_DEEP: '1' } : {}) }
  const { status } = spawnSync(
    process.execPath,
    [
      vitest,
      'run',
      '--config=vitest.workspace.ts',
      '--reporter=default',
      '--reporter=json',
      `--reporter=${UNHANDLED_ERRORS}`,
      `--outputFile.json=${report}`,
      ...more,
    ],
    { stdio: 'inherit', env },
  )
  return {
    ...countTests(report),
    vitestFailed: status !== 0,
    unhandled: existsSync(unhandled) ? Number(readFileSync(unhandled, 'utf8')) : 0,
  }
}

/** None where a failure is not to be excused by the time, or where Vitest told of none. */
function filesToRunAgain({ failedTests, failed }) {
  const files = [...new Set(failedTests.map(({ file }) => relative(process.cwd(), file)))]
  const hasFound = failedTests.some(({ messages }) => messages.includes(FOUND))
  return deep || hasFound || failed !== failedTests.length || files.length > MOST_AGAIN ? [] : files
}

/** What failed in the first run has failed if it did in the second too; what that finds besides counts as well. */
function together(one, two) {
  const passedNow = one.failedTests.filter(({ name, file }) => {
    return !two.failedTests.some((each) => each.name === name && each.file === file)
  })
  if (two.passed > 0) for (const { name } of passedNow) console.log(`failed beside others, passed by itself: ${name}`)
  const recovered = two.passed > 0 ? passedNow.length : 0
  const found = two.failedTests.filter(({ name }) => !one.failedTests.some((each) => each.name === name)).length
  return {
    passed: one.passed + recovered - found,
    failed: one.failed - recovered + found,
    skipped: one.skipped,
    vitestFailed: two.vitestFailed,
    unhandled: one.unhandled + two.unhandled,
  }
}

function countTests(file) {
  const counts = { passed: 0, failed: 0, skipped: 0, failedTests: [] }
  let results
  try {
    results = JSON.parse(readFileSync(file, 'utf8')).testResults
  } catch {
    return counts
  }
  for (const { name: path, status, assertionResults } of results) {
    const before = counts.failed
    for (const test of assertionResults) {
      if (test.status === 'passed') counts.passed += 1
      else if (test.status === 'failed') {
        counts.failed += 1
        counts.failedTests.push({ file: path, name: test.fullName, messages: (test.failureMessages ?? []).join('\n') })
      } else counts.skipped += 1
    }
    // A file that could not be loaded has no tests to report, but has failed.
    if (status === 'failed' && counts.failed === before) counts.failed += 1
  }
  return counts
}
