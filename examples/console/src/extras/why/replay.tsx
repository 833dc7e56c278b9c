import type { JSX } from 'preact'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import type { WhyAnswer } from './why-api.ts'
import { useWhyWords } from './words.ts'

type Replayed = WhyAnswer['replay']
type Judged = Replayed['present']

export function Replay({ of }: { of: Replayed }): JSX.Element {
  const why = useWhyWords()
  const formats = useFormats()
  const { requests, replayed, since, recorded, present, proposed } = of
  return (
    <section aria-labelledby="replay">
      <h2 id="replay">{why.replay}</h2>
      {requests === 0 ? (
        <p class="quiet">{why.noRequests}</p>
      ) : (
        <>
          <p class="quiet small">
            {why.replayAbout(formats.number(replayed), formats.number(requests), formats.date(since))}
          </p>
          <table class="full">
            <thead>
              <tr>
                <td />
                <th scope="col" class="number">
                  {why.refusedOf}
                </th>
                <th scope="col">{why.byLimit}</th>
              </tr>
            </thead>
            <tbody>
              <Row title={why.recorded} of={recorded} />
              <Row title={why.present} of={present} />
              {proposed !== null && <Row title={why.future} of={proposed} />}
            </tbody>
          </table>
          <Days of={of} />
        </>
      )}
    </section>
  )
}

function Row({ title, of: { refused, limits } }: { title: string; of: Judged }): JSX.Element {
  const { colon } = useWords()
  const names = useNames()
  const formats = useFormats()
  return (
    <tr>
      <th scope="row">{title}</th>
      <td class="number">{formats.number(refused)}</td>
      <td>
        {limits.map(({ layer, category, window, count }) => (
          <div key={JSON.stringify([layer, category, window])}>
            {names.cell(layer, category, window)}
            {colon}
            {formats.number(count)}
          </div>
        ))}
      </td>
    </tr>
  )
}

function Days({ of: { days, proposed } }: { of: Replayed }): JSX.Element {
  const why = useWhyWords()
  const formats = useFormats()
  return (
    <details>
      <summary>{why.daysTable}</summary>
      <table class="full">
        <thead>
          <tr>
            <th scope="col">{why.day}</th>
            <th scope="col" class="number">
              {why.requests}
            </th>
            <th scope="col" class="number">
              {why.recorded}
            </th>
            <th scope="col" class="number">
              {why.present}
            </th>
            {proposed !== null && (
              <th scope="col" class="number">
                {why.future}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {days.map((day) => (
            <tr key={day.date}>
              <th scope="row" class="no-wrap">
                {day.date}
              </th>
              <td class="number">{formats.number(day.requests)}</td>
              <td class="number">{formats.number(day.recorded)}</td>
              <td class="number">{formats.number(day.present)}</td>
              {day.proposed !== null && <td class="number">{formats.number(day.proposed)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
