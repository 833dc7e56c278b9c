import type { JSX } from 'preact'
import { useFormats } from '../../words/words.ts'
import { useOverviewWords } from './words.ts'

/** The outcomes in the order of the chart, from the bottom up. */
export const ENDINGS = ['succeeded', 'refused', 'clientError', 'serverError'] as const
export type Ending = (typeof ENDINGS)[number]
export type Endings = Readonly<Record<Ending, number>>

/** The colours in the style sheet, the same on all pages. */
export const ENDING_COLOURS: Readonly<Record<Ending, string>> = {
  succeeded: '--succeeded',
  refused: '--refused',
  clientError: '--client-error',
  serverError: '--server-error',
}

function sumOf(steps: readonly Endings[], ending: Ending): number {
  return steps.reduce((sum, each) => sum + each[ending], 0)
}

export function totalOf(steps: readonly Endings[]): number {
  return ENDINGS.reduce((sum, ending) => sum + sumOf(steps, ending), 0)
}

/** 0 if there were no requests. */
export function shareOf(steps: readonly Endings[], ending: Ending): number {
  const total = totalOf(steps)
  return total === 0 ? 0 : sumOf(steps, ending) / total
}

/** The legend of the chart, and the figures of one step. */
export function EndingList({ steps }: { steps: readonly Endings[] }): JSX.Element {
  const overview = useOverviewWords()
  const formats = useFormats()
  return (
    <dl class="endings">
      {ENDINGS.map((ending) => (
        <div key={ending}>
          <dt class={`ending ${ending}`}>{overview.endings[ending]}</dt>
          <dd>
            {formats.number(sumOf(steps, ending))}{' '}
            <span class="quiet">{totalOf(steps) > 0 && formats.percent(shareOf(steps, ending))}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}
