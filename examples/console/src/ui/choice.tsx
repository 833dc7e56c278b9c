import type { JSX } from 'preact'

interface ChoiceProps<T extends string> {
  readonly label: string
  readonly options: readonly { readonly value: T; readonly text: string }[]
  readonly chosen: T
  onChoose(value: T): void
}

/** Options side by side, one of which is chosen. */
export function Choice<T extends string>({ label, options, chosen, onChoose }: ChoiceProps<T>): JSX.Element {
  return (
    <fieldset class="segments" aria-label={label}>
      {options.map(({ value, text }) => (
        <button key={value} type="button" aria-pressed={value === chosen} onClick={() => onChoose(value)}>
          {text}
        </button>
      ))}
    </fieldset>
  )
}
