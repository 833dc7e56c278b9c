import type { JSX } from 'preact'
import type { WhyAnswer } from '../api/api.ts'
import { useNames } from '../words/names.ts'
import { useFormats, useWords } from '../words/words.ts'

type Replayed = WhyAnswer['replay']
type Judged = Replayed['present']

/** What the days before would have looked like. */
export function Replay({ of }: { of: Replayed }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const { requests, replayed, since, recorded, present, proposed } = of
  return (
    <section aria-labelledby="replay">
      <h2 id="replay">{words.why.replay}</h2>
      {requests === 0 ? (
        <p class="quiet">{words.why.noRequests}</p>
      ) : (
        <>
          <p class="quiet small">
            {words.why.replayAbout(formats.number(replayed), formats.number(requests), formats.date(since))}
          </p>
          <table class="full">
            <thead>
              <tr>
                <td />
                <th scope="col" class="number">
                  {words.why.refusedOf}
                </th>
                <th scope="col">{words.why.byLimit}</th>
              </tr>
            </thead>
            <tbody>
              <Row title={words.why.recorded} of={recorded} />
              <Row title={words.why.present} of={present} />
              {proposed !== null && <Row title={words.why.future} of={proposed} />}
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
  const words = useWords()
  const formats = useFormats()
  return (
    <details>
      <summary>{words.why.daysTable}</summary>
      <table class="full">
        <thead>
          <tr>
            <th scope="col">{words.why.day}</th>
            <th scope="col" class="number">
              {words.why.requests}
            </th>
            <th scope="col" class="number">
              {words.why.recorded}
            </th>
            <th scope="col" class="number">
              {words.why.present}
            </th>
            {proposed !== null && (
              <th scope="col" class="number">
                {words.why.future}
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
