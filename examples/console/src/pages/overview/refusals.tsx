import type { JSX } from 'preact'
import type { Overview } from '../../api/api.ts'
import { useNames } from '../../words/names.ts'
import { useFormats } from '../../words/words.ts'
import { Card } from './card.tsx'
import { useOverviewWords } from './words.ts'

export function Refusals({ of: { since, limits, degraded } }: { of: Overview['refusals'] }): JSX.Element {
  const overview = useOverviewWords()
  const names = useNames()
  const formats = useFormats()
  return (
    <Card title={overview.refusals} of="process">
      {degraded > 0 && <p class="notice warning">{overview.degraded(formats.number(degraded))}</p>}
      {limits.length === 0 ? (
        <p class="quiet">{overview.noRefusals}</p>
      ) : (
        <table class="full">
          <caption>{overview.refusalsSince(formats.time(since))}</caption>
          <thead>
            <tr>
              <th scope="col">{overview.limit}</th>
              <th scope="col" class="number">
                {overview.count}
              </th>
            </tr>
          </thead>
          <tbody>
            {limits.map(({ layer, category, window, count }) => (
              <tr key={JSON.stringify([layer, category, window])}>
                <th scope="row">{names.cell(layer, category, window)}</th>
                <td class="number">{formats.number(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}
