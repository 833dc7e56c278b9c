import type { JSX } from 'preact'
import { useCallback, useId, useMemo } from 'preact/hooks'
import type uPlot from 'uplot'
import type { Overview, RequestHistory } from '../../api/api.ts'
import { goTo, hrefOf, useRoute } from '../../route.ts'
import { useApi } from '../../session.ts'
import { plainAxis, timeAxis, timeScale } from '../../ui/chart-axes.ts'
import { Choice } from '../../ui/choice.tsx'
import { useInterval } from '../../ui/hooks.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { bars, type ReadColour, TimeChart } from '../../ui/time-chart.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { ProcessMark } from './cards.tsx'
import { ENDING_COLOURS, ENDINGS, EndingList } from './endings.tsx'
import { useOverviewWords } from './words.ts'

type Steps = RequestHistory['series']

const HEIGHT = 260
/** Seconds per step in each range. */
const RANGES = { '1m': 1, '1h': 60, '24h': 600, '7d': 3_600 } as const
type RangeName = keyof typeof RANGES
const RANGE_NAMES = Object.keys(RANGES) as RangeName[]
const REFRESH_MS = 60_000

/** The overview includes the last minute and the last hour. Longer ranges are loaded. */
export function Traffic({ of }: { of: Overview }): JSX.Element {
  const overview = useOverviewWords()
  const id = useId()
  const { query } = useRoute()
  const { minutes } = of.requests
  const range = RANGE_NAMES.find((each) => each === query.range) ?? '1h'
  return (
    <section aria-labelledby={id} class="traffic">
      <div class="card-head">
        <h2 id={id}>
          {overview.requests} {range === '1m' && <ProcessMark />}
        </h2>
        <Choice
          label={overview.range}
          options={RANGE_NAMES.map((name) => ({ value: name, text: overview.ranges[name] }))}
          chosen={range}
          onChoose={(name) => goTo(hrefOf('overview', undefined, { range: name === '1h' ? '' : name }))}
        />
      </div>
      {range === '1m' && <Chart steps={secondsOf(of)} stepSeconds={RANGES[range]} />}
      {(range === '24h' || range === '7d') && <History key={range} range={range} />}
      {range === '1h' && minutes === null && <p class="notice warning">{overview.countsAway}</p>}
      {range === '1h' && minutes !== null && <Chart steps={minutes} stepSeconds={RANGES[range]} />}
    </section>
  )
}

function History({ range }: { range: '24h' | '7d' }): JSX.Element {
  const api = useApi()
  const history = useResource(() => api.requestHistory(range), [api, range])
  useInterval(history.reload, REFRESH_MS)
  return (
    <Loaded resource={history} lines={10}>
      {({ series }) => <Chart steps={series} stepSeconds={RANGES[range]} />}
    </Loaded>
  )
}

interface ChartProps {
  readonly steps: Steps
  readonly stepSeconds: number
}

function Chart({ steps, stepSeconds }: ChartProps): JSX.Element {
  const words = useWords()
  const overview = useOverviewWords()
  const formats = useFormats()
  const data = useMemo(() => dataOf(steps, stepSeconds), [steps, stepSeconds])
  const optionsOf = useCallback(
    (width: number, height: number, colour: ReadColour): uPlot.Options => ({
      width,
      height,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: {
        x: timeScale(stepSeconds),
        // Keeps a few requests from filling the chart.
        count: { range: (_chart, _min, max) => [0, Math.max(4, max * 1.1)] },
      },
      axes: [
        timeAxis(colour, formats),
        {
          ...plainAxis(colour),
          scale: 'count',
          size: 56,
          values: (_chart, splits) => splits.map((each) => formats.number(each)),
        },
      ],
      // Paints the tallest series first.
      series: [{}, ...ENDINGS.toReversed().map((ending) => bars(colour(ENDING_COLOURS[ending]), 'count'))],
    }),
    [formats, stepSeconds],
  )
  const textOf = ({ ts }: Steps[number]): string =>
    stepSeconds < 60
      ? formats.timeOfDay(ts)
      : words.failures.step(formats.dateTime(ts), formats.time(Date.parse(ts) + stepSeconds * 1_000))
  return (
    <figure class="chart">
      <EndingList steps={steps} />
      <p class="axes small" aria-hidden="true">
        <span>{stepSeconds < 60 ? overview.axisSeconds : overview.axisCount}</span>
      </p>
      <TimeChart
        label={`${overview.chart}. ${words.failures.chartKeys}`}
        height={HEIGHT}
        data={data}
        optionsOf={optionsOf}
        valueText={(index) => {
          const step = steps[index]
          return step === undefined ? '' : `${textOf(step)}: ${overview.ofStep(formats.number(step.calls))}`
        }}
        readout={(index) => {
          const step = steps[index]
          if (step === undefined) return null
          return (
            <>
              <strong>{textOf(step)}</strong>
              <EndingList steps={[step]} />
            </>
          )
        }}
      />
      <p class="axes small">
        <span class="of-time">{words.failures.axisTime(formats.zoneAt(steps.at(-1)?.ts ?? 0))}</span>
      </p>
    </figure>
  )
}

function secondsOf({ at, requests: { seconds } }: Overview): Steps {
  const end = Math.floor(Date.parse(at) / 1_000)
  return seconds.map((each, index) => ({
    ts: new Date((end - seconds.length + index) * 1_000).toISOString(),
    calls: ENDINGS.reduce((sum, ending) => sum + each[ending], 0),
    ...each,
  }))
}

/**
 * Stacked rates: requests per minute, or per second for steps below a minute. Each series includes those painted over
 * it.
 */
function dataOf(steps: Steps, stepSeconds: number): uPlot.AlignedData {
  const units = Math.max(1, stepSeconds / 60)
  const stacked = ENDINGS.map((_ending, top) =>
    steps.map((step) => ENDINGS.slice(0, top + 1).reduce((sum, each) => sum + step[each], 0) / units),
  )
  return [steps.map(({ ts }) => Date.parse(ts) / 1_000), ...stacked.toReversed()]
}
