import { rounded } from './print.ts'
import type { Rate, Report } from './report.ts'
import { ORDINARY } from './traffic/ordinary.ts'

interface Drawn {
  readonly suite: string
  readonly title: string
  /** Contestants by their names in the report, and for readers; ours first. */
  readonly bars: readonly (readonly [name: string, label: string])[]
  /** What follows the name of a policy in the report, where it was measured as `bars` were. */
  readonly callers: string
}

const DRAWN: readonly Drawn[] = [
  {
    suite: 'memory',
    title: 'Six limits a decision, in memory: decisions a second, of a hand-written loop',
    callers: '',
    bars: [
      ['quota: consumeSync', '@scoregw/quota, consumeSync'],
      ['quota: await consume', '@scoregw/quota, consume'],
      ['limiter: six TokenBuckets', 'limiter'],
      ['express-rate-limit: six MemoryStores', 'express-rate-limit'],
      ['rate-limiter-flexible: six limits, two unions', 'rate-limiter-flexible'],
    ],
  },
  {
    suite: 'redis',
    title: 'Six limits a decision, on one Redis, 64 callers: decisions a second, of a bare INCRBY',
    callers: ', 64 callers',
    bars: [
      ['quota: six counters, 64 callers', '@scoregw/quota'],
      ['rate-limit-redis: six stores, 64 callers', 'rate-limit-redis'],
      ['rate-limiter-flexible: six limits, two unions, 64 callers', 'rate-limiter-flexible'],
    ],
  },
]

const WIDTH = 720
const LABEL = 280
const ROW = 26
const BAR = WIDTH - LABEL - 60

/** This project beside others as bars: an SVG file that follows the reader's light or dark. */
export function picture(reports: Readonly<Record<string, Report | undefined>>): string {
  const parts: string[] = []
  let y = 0
  for (const drawn of DRAWN) {
    const report = reports[drawn.suite]
    if (report === undefined) continue
    const rows = rowsOf(drawn, report)
    const most = Math.max(1, ...rows.map(({ ratio }) => ratio))
    parts.push(text(0, y + 18, drawn.title, 'title'))
    y += 30
    for (const [index, { label, ratio, isOurs }] of rows.entries()) {
      const width = Math.max(2, (ratio / most) * BAR)
      const kind = isOurs ? 'ours' : 'other'
      parts.push(text(LABEL - 10, y + 17, label, 'label'))
      parts.push(
        `<rect class="${kind}" x="${LABEL}" y="${y + 4}" width="${width.toFixed(1)}" height="${ROW - 8}" rx="3"/>`,
      )
      parts.push(text(LABEL + width + 8, y + 17, String(rounded(ratio)), 'figure'))
      y += ROW + (index === rows.length - 1 ? 16 : 0)
    }
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-label="This project beside other libraries">`,
    `<style>${STYLE}</style>`,
    ...parts,
    '</svg>\n',
  ].join('\n')
}

interface Row {
  readonly label: string
  readonly ratio: number
  readonly isOurs: boolean
}

/** The bars of a suite, and after ours the slowest of the ordinary policies; holds are two calls, and so no decision. */
function rowsOf({ bars, callers }: Drawn, { results, ordinary = [] }: Report): Row[] {
  const rows = bars.flatMap(([name, label]) => {
    const found = results.find((result) => result.name === name)
    return found === undefined ? [] : [{ label, ratio: found.ratio, isOurs: label.startsWith('@scoregw') }]
  })
  const policies = ORDINARY.filter(({ call }) => call !== 'hold')
  const slowest = policies
    .flatMap((policy) => ordinary.filter(({ name }) => name === `quota: ${policy.name}${callers}`))
    .reduce<Rate | undefined>(
      (worst, rate) => (worst === undefined || rate.ratio < worst.ratio ? rate : worst),
      undefined,
    )
  if (slowest === undefined) return rows
  const policy = slowest.name.slice('quota: '.length, slowest.name.length - callers.length)
  const last = rows.findLastIndex(({ isOurs }) => isOurs)
  return rows.toSpliced(last + 1, 0, { label: `slowest: ${policy}`, ratio: slowest.ratio, isOurs: true })
}

const STYLE = [
  'text{font:13px system-ui,sans-serif;fill:#1f2328}',
  '.title{font-weight:600}.label{text-anchor:end}',
  '.ours{fill:#0969da}.other{fill:#8c959f}',
  '@media(prefers-color-scheme:dark){text{fill:#e6edf3}.ours{fill:#4493f8}.other{fill:#6e7681}}',
].join('')

function text(x: number, y: number, content: string, kind: string): string {
  return `<text class="${kind}" x="${x.toFixed(1)}" y="${y}">${content}</text>`
}
