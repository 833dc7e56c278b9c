import { rounded } from './print.ts'
import type { Report } from './report.ts'
import { ratioIn } from './tables.ts'

/** What is drawn: contestants that decide about six limits, by a name for readers; ours first. */
const DRAWN: readonly (readonly [suite: string, title: string, bars: readonly (readonly [string, string])[]])[] = [
  [
    'memory',
    'Six limits a decision, in memory: decisions a second, of a hand-written loop',
    [
      ['quota: consumeSync', '@scoregw/quota, consumeSync'],
      ['quota: await consume', '@scoregw/quota, consume'],
      ['limiter: six TokenBuckets', 'limiter'],
      ['express-rate-limit: six MemoryStores', 'express-rate-limit'],
      ['rate-limiter-flexible: six limits, two unions', 'rate-limiter-flexible'],
    ],
  ],
  [
    'redis',
    'Six limits a decision, on one Redis, 64 callers: decisions a second, of a bare INCRBY',
    [
      ['quota: six counters, 64 callers', '@scoregw/quota'],
      ['rate-limit-redis: six stores, 64 callers', 'rate-limit-redis'],
      ['rate-limiter-flexible: six limits, two unions, 64 callers', 'rate-limiter-flexible'],
    ],
  ],
]

const WIDTH = 720
const LABEL = 220
const ROW = 26
const BAR = WIDTH - LABEL - 60

/** This project beside others as bars: an SVG file that follows the reader's light or dark. */
export function picture(reports: Readonly<Record<string, Report | undefined>>): string {
  const parts: string[] = []
  let y = 0
  for (const [suite, title, bars] of DRAWN) {
    const report = reports[suite]
    if (report === undefined) continue
    const rows = bars.flatMap(([name, label]) => {
      const ratio = ratioIn(report, name)
      return ratio === undefined ? [] : [{ label, ratio }]
    })
    const most = Math.max(1, ...rows.map(({ ratio }) => ratio))
    parts.push(text(0, y + 18, title, 'title'))
    y += 30
    for (const [index, { label, ratio }] of rows.entries()) {
      const width = Math.max(2, (ratio / most) * BAR)
      const kind = label.startsWith('@scoregw') ? 'ours' : 'other'
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

const STYLE = [
  'text{font:13px system-ui,sans-serif;fill:#1f2328}',
  '.title{font-weight:600}.label{text-anchor:end}',
  '.ours{fill:#0969da}.other{fill:#8c959f}',
  '@media(prefers-color-scheme:dark){text{fill:#e6edf3}.ours{fill:#4493f8}.other{fill:#6e7681}}',
].join('')

function text(x: number, y: number, content: string, kind: string): string {
  return `<text class="${kind}" x="${x.toFixed(1)}" y="${y}">${content}</text>`
}
