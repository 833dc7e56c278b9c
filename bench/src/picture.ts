import type { Comparison, Report } from './report.ts'

/** The picture's texts in one language. */
interface Texts {
  readonly title: string
  readonly memory: string
  readonly redis: string
  /** By framework. */
  readonly request: (framework: string) => string
  readonly less: string
  readonly machine: (cpu: string, cores: number, node: string, date: string) => string
}

const ENGLISH: Texts = {
  title: 'Processor time of one limit, compared with other libraries',
  memory: 'In memory, a decision',
  redis: 'On one Redis, a decision, in Node',
  request: (framework) => `${framework}, a whole request`,
  less: 'Processor time: less is better',
  machine: (cpu, cores, node, date) => `${cpu}, ${cores} cores, Node ${node}, ${date}`,
}

const CHINESE: Texts = {
  title: '单个限额的 CPU 时间，与其他库对比',
  memory: '内存，每次判定',
  redis: '同一 Redis，每次判定，Node 进程',
  request: (framework) => `${framework}，每个完整请求`,
  less: 'CPU 时间：越短越好',
  machine: (cpu, cores, node, date) => `${cpu}，${cores} 核，Node ${node}，${date}`,
}

const OURS = '@scoregw/quota'

/** Groups of bars: their titles, and the names of their rows in the report. */
const GROUPS: readonly (readonly [title: (texts: Texts) => string, what: string])[] = [
  [(texts) => texts.memory, 'memory, await consume'],
  ...['Express', 'Fastify', 'Hono'].map(
    (name) => [(texts: Texts) => texts.request(name), `${name}, by address`] as const,
  ),
  [(texts) => texts.redis, 'Redis, 64 callers'],
]

/** Nearly as wide as a phone. At 270 pixels, text is 11 pixels high. */
const WIDTH = 368
const LABEL = 168
const ROW = 28
/** The space for a bar's figure. */
const FIGURE = 70

type Reports = Readonly<Record<string, Report | undefined>>

/**
 * One limit compared with those of other libraries, as bars: SVG files by path, in the reader's light or dark colors.
 */
export function pictures(reports: Reports): Readonly<Record<string, string>> {
  return {
    'docs/guide/benchmarks.svg': picture(reports.single, ENGLISH),
    'docs/zh/benchmarks.svg': picture(reports.single, CHINESE),
  }
}

function picture(report: Report | undefined, texts: Texts): string {
  const parts: string[] = []
  let y = 0
  for (const [titleOf, what] of GROUPS) {
    const bars = barsOf(report?.compared?.filter((row) => row.what === what) ?? [])
    parts.push(text(0, y + 18, titleOf(texts), 'title'), ...drawn(bars, y + 30))
    y += 30 + bars.length * ROW + 18
  }
  if (report !== undefined) {
    const { cpu, cores, node } = report.machine
    parts.push(
      text(0, y + 10, texts.less, 'note'),
      text(0, y + 30, texts.machine(cpu, cores, node, report.date), 'note'),
    )
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="factors" width="${WIDTH}" viewBox="0 0 ${WIDTH} ${y + 38}" role="img" aria-label="${texts.title}">`,
    `<style>${STYLE}</style>`,
    ...parts,
    '</svg>\n',
  ].join('\n')
}

interface Bar {
  readonly label: string
  readonly us: number
}

/** Ours first, then the libraries. The hand-written limiter is only on the page. */
function barsOf(rows: readonly Comparison[]): Bar[] {
  const others = rows.flatMap(({ other, otherUs }) => {
    const library = /^(\S+) \d/.exec(other)?.[1]
    return library === undefined ? [] : [{ label: library, us: otherUs }]
  })
  return [...rows.slice(0, 1).map(({ oursUs }) => ({ label: OURS, us: oursUs })), ...others]
}

/** Draws bars. The longest has the full width. */
function drawn(bars: readonly Bar[], top: number): string[] {
  const longest = Math.max(...bars.map(({ us }) => us))
  return bars.flatMap(({ label, us }, index) => {
    const y = top + index * ROW
    const width = Math.max(2, (us / longest) * (WIDTH - LABEL - FIGURE))
    const [kind, name] = label === OURS ? ['ours', 'name'] : ['other', 'label']
    return [
      text(0, y + 17, label, name),
      `<rect class="${kind}" x="${LABEL}" y="${y + 3}" width="${width.toFixed(1)}" height="${ROW - 8}" rx="3"/>`,
      text(LABEL + width + 8, y + 17, timeOf(us), 'figure'),
    ]
  })
}

function timeOf(us: number): string {
  return us < 1 ? `${Math.round(us * 1_000)} ns` : `${Number(us.toPrecision(3))} µs`
}

/** Each rule includes the picture's id, because on the site the SVG is part of the page. */
const STYLE = [
  '.factors text{font:15px system-ui,sans-serif;fill:#1f2328}',
  '.factors .title,.factors .name{font-weight:600}',
  '.factors .ours{fill:#3a5ccc}.factors .other{fill:#8c959f}',
  '@media(prefers-color-scheme:dark){.factors text{fill:#e6edf3}.factors .ours{fill:#6f8ff0}.factors .other{fill:#6e7681}}',
].join('')

function text(x: number, y: number, content: string, kind: string): string {
  return `<text class="${kind}" x="${x.toFixed(1)}" y="${y}">${content}</text>`
}
