// Runs the tests as `npm test` does. Files that fail beside all others are run once more by themselves: what fails again
// has failed, what passes is flaky and named, so that it can be repaired. A failure found by a random test is not run again,
// and neither is anything after an error that no test has caught: it belongs to no test. Tests get a temporary folder of
// their own: what they leave in it is a failure too.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { root } from './workspace.mjs'

/** With more failing files than these something else is wrong than the time. */
const MOST_AGAIN = 8
/** How fast-check begins what it has found. */
const FOUND = 'Property failed after'
/** Files of Chromium, Playwright, tsx, Node, pnpm and valgrind. They go with the folder. */
const LEFT_BY_OTHERS = /^(?:\.|playwright[-_]|tsx-|node-compile-cache|pnpm-|vgdb-pipe-)/
const UNHANDLED_ERRORS = join(import.meta.dirname, 'unhandled-errors.mjs')
const vitest = join(createRequire(import.meta.url).resolve('vitest/package.json'), '..', 'vitest.mjs')

/** @typedef {{ readonly file: string, readonly name: string, readonly message: string }} FailedTest */

/**
 * How the tests of one run ended. `failed` still failed by themselves, or were not run again; `flaky` did not fail again;
 * `errors` are the messages of what no test has caught; `left` are names of files that the tests left in the temporary
 * folder; `filesMs` are the test files' times.
 *
 * @typedef {{ readonly passed: number, readonly skipped: number, readonly failed: readonly FailedTest[],
 *   readonly flaky: readonly FailedTest[], readonly errors: readonly string[], readonly left: readonly string[],
 *   readonly vitestFailed: boolean, readonly filesMs: Readonly<Record<string, number>> }} SuiteResult
 */

/**
 * @param {readonly string[]} given arguments for Vitest, and `--deep` for more random cases
 * @param {number | string} seed what everything random begins with
 * @param {AbortSignal} [signal] ends the run; the promise then rejects
 * @returns {Promise<SuiteResult>}
 */
export async function runSuite(given, seed, signal) {
  const deep = given.includes('--deep')
  const args = given.filter((arg) => arg !== '--deep')
  const env = { QUOTA_TEST_SEED: String(seed), ...(deep ? { QUOTA_TEST_DEEP: '1' } : {}) }
  const first = await runVitest(args, env, signal)
  const files = deep ? [] : filesToRunAgain(first)
  return files.length === 0 ? first : together(first, await runVitest([...files, '--maxWorkers=1'], env, signal))
}

/** A seed for cases that were not played before. */
export function newSeed() {
  return Math.floor(Math.random() * 2 ** 31)
}

/** Failures to count: a crash of Vitest and a run without a test are failures too. */
export function countFailures({ passed, failed, errors, left, vitestFailed }) {
  const found = failed.length + errors.length + left.length
  return found === 0 && (vitestFailed || passed === 0) ? 1 : found
}

/** @returns {Promise<SuiteResult>} */
async function runVitest(args, given, signal) {
  const folder = mkdtempSync(join(tmpdir(), 'quota-test-'))
  const report = join(folder, 'report.json')
  const unhandled = join(folder, 'unhandled.json')
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary)
  // Root starts servers as other users, whose folders are in it.
  chmodSync(folder, 0o711)
  const env = { ...process.env, ...given, TMPDIR: temporary, QUOTA_TEST_UNHANDLED: unhandled }
  const reporters = ['default', 'json', UNHANDLED_ERRORS].map((name) => `--reporter=${name}`)
  const options = ['run', '--config=vitest.workspace.ts', ...reporters, `--outputFile.json=${report}`]
  try {
    const vitestFailed = await new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [vitest, ...options, ...args], { stdio: 'inherit', env, signal })
      child.once('error', reject)
      child.once('exit', (code) => resolve(code !== 0))
    })
    const results = readJson(report)?.testResults ?? []
    return {
      ...testsOf(results),
      filesMs: Object.fromEntries(results.map((file) => [relative(root, file.name), file.endTime - file.startTime])),
      flaky: [],
      errors: readJson(unhandled) ?? [],
      left: readdirSync(temporary).filter((name) => !LEFT_BY_OTHERS.test(name)),
      vitestFailed,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** None where a failure is not to be excused by the time. */
function filesToRunAgain({ failed, errors, vitestFailed }) {
  const files = [...new Set(failed.map(({ file }) => file))]
  const excusable = errors.length === 0 && !failed.some(({ name, message }) => name === '' || message.includes(FOUND))
  return vitestFailed && excusable && files.length <= MOST_AGAIN ? files : []
}

/**
 * What failed in the first run has failed if it did in the second too; what that finds besides counts as well.
 *
 * @param {SuiteResult} first
 * @param {SuiteResult} second
 * @returns {SuiteResult}
 */
function together(first, second) {
  const isIn = (test, tests) => tests.some(({ file, name }) => file === test.file && name === test.name)
  const flaky = second.passed > 0 ? first.failed.filter((test) => !isIn(test, second.failed)) : []
  const found = second.failed.filter((test) => !isIn(test, first.failed))
  return {
    passed: first.passed + flaky.length - found.length,
    skipped: first.skipped,
    failed: [...first.failed.filter((test) => !isIn(test, flaky)), ...found],
    flaky,
    errors: second.errors,
    left: [...first.left, ...second.left],
    filesMs: first.filesMs,
    vitestFailed: second.vitestFailed,
  }
}

/** A file that could not be loaded has no tests to report, but has failed: as a test without a name. */
function testsOf(results) {
  const tests = { passed: 0, skipped: 0, failed: [] }
  for (const { name: path, status, message, assertionResults } of results) {
    const file = relative(root, path)
    const before = tests.failed.length
    for (const test of assertionResults) {
      if (test.status === 'passed') tests.passed += 1
      else if (test.status === 'failed')
        tests.failed.push({ file, name: test.fullName, message: (test.failureMessages ?? []).join('\n') })
      else tests.skipped += 1
    }
    if (status === 'failed' && tests.failed.length === before)
      tests.failed.push({ file, name: '', message: message ?? '' })
  }
  return tests
}

/** `undefined` where Vitest ended before it wrote the file. */
function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
