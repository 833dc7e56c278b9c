import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { markdownTable, type ProofResult } from '@scoregw/quota-histories'
import { HTTP_CASES } from '../../src/http.ts'
import { CONFORMANCE_CASES, SETTINGS_STORE_CASES } from '../../src/index.ts'
import { TORTURE_CASES } from '../../src/torture.ts'
import { PROOFS } from './proofs.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const SOURCES = 'packages/quota-testkit/src'

/** What shows that a promise is kept: cases by how their names begin, and rules of a proof that it would break without. */
interface Evidence {
  readonly cases: readonly string[]
  readonly rules: readonly (readonly [slug: string, rule: string])[]
}

/** By README's promises. */
const EVIDENCE: Readonly<Record<string, Evidence>> = {
  'All or nothing': {
    cases: [
      'a window of 1 hour is charged with a window of another label',
      'sets: each layer has limits of its own, and one decision charges all of them',
      'concurrent decisions never admit more than the limit',
      '64 callers at once use a limit up, and none passes it',
    ],
    rules: [['windows', 'A take looks at every window before it charges one']],
  },
  'A refusal is free': {
    cases: [
      'a window of 1 hour admits up to its limit and not one more, and a refusal changes nothing',
      'a free request is never refused and changes no window',
      'a refusal charges nothing',
    ],
    rules: [['windows', 'A refusal charges nothing']],
  },
  '`Retry-After` is accurate': {
    cases: [
      'engine: a request is refused before Retry-After and admitted at it',
      'the same request is admitted after Retry-After',
    ],
    rules: [
      ['windows', 'A window ends at its millisecond'],
      ['windows', 'A clock that steps back closes no window'],
    ],
  },
  'Refunds go back to their window': {
    cases: [
      'a window of 1 hour takes refunds into the opening',
      'a window of 1 hour takes no refund after a reset',
      'a window moved to the present gets no refund',
    ],
    rules: [
      ['windows', 'A refund goes to the opening it came from'],
      ['windows', 'A window opens later than it ever opened'],
      ['holds', 'Tokens go back to the windows they came from'],
    ],
  },
  'Retries are harmless': {
    cases: [
      'a window of 1 hour is charged once under an id',
      'one of two processes with one id',
      'retries under an id are charged once',
    ],
    rules: [
      ['holds', 'A hold is settled once'],
      ['holds', 'An id is used up when its hold ends'],
    ],
  },
  'Reads are free': {
    cases: ['sets: a read has the states of its set alone', 'a window of 1 hour opens with the first admission'],
    rules: [],
  },
  'Settings change at run time': {
    cases: [
      'engine: settings changed by one process apply in the other',
      'settings: one of many concurrent writers succeeds',
      'settings: engines follow stored settings within a second',
    ],
    rules: [
      ['settings-with-counters', 'A process adopts whatever is stored'],
      ['settings-elsewhere', 'A process that was stale announces what it read over what it saw'],
    ],
  },
  'A policy may change': {
    cases: [
      'a window of 1 hour goes on beside the writes of a policy without it',
      'when everything changes, counters of both policies continue by name',
      "a row's expiry is never shortened",
      'a limit that is edited under load',
    ],
    rules: [
      ['rows', 'A write carries the cells that its policy does not know'],
      ['rows', 'A write never shortens the time for which a row is kept'],
      ['rows', 'A cell is known by its name'],
    ],
  },
  'Live counters are never evicted': {
    cases: ['a new subject in a full store gets store_full', 'no other subject evicts a live counter'],
    rules: [],
  },
  "An outage isn't a refusal": {
    cases: [
      'a store that is away gives 503 and never 429',
      'a store without a server rejects every call within its deadline',
    ],
    rules: [],
  },
}

/** README's promises, in its order. */
function promisesOfReadme(): readonly string[] {
  const [, table = ''] = readFileSync(join(ROOT, 'README.md'), 'utf8').split('## What you can rely on\n')
  const rows = table.split('\n## ')[0]?.matchAll(/^\| ([^|]+?) +\|/gm) ?? []
  return [...rows].map(([, name = '']) => name).filter((name) => name !== 'Promise' && !name.startsWith('---'))
}

const NAMES: readonly string[] = [
  ...[...CONFORMANCE_CASES, ...SETTINGS_STORE_CASES, ...HTTP_CASES].map(({ name }) => name),
  ...TORTURE_CASES,
]

/** How many cases begin so, and the file that has them. */
function casesOf(begin: string, promise: string): string {
  const count = NAMES.filter((name) => name.startsWith(begin)).length
  if (count === 0) throw new Error(`README's promise "${promise}": no case begins with "${begin}"`)
  const files = readdirSync(join(ROOT, SOURCES), { recursive: true, encoding: 'utf8' }).map((file) =>
    file.replaceAll('\\', '/'),
  )
  const sources = files.filter((file) => file.endsWith('.ts'))
  // As the beginning of a text, since comments may say the same.
  const has = (file: string, text: string): boolean => {
    const source = readFileSync(join(ROOT, SOURCES, file), 'utf8')
    return ["'", '"', '`'].some((quote) => source.includes(quote + text))
  }
  // A group's makers put its word before the names of its cases.
  const [, group = '', rest = ''] = /^(\w+): (.*)$/.exec(begin) ?? []
  const ofGroup = (each: string): boolean => group !== '' && each.includes(group) && has(each, rest)
  const file = sources.find((each) => has(each, begin)) ?? sources.find(ofGroup) ?? 'suite/kind-cases.ts'
  return `[${begin}${count > 1 ? ` ... (${count} cases)` : ''}](../../${SOURCES}/${file})`
}

function ruleOf(slug: string, rule: string, promise: string, results: readonly ProofResult[]): string {
  const proof = PROOFS.find((each) => each.slug === slug)
  if (proof?.rules[rule] === undefined) throw new Error(`README's promise "${promise}": ${slug} has no rule "${rule}"`)
  const states = results.find((each) => each.slug === slug)?.states.toLocaleString('en-US') ?? 'no'
  const anchor = rule
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')
  return `[${rule}](./${slug}.md#${anchor}) (${states} states)`
}

/** README's promises, each with its cases, and what fails without it. */
export function promisesTable(results: readonly ProofResult[]): string {
  const rows = promisesOfReadme().map((promise) => {
    const evidence = EVIDENCE[promise]
    if (evidence === undefined) throw new Error(`README's promise "${promise}" has no case`)
    const cases = evidence.cases.map((begin) => casesOf(begin, promise)).join('<br>')
    const rules = evidence.rules.map(([slug, rule]) => ruleOf(slug, rule, promise, results)).join('<br>')
    return [promise, cases, rules]
  })
  const stale = Object.keys(EVIDENCE).filter((promise) => !promisesOfReadme().includes(promise))
  if (stale.length > 0) throw new Error(`README no longer promises: ${stale.join(', ')}`)
  return markdownTable(['Promise', 'Cases', 'Rules that it breaks without'], rows)
}
