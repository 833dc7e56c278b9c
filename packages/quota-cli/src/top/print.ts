import { amountText } from '../amounts.ts'
import { type Io, painted } from '../io.ts'
import { counted, instant, lasting, percent, plain, several, table } from '../text.ts'
import type { SeenLimit, Usage } from './usage.ts'

const BAR = 20

/** The use of limits as text. */
export function printedUsage(server: string, usage: Usage, io: Io): string {
  const when = usage.at === null ? '' : `, ${instant(usage.at)}`
  const rows = `${counted(usage.rows)} rows${usage.isSample ? ' (a sample: --sample takes more)' : ''}`
  const hidden = usage.unlisted === 0 ? '' : `${several(usage.unlisted, 'row')} of keys above 200 bytes not listed\n`
  const head = `${painted(io, 'bold', server)}${when}, ${rows}\n`
  const parts = [head + hidden]
  if (usage.shared.length > 0) parts.push(tableOf('everybody', usage.shared, usage.at, io))
  parts.push(usage.hottest.length > 0 ? tableOf('subject', usage.hottest, usage.at, io) : 'nothing is used\n')
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
    limits.map(({ layer, subject, name, unit, used, limit, share, resetAt }) => [
      subject === '' ? layer : plain(subject, 40),
      name,
      amountText(unit, used),
      amountText(unit, limit),
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
