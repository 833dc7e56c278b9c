import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TORTURE_CASES, type TortureFinding } from '@scoregw/quota-testkit/torture'
import { table } from '../tables.ts'
import { MEMORY, ON_REDIS } from './contestants.ts'
import { NOT_PROMISED, type NotPromised } from './not-promised.ts'

const ROOT = join(import.meta.dirname, '../../..')

export const RESULTS: string = join(ROOT, 'bench/results/torture.json')
export const PAGE: string = join(ROOT, 'docs/proof/torture.md')

/** The findings about a limiter, and the versions. */
export interface TortureResult {
  readonly name: string
  readonly versions: Readonly<Record<string, string>>
  readonly findings: readonly TortureFinding[]
}

/** A finding, with its library's promise. */
interface Judged extends TortureFinding {
  readonly name: string
  readonly note?: NotPromised | undefined
}

/** The committed results. */
export function tortureResults(): readonly TortureResult[] {
  return existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, 'utf8')) as readonly TortureResult[]) : []
}

/** The page, with its tables filled in from results. */
export function pageOf(results: readonly TortureResult[]): string {
  const text = readFileSync(PAGE, 'utf8')
  return text.replace(/(<!-- torture -->\n)[\s\S]*?(<!-- \/torture -->)/, (_, start, end) => {
    return `${start}\n${tablesOf(results)}\n\n${end}`
  })
}

function tablesOf(results: readonly TortureResult[]): string {
  const judged = results.flatMap(({ name, versions, findings }) =>
    findings.map((finding): Judged => {
      const [library = ''] = Object.keys(versions)
      const note = finding.verdict === 'broken' ? NOT_PROMISED[library]?.[finding.case] : undefined
      return { ...finding, name, note }
    }),
  )
  const broken = judged.filter(({ verdict, note }) => verdict === 'broken' && note === undefined)
  const unpromised = judged.filter(({ note }) => note !== undefined)
  const of = (names: readonly { readonly name: string }[]): readonly TortureResult[] =>
    results.filter(({ name }) => names.some((each) => each.name === name))
  return [
    '### In memory',
    tableOf(of(MEMORY), judged),
    '### On Redis',
    tableOf(of(ON_REDIS), judged),
    '## Broken',
    broken.length === 0 ? 'Nothing that a library promises was found broken.' : broken.map(itemOf).join('\n'),
    '## Not promised',
    'These do not hold, and their authors do not say that they do.',
    unpromised.map(itemOf).join('\n'),
  ].join('\n\n')
}

function tableOf(results: readonly TortureResult[], judged: readonly Judged[]): string {
  const headers = results.map(({ versions }) => {
    const [first = '', ...others] = Object.entries(versions).map(([each, version]) => `${each} ${version}`)
    return `${first}${others.map((other) => ` with ${other}`).join('')}`
  })
  const cellOf = (testCase: string, name: string): string => {
    const finding = judged.find((each) => each.case === testCase && each.name === name)
    if (finding?.found?.startsWith('not tried')) return 'not tried'
    return finding?.note === undefined ? (finding?.verdict ?? 'not tried') : 'not promised'
  }
  const rows = TORTURE_CASES.map((each) => [each, ...results.map(({ name }) => cellOf(each, name))])
  return table(['', ...headers], rows)
}

function itemOf({ name, case: testCase, found = '', note }: Judged): string {
  const reason = note === undefined ? '' : ` ${note.because} [Source](${note.source}).`
  const command = `npm run torture -- --only "${name}" --case "${testCase}"`
  return `- **${name}**: ${testCase}. Found: ${found}.${reason}\\\n  \`${command}\``
}
