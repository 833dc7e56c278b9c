import type { Report } from './report.ts'

/** The picture's texts in one language. */
interface Texts {
  readonly title: string
  readonly memory: string
  readonly redis: string
  /** How much slower another library is than ours. */
  readonly slower: (factor: string) => string
}

const ENGLISH: Texts = {
  title: 'Decisions per second beside other libraries',
  memory: 'In memory, six limits per decision',
  redis: 'On one Redis, six limits, 64 callers',
  slower: (factor) => `${factor} × slower`,
}

const CHINESE: Texts = {
  title: '每秒判断次数与其他库对比',
  memory: '内存，每次判断六个配额',
  redis: '同一 Redis，六个配额，64 个并发调用',
  slower: (factor) => `本库的 1/${factor}`,
}

/** Contestants by their names in the reports, and for readers; ours first. */
const DRAWN: readonly {
  readonly suite: 'memory' | 'redis'
  readonly bars: readonly (readonly [name: string, label: string])[]
}[] = [
  {
    suite: 'memory',
    bars: [
      ['quota: consumeSync', '@scoregw/quota'],
      ['limiter: six TokenBuckets', 'limiter'],
      ['express-rate-limit: six MemoryStores', 'express-rate-limit'],
      ['rate-limiter-flexible: six limits, two unions', 'rate-limiter-flexible'],
    ],
  },
  {
    suite: 'redis',
    bars: [
      ['quota: six counters, 64 callers', '@scoregw/quota'],
      ['rate-limit-redis: six stores, 64 callers', 'rate-limit-redis'],
      ['rate-limiter-flexible: six limits, two unions, 64 callers', 'rate-limiter-flexible'],
    ],
  },
]

/** As wide as a phone, nearly: at 342 pixels the texts are 11 pixels high. */
const WIDTH = 460
const LABEL = 168
const ROW = 28

type Reports = Readonly<Record<string, Report | undefined>>

/** This project beside others as bars: SVG files by their paths, which follow the reader's light or dark. */
export function pictures(reports: Reports): Readonly<Record<string, string>> {
  return {
    'docs/guide/benchmarks.svg': picture(reports, ENGLISH),
    'docs/zh/benchmarks.svg': picture(reports, CHINESE),
  }
}

function picture(reports: Reports, texts: Texts): string {
  const parts: string[] = []
  let y = 0
  for (const { suite, bars } of DRAWN) {
    const results = reports[suite]?.results ?? []
    const found = bars.flatMap(([name, label]) =>
      results.filter((result) => result.name === name).map(({ ratio }) => ({ label, ratio })),
    )
    parts.push(text(0, y + 18, texts[suite], 'title'), ...barsOf(found, y + 30, texts))
    y += 30 + found.length * ROW + 18
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="factors" width="${WIDTH}" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-label="${texts.title}">`,
    `<style>${STYLE}</style>`,
    ...parts,
    '</svg>\n',
  ].join('\n')
}

interface Bar {
  readonly label: string
  readonly ratio: number
}

/** Ours, the first, has the whole width; the others say how much shorter they are. */
function barsOf(bars: readonly Bar[], top: number, texts: Texts): string[] {
  const ours = bars[0]?.ratio ?? 1
  return bars.flatMap(({ label, ratio }, index) => {
    const y = top + index * ROW
    const width = Math.max(2, (ratio / ours) * (WIDTH - LABEL))
    const [kind, name] = index === 0 ? ['ours', 'name'] : ['other', 'label']
    return [
      text(0, y + 17, label, name),
      `<rect class="${kind}" x="${LABEL}" y="${y + 3}" width="${width.toFixed(1)}" height="${ROW - 8}" rx="3"/>`,
      ...(index === 0 ? [] : [text(LABEL + width + 8, y + 17, texts.slower(twoDigits(ours / ratio)), 'figure')]),
    ]
  })
}

function twoDigits(factor: number): string {
  return String(Number(factor.toPrecision(2)))
}

/** Each rule names the picture: on the site its source stands in the page. */
const STYLE = [
  '.factors text{font:15px system-ui,sans-serif;fill:#1f2328}',
  '.factors .title,.factors .name{font-weight:600}',
  '.factors .ours{fill:#3a5ccc}.factors .other{fill:#8c959f}',
  '@media(prefers-color-scheme:dark){.factors text{fill:#e6edf3}.factors .ours{fill:#6f8ff0}.factors .other{fill:#6e7681}}',
].join('')

function text(x: number, y: number, content: string, kind: string): string {
  return `<text class="${kind}" x="${x.toFixed(1)}" y="${y}">${content}</text>`
}
