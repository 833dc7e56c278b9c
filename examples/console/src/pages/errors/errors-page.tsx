import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Adaptive, Bucket, ErrorCounts } from '../../api/api.ts'
import { goTo, hrefOf, useRoute } from '../../route.ts'
import { useApi } from '../../session.ts'
import { ChoiceFilter } from '../../ui/filters.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Table } from '../../ui/table.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { BucketTable } from './bucket-table.tsx'
import { ErrorChart } from './error-chart.tsx'
import { factorLine } from './factor.ts'
import { FactorNow, Moves } from './moves.tsx'
import { dayOf, daysBefore, type Range, rangeOf } from './range.ts'

/** As often as the gateway reviews the factor. */
const REFRESH_MS = 60_000

interface Report {
  /** The gateway's clock, epoch milliseconds. */
  readonly now: number
  readonly range: Range
  readonly buckets: readonly Bucket[]
  readonly errors: ErrorCounts
  readonly adaptive: Adaptive
}

export function ErrorsPage(): JSX.Element {
  const { failures: words } = useWords()
  const formats = useFormats()
  const api = useApi()
  const { day = '' } = useRoute().query
  const load = async (): Promise<Report> => {
    const [failures, adaptive] = await Promise.all([api.failures(rangeOf(day, 0).bucketMinutes), api.adaptive()])
    const now = Date.parse(failures.until)
    const range = rangeOf(day, now)
    const { since, until } = range
    const instants = { since: new Date(since).toISOString(), until: new Date(until).toISOString() }
    const errors = await api.errors(instants)
    const buckets = failures.series.filter(
      ({ bucketUnix }) => bucketUnix * 1_000 >= since && bucketUnix * 1_000 < until,
    )
    return { now, range, buckets, errors, adaptive }
  }
  const report = useResource(load, [api, day], REFRESH_MS)
  const days = daysBefore(report.data?.now ?? Date.now())
  const chosen = rangeOf(day, 0).day
  // A link may name an older day.
  const known = chosen === '' || days.includes(chosen) ? days : [...days, chosen]
  return (
    <>
      <h1>{words.title}</h1>
      <p class="quiet">{words.about}</p>
      <div class="buttons filters">
        <ChoiceFilter
          page="errors"
          name="day"
          label={words.range}
          options={[
            ['', words.week],
            ...known.map((each) => [each, formats.day(new Date(`${each}T12:00`).getTime())] as const),
          ]}
        />
      </div>
      <Loaded resource={report} lines={24}>
        {(data) => <Shown {...data} />}
      </Loaded>
    </>
  )
}

function Shown({ range, buckets, errors, adaptive }: Report): JSX.Element {
  const { failures: words } = useWords()
  const line = useMemo(() => factorLine(adaptive, range.since / 1_000), [adaptive, range.since])
  const zoom = (at: number): void => goTo(hrefOf('errors', undefined, { day: dayOf(at) }))
  return (
    <>
      {buckets.every(({ calls }) => calls === 0) && <p class="empty">{words.none}</p>}
      <ErrorChart range={range} buckets={buckets} line={line} onZoom={range.day === '' ? zoom : undefined} />
      <BucketTable buckets={buckets} line={line} minutes={range.bucketMinutes} />
      <ByOperation errors={errors} />
      <FactorNow adaptive={adaptive} />
      <Moves moves={adaptive.history} />
    </>
  )
}

/** Which operations failed, and how. */
function ByOperation({ errors }: { errors: ErrorCounts }): JSX.Element {
  const { failures: words } = useWords()
  const formats = useFormats()
  return (
    <section aria-labelledby="by-operation">
      <h2 id="by-operation">{words.byOperation}</h2>
      <Table
        label={words.byOperation}
        items={errors}
        keyOf={({ operation, httpStatus }) => `${httpStatus} ${operation}`}
        empty={words.noErrors}
        columns={[
          { name: words.operation, cell: ({ operation }) => <code>{operation}</code> },
          {
            name: words.status,
            cell: ({ httpStatus }) => (
              <span class={httpStatus === 0 ? 'ending codeZero' : 'ending serverError'}>
                {httpStatus === 0 ? words.codeZero : httpStatus}
              </span>
            ),
          },
          { name: words.count, isNumber: true, cell: ({ count }) => formats.number(count) },
          { name: words.last, cell: ({ lastAt }) => formats.dateTime(lastAt) },
        ]}
      />
    </section>
  )
}
