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

interface ReadoutProps {
  readonly failures: Failures
  readonly steps: readonly FactorStep[]
  /** Absent: the whole week. */
  readonly index: number | undefined
}

/** The numbers of one step, or of the week, in a place of their own: nothing is covered and nothing jumps. */
export function Readout({ failures, steps, index }: ReadoutProps): JSX.Element {
  const { failures: words } = useWords()
  const formats = useFormats()
  const bucket = index === undefined ? undefined : failures.series[index]
  const counts = bucket ?? failures.summary
  const at = bucket === undefined ? Number.POSITIVE_INFINITY : endOf(bucket, failures.bucketMinutes)
  const factor = factorAt(steps, at)
  const share = (count: number): string =>
    words.share(formats.number(count), formats.percent(counts.calls === 0 ? 0 : count / counts.calls))
  return (
    <figcaption class="readout">
      <strong>
        {bucket === undefined ? words.week : words.step(formats.dateTime(bucket.ts), formats.time(at * 1_000))}
      </strong>
      <dl>
        <Item name={words.calls} value={formats.number(counts.calls)} />
        <Item name={words.rate} value={formats.percent(counts.failureRate)} />
        <Item name={words.codeZero} value={share(counts.codeZero)} />
        <Item name={words.otherServer} value={share(counts.serverError - counts.codeZero)} />
        <Item name={words.business} value={share(counts.businessFail)} />
        <Item name={words.factor} value={factor === undefined ? '–' : `×${formats.factor(factor)}`} />
      </dl>
    </figcaption>
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
