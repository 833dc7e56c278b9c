import type { JSX } from 'preact'
import { useCallback, useMemo } from 'preact/hooks'
import type uPlot from 'uplot'
import type { Failures } from '../../api/api.ts'
import { type ReadColour, TimeChart } from '../../ui/time-chart.tsx'
import { useFormats, useWords } from '../../words/words.ts'
import { chartOptions } from './chart-options.ts'
import type { FactorStep } from './readout.tsx'
import { Legend, Readout, Totals } from './readout.tsx'

const HEIGHT = 300

interface ChartProps {
  readonly failures: Failures
  readonly steps: readonly FactorStep[]
  /** The title of the totals. */
  readonly title: string
}

export function ErrorChart({ failures, steps, title }: ChartProps): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const { bucketMinutes } = failures
  const data = useMemo(() => dataOf(failures), [failures])
  const optionsOf = useCallback(
    (width: number, height: number, colour: ReadColour) =>
      chartOptions(width, height, colour, { formats, steps, stepSeconds: bucketMinutes * 60 }),
    [formats, steps, bucketMinutes],
  )
  return (
    <figure class="chart">
      <Legend />
      <p class="axes small" aria-hidden="true">
        <span>{words.failures.axisShare}</span>
        <span class="of-factor">{words.failures.axisFactor}</span>
      </p>
      <TimeChart
        label={`${words.failures.chart}. ${words.failures.chartKeys}`}
        height={HEIGHT}
        data={data}
        optionsOf={optionsOf}
        valueText={(index) => valueText(failures, index, formats)}
        readout={(index) => <Readout failures={failures} steps={steps} index={index} />}
      />
      <p class="axes small">
        <span class="of-time">{words.failures.axisTime(formats.zoneAt(failures.until))}</span>
      </p>
      <Totals failures={failures} steps={steps} title={title} />
    </figure>
  )
}

/** Stacked shares of all requests. Each series includes those painted over it. */
function dataOf({ series }: Failures): uPlot.AlignedData {
  const share = (count: number, calls: number): number => (calls === 0 ? 0 : count / calls)
  return [
    series.map(({ bucketUnix }) => bucketUnix),
    series.map(({ businessFail, serverError, calls }) => share(businessFail + serverError, calls)),
    series.map(({ serverError, calls }) => share(serverError, calls)),
    series.map(({ codeZero, calls }) => share(codeZero, calls)),
    series.map(() => null),
  ]
}

function valueText({ series }: Failures, index: number, formats: ReturnType<typeof useFormats>): string {
  const bucket = series[index]
  return bucket === undefined ? '' : `${formats.dateTime(bucket.ts)}: ${formats.percent(bucket.failureRate)}`
}
