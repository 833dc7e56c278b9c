import type { JSX } from 'preact'
import type { Bucket, Failures } from '../api/api.ts'
import { useFormats, useWords } from '../words/words.ts'
import { type FactorStep, factorAt } from './factor-line.ts'

export function Legend(): JSX.Element {
  const { failures: words } = useWords()
  return (
    <ul class="legend" aria-hidden="true">
      <li class="code-zero">{words.codeZero}</li>
      <li class="server-error">{words.otherServer}</li>
      <li class="business">{words.business}</li>
      <li class="factor">{words.factor}</li>
    </ul>
  )
}

/** Where the cursor is: over which step, and how far from the left edge of the chart, in CSS pixels. */
export interface Cursor {
  readonly index: number
  readonly left: number
}

interface ReadoutProps {
  readonly failures: Failures
  readonly steps: readonly FactorStep[]
  readonly cursor: Cursor
  /** Of the chart, in CSS pixels. */
  readonly width: number
}

const WIDTH = 232
const GAP = 14

/** The numbers of one step, beside the pointer and never over the edge. */
export function Readout({ failures, steps, cursor: { index, left }, width }: ReadoutProps): JSX.Element | null {
  const { failures: words } = useWords()
  const formats = useFormats()
  const bucket = failures.series[index]
  if (bucket === undefined) return null
  const end = endOf(bucket, failures.bucketMinutes)
  const beside = left + GAP + WIDTH <= width ? left + GAP : left - GAP - WIDTH
  const place = { left: `${Math.max(0, Math.min(width - WIDTH, beside))}px`, width: `${WIDTH}px` }
  return (
    <div class="readout" style={place}>
      <strong>{words.step(formats.dateTime(bucket.ts), formats.time(end * 1_000))}</strong>
      <Numbers counts={bucket} factor={factorAt(steps, end)} />
    </div>
  )
}

interface TotalsProps {
  readonly failures: Failures
  readonly steps: readonly FactorStep[]
  readonly title: string
}

/** The numbers of the whole time that is shown. */
export function Totals({ failures: { summary }, steps, title }: TotalsProps): JSX.Element {
  return (
    <figcaption class="totals">
      <strong>{title}</strong>
      <Numbers counts={summary} factor={factorAt(steps, Number.POSITIVE_INFINITY)} />
    </figcaption>
  )
}

interface NumbersProps {
  readonly counts: Failures['summary']
  readonly factor: number | undefined
}

function Numbers({ counts, factor }: NumbersProps): JSX.Element {
  const { failures: words } = useWords()
  const formats = useFormats()
  const share = (count: number): string =>
    words.share(formats.number(count), formats.percent(counts.calls === 0 ? 0 : count / counts.calls))
  return (
    <dl>
      <Item name={words.calls} value={formats.number(counts.calls)} />
      <Item name={words.rate} value={formats.percent(counts.failureRate)} />
      <Item name={words.codeZero} value={share(counts.codeZero)} />
      <Item name={words.otherServer} value={share(counts.serverError - counts.codeZero)} />
      <Item name={words.business} value={share(counts.businessFail)} />
      <Item name={words.factor} value={factor === undefined ? '–' : `×${formats.factor(factor)}`} />
    </dl>
  )
}

function Item({ name, value }: { name: string; value: string }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

/** Seconds since the epoch. */
function endOf({ bucketUnix }: Bucket, minutes: number): number {
  return bucketUnix + minutes * 60
}
