import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { Overview, RequestHistory } from '../../api/api.ts'
import { goTo, hrefOf, useRoute } from '../../route.ts'
import { useApi } from '../../session.ts'
import { BarChart } from '../../ui/bar-chart.tsx'
import { Choice } from '../../ui/choice.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { ProcessMark } from './cards.tsx'
import { ENDING_COLOURS, ENDINGS, EndingList, type Endings } from './endings.tsx'
import { useOverviewWords } from './words.ts'

type Steps = RequestHistory['series']

const HEIGHT = 260
/** A few requests don't fill the chart. */
const LEAST_TOP = 4
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
  const history = useResource(() => api.requestHistory(range), [api, range], REFRESH_MS)
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
  const textOf = ({ ts }: Steps[number]): string =>
    stepSeconds < 60
      ? formats.timeOfDay(ts)
      : words.failures.step(formats.dateTime(ts), formats.time(Date.parse(ts) + stepSeconds * 1_000))
  return (
    <figure class="chart">
      <EndingList steps={steps} />
      <BarChart
        label={`${overview.chart}. ${words.failures.chartKeys}`}
        height={HEIGHT}
        items={steps}
        startOf={({ ts }) => Date.parse(ts) / 1_000}
        stepSeconds={stepSeconds}
        bars={barsFor(stepSeconds)}
        least={LEAST_TOP}
        axis={stepSeconds < 60 ? overview.axisSeconds : overview.axisCount}
        axisText={formats.number}
        valueText={(step) => `${textOf(step)}: ${overview.ofStep(formats.number(step.calls))}`}
        readout={(step) => (
          <>
            <strong>{textOf(step)}</strong>
            <EndingList steps={[step]} />
          </>
        )}
      />
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

/** Requests per minute, or per second for steps below a minute. Each ending includes those painted over it. */
function barsFor(stepSeconds: number): Readonly<Record<string, (step: Endings) => number>> {
  const units = Math.max(1, stepSeconds / 60)
  const bars = ENDINGS.map((ending, top) => {
    const upTo = ENDINGS.slice(0, top + 1)
    return [ENDING_COLOURS[ending], (step: Endings) => upTo.reduce((sum, each) => sum + step[each], 0) / units] as const
  })
  return Object.fromEntries(bars.reverse())
}
