import type { JSX } from 'preact'
import type { Overview } from '../api/api.ts'
import { useFormats, useWords } from '../words/words.ts'
import { Card } from './card.tsx'
import { ENDINGS, type Ending, StackedBars } from './stacked-bars.tsx'

type Endings = Readonly<Record<Ending, number>>

/** How many requests there are, and how they end. */
export function Traffic({ of: { perSecond, seconds, minutes } }: { of: Overview['requests'] }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  return (
    <>
      <Card title={words.overview.requests} of="process">
        <p>
          <span class="large">{formats.number(Math.round(perSecond * 10) / 10)}</span> {words.overview.perSecond}
        </p>
        <StackedBars label={words.overview.seconds} columns={seconds} />
        <Sums title={words.overview.lastMinute} of={seconds} />
      </Card>
      <Card title={words.overview.lastHour} of="all">
        {minutes === null ? (
          <p class="notice warning">{words.overview.countsAway}</p>
        ) : (
          <>
            <StackedBars label={words.overview.minutes} columns={minutes} />
            <Sums title={words.overview.lastHour} of={minutes} />
          </>
        )}
      </Card>
    </>
  )
}

/** The chart in numbers, which is its legend too. */
function Sums({ title, of }: { title: string; of: readonly Endings[] }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const sums = ENDINGS.map((ending) => ({ ending, count: of.reduce((sum, each) => sum + each[ending], 0) }))
  const total = sums.reduce((sum, { count }) => sum + count, 0)
  return (
    <table class="full sums">
      <thead>
        <tr>
          <th scope="col">{words.overview.ending}</th>
          <th scope="col" class="number" colSpan={2}>
            {title}
          </th>
        </tr>
      </thead>
      <tbody>
        {sums.map(({ ending, count }) => (
          <tr key={ending}>
            <th scope="row">
              <span class={`swatch ${ending}`} aria-hidden="true" />
              {words.overview.endings[ending]}
            </th>
            <td class="number">{formats.number(count)}</td>
            <td class="number quiet">{total === 0 ? '' : formats.percent(count / total)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
