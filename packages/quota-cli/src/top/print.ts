import { type Io, painted } from '../io.ts'
import { counted, instant, lasting, percent, plain, table } from '../text.ts'
import type { Refusals } from './refusals.ts'
import type { SeenLimit, Usage } from './usage.ts'

const BAR = 20

/** The use of limits as text. @param before refusals at the previous reading, and the time since */
export function printedUsage(
  server: string,
  usage: Usage,
  refusals: Refusals | undefined,
  before: { readonly refusals: Refusals; readonly agoMs: number } | undefined,
  io: Io,
): string {
  const when = usage.at === null ? '' : `, ${instant(usage.at)}`
  const rows = `${counted(usage.rows)} rows${usage.isSample ? ' (a sample: --sample takes more)' : ''}`
  const head = `${painted(io, 'bold', server)}${when}, ${rows}\n`
  const parts = [head]
  if (usage.shared.length > 0) parts.push(tableOf('everybody', usage.shared, usage.at, io))
  parts.push(usage.hottest.length > 0 ? tableOf('subject', usage.hottest, usage.at, io) : 'nothing is used\n')
  if (refusals !== undefined) parts.push(tableOfRefusals(refusals, before))
  return parts.join('\n')
}

function tableOf(title: string, limits: readonly SeenLimit[], at: number | null, io: Io): string {
  const columns = [
    { title },
    { title: 'limit' },
    { title: 'used', align: 'right' },
    { title: 'of', align: 'right' },
    { title: '', align: 'right' },
    { title: '' },
    { title: 'ends in' },
  ] as const
  return table(
    columns,
    limits.map(({ subject, layer, category, window, used, limit, share, resetAt }) => [
      subject === '' ? layer : plain(subject, 40),
      `${layer} ${category} ${window}`,
      counted(used),
      counted(limit),
      percent(used, limit),
      bar(share, io),
      resetAt === null || at === null ? '' : lasting(Math.max(0, resetAt - at)),
    ]),
  )
}

function bar(share: number, io: Io): string {
  const full = Math.min(BAR, Math.round(share * BAR))
  const near = share >= 0.8 ? 'yellow' : 'green'
  const paint = share >= 1 ? 'red' : near
  return painted(io, paint, '█'.repeat(full)) + painted(io, 'dim', '·'.repeat(BAR - full))
}

function tableOfRefusals(
  refusals: Refusals,
  before: { readonly refusals: Refusals; readonly agoMs: number } | undefined,
): string {
  const columns = [
    { title: 'refusals' },
    { title: 'since the start', align: 'right' },
    { title: 'a second', align: 'right' },
  ] as const
  const rows = [...refusals]
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => {
      const since =
        before === undefined ? undefined : (count - (before.refusals.get(name) ?? 0)) / (before.agoMs / 1_000)
      return [plain(name, 60), counted(count), since === undefined ? '' : Math.max(0, since).toFixed(1)]
    })
  return rows.length === 0 ? 'no refusals\n' : table(columns, rows)
}
