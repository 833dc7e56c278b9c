import type { JSX } from 'preact'
import type { Bucket } from '../../api/api.ts'
import { BarChart } from '../../ui/bar-chart.tsx'
import type { LinePoint } from '../../ui/chart-options.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { factorAt } from './factor.ts'
import { type Counts, type Range, shareOf, sumOf } from './range.ts'

const HEIGHT = 300
/** The share scale reaches at least this far, so that a single failure doesn't fill the chart. */
const LEAST_TOP = 0.1

/** Shares of all requests. */
const BARS = {
  '--client-error': (bucket: Bucket) => shareOf(bucket.businessFail + bucket.serverError, bucket),
  '--server-error': (bucket: Bucket) => shareOf(bucket.serverError, bucket),
  '--code-zero': (bucket: Bucket) => shareOf(bucket.codeZero, bucket),
}

interface ChartProps {
  readonly range: Range
  readonly buckets: readonly Bucket[]
  readonly line: readonly LinePoint[]
  /** Shows a shorter range around an instant, epoch milliseconds. */
  readonly onZoom: ((at: number) => void) | undefined
}

export function ErrorChart({ range, buckets, line, onZoom }: ChartProps): JSX.Element {
  const { failures: words } = useWords()
  const formats = useFormats()
  const seconds = range.bucketMinutes * 60
  return (
    <figure class="chart">
      <ul class="legend" aria-hidden="true">
        <li class="ending codeZero">{words.codeZero}</li>
        <li class="ending serverError">{words.otherServer}</li>
        <li class="ending clientError">{words.business}</li>
        <li class="ending factor">{words.factor}</li>
      </ul>
      <BarChart
        label={`${words.chart}. ${words.chartKeys}${onZoom === undefined ? '' : ` ${words.zoomKeys}`}`}
        height={HEIGHT}
        items={buckets}
        startOf={({ bucketUnix }) => bucketUnix}
        stepSeconds={seconds}
        bars={BARS}
        least={LEAST_TOP}
        axis={words.axisShare}
        axisText={formats.percent}
        factor={line}
        valueText={({ ts, failureRate }) => `${formats.dateTime(ts)}: ${formats.percent(failureRate)}`}
        onChoose={onZoom && (({ bucketUnix }) => onZoom(bucketUnix * 1_000))}
        readout={(bucket) => (
          <>
            <strong>
              {words.step(formats.dateTime(bucket.ts), formats.time((bucket.bucketUnix + seconds) * 1_000))}
            </strong>
            <Numbers counts={bucket} factor={factorAt(line, bucket.bucketUnix + seconds)} />
          </>
        )}
      />
      <figcaption class="totals">
        <strong>{range.day === '' ? words.week : formats.date(range.since)}</strong>
        <Numbers counts={sumOf(buckets)} factor={factorAt(line, range.until / 1_000)} />
      </figcaption>
    </figure>
  )
}

interface NumbersProps {
  readonly counts: Counts
  readonly factor: number | undefined
}

function Numbers({ counts, factor }: NumbersProps): JSX.Element {
  const { failures: words } = useWords()
  const formats = useFormats()
  const share = (count: number): string => words.share(formats.number(count), formats.percent(shareOf(count, counts)))
  const { calls, codeZero, serverError, businessFail } = counts
  const items = [
    [words.calls, formats.number(calls)],
    [words.rate, formats.percent(shareOf(businessFail + serverError, counts))],
    [words.codeZero, share(codeZero)],
    [words.otherServer, share(serverError - codeZero)],
    [words.business, share(businessFail)],
    [words.factor, factor === undefined ? '–' : `×${formats.factor(factor)}`],
  ]
  return (
    <dl>
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
