// The report of repeated runs of the tests.

/**
 * One run of all tests: how they ended, and how long it took.
 *
 * @typedef {import('./suite.mjs').SuiteResult & { readonly durationMs: number }} Run
 */

/**
 * Whether nothing failed, not even a test that passed by itself later.
 *
 * @param {Run} run
 */
export function isGreen({ passed, failed, flaky, errors, left, vitestFailed }) {
  return passed > 0 && !vitestFailed && failed.length + flaky.length + errors.length + left.length === 0
}

/**
 * One line about a run.
 *
 * @param {Run} run
 * @param {number} index from 0
 */
export function lineOf(run, index) {
  const { failed, flaky, errors, left } = run
  const counts = [
    [failed.length, 'failed'],
    [flaky.length, 'failed beside others, passed by themselves'],
    [errors.length, 'errors that no test has caught'],
    [left.length, 'files left in the temporary folder'],
  ].flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : []))
  if (counts.length === 0 && !isGreen(run)) counts.push(run.passed === 0 ? 'no test ran' : 'Vitest failed')
  const ended = isGreen(run) ? 'green' : `not green (${counts.join(', ')})`
  return `run ${index + 1}: ${ended}, ${Math.round(run.durationMs / 1000)} s`
}

/**
 * The lines of the report: each run, how many were green, and which test failed in how many of them, most often first.
 *
 * @param {readonly Run[]} runs
 */
export function reportOf(runs) {
  const green = runs.filter(isGreen).length
  return [
    ...runs.map(lineOf),
    `${green} of ${runs.length} runs green`,
    ...section('Failed:', runs, ({ failed }) => failed),
    ...section('Failed beside others, passed by itself:', runs, ({ flaky }) => flaky),
    ...section('Errors that no test has caught:', runs, ({ errors }) => errors.map((message) => ({ message }))),
    ...section('Left in the temporary folder:', runs, ({ left }) => left.map((message) => ({ message }))),
  ]
}

function section(title, runs, testsOf) {
  const counts = new Map()
  for (const run of runs) {
    for (const { file = '', name = '', message } of testsOf(run)) {
      const test = [file, name].filter((part) => part !== '').join(': ')
      // Errors without a test are grouped by the first line of their message.
      const key = test === '' ? firstLine(message) : test
      const { count = 0, messages = new Set() } = counts.get(key) ?? {}
      counts.set(key, { count: count + 1, messages: messages.add(firstLine(message)) })
    }
  }
  if (counts.size === 0) return []
  const sorted = [...counts].sort(([, a], [, b]) => b.count - a.count)
  const lines = sorted.flatMap(([key, { count, messages }]) => [
    `  ${count} of ${runs.length}  ${key}`,
    ...[...messages].filter((message) => message !== key).map((message) => `          ${message}`),
  ])
  return ['', title, ...lines]
}

function firstLine(message) {
  return message.split('\n', 1)[0] ?? ''
}
