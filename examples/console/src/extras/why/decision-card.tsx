import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import type { WhyAnswer } from './why-api.ts'
import { useWhyWords } from './words.ts'

type Decision = WhyAnswer['now']

interface DecisionCardProps {
  readonly title: string
  readonly of: Decision
  readonly category: string
  readonly children?: ComponentChildren
}

export function DecisionCard({ title, of, category, children }: DecisionCardProps): JSX.Element {
  const words = useWords()
  const why = useWhyWords()
  const names = useNames()
  const formats = useFormats()
  const id = useId()
  const { binding, cost, shadowed, windows } = of
  const nameOf = (limit: { layer: string; window: string }): string => names.cell(limit.layer, category, limit.window)
  const amount = (value: number | 'unlimited' | null): string => {
    if (value === null) return '–'
    return value === 'unlimited' ? words.users.unlimited : formats.number(value)
  }
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {binding === null ? (
        <p class="verdict good">{why.admitted(formats.number(cost))}</p>
      ) : (
        <>
          <p class="verdict bad">{why.refused(nameOf(binding))}</p>
          <p>
            {why.numbers(
              formats.number(binding.used),
              formats.number(binding.burst ?? binding.limit),
              formats.number(binding.requested),
            )}{' '}
            {binding.retryable ? why.until(formats.dateTime(binding.resetAt)) : why.never}
          </p>
        </>
      )}
      {shadowed.map((each) => (
        <p key={nameOf(each)} class="quiet">
          {why.shadowed(nameOf(each))}
        </p>
      ))}
      <table class="full">
        <caption>{why.windowsOf}</caption>
        <thead>
          <tr>
            <th scope="col">{why.window}</th>
            <th scope="col" class="number">
              {why.used}
            </th>
            <th scope="col">{why.ends}</th>
          </tr>
        </thead>
        <tbody>
          {windows.map((each) => (
            <tr key={nameOf(each)}>
              <th scope="row">{nameOf(each)}</th>
              <td class="number">{words.users.used(amount(each.used), amount(each.burst ?? each.limit))}</td>
              <td>{each.resetAt === null ? '–' : formats.dateTime(each.resetAt)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {children}
    </section>
  )
}
