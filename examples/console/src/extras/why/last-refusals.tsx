import type { JSX } from 'preact'
import type { WhyAnswer } from '../../api/api.ts'
import { useNames } from '../../words/names.ts'
import { useFormats } from '../../words/words.ts'
import { useWhyWords } from './words.ts'

/** How it was. */
export function LastRefusals({ of }: { of: WhyAnswer['refusals'] }): JSX.Element {
  const why = useWhyWords()
  const names = useNames()
  const formats = useFormats()
  return (
    <section aria-labelledby="refusals">
      <h2 id="refusals">{why.refusals}</h2>
      {of.length === 0 && <p class="quiet">{why.noRefusals}</p>}
      <ul class="plain">
        {of.map((each, index) => (
          <li key={`${each.at} ${index}`}>
            <strong>{formats.dateTime(each.at)}</strong>
            <br />
            {why.refusal(each.operation, names.cell(each.layer, each.category, each.window))}
            <br />
            <span class="quiet small">
              {why.numbers(formats.number(each.used), formats.number(each.limit), formats.number(each.requested))}{' '}
              {why.refusalUntil(formats.dateTime(each.resetAt))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
