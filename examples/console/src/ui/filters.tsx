import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { goTo, hrefOf, useRoute } from '../route.ts'

/** Milliseconds without a key before a search starts. */
const PAUSE_MS = 200

/**
 * Values in the address, so that going back restores the list. A change starts the list anew.
 *
 * @param page whose list they filter
 */
function useFilter(page: string, name: string): readonly [string, (value: string) => void] {
  const { query } = useRoute()
  const value = query[name] ?? ''
  const { cursor: _, ...rest } = query
  return [value, (next) => goTo(hrefOf(page, undefined, { ...rest, [name]: next }), { isReplacing: value !== '' })]
}

interface FilterProps {
  readonly page: string
  readonly name: string
  readonly label: string
}

export function TextFilter({ page, name, label, most }: FilterProps & { readonly most: number }): JSX.Element {
  const [value, setValue] = useFilter(page, name)
  const [text, setText] = useState(value)
  // Going back changes the address. Show its text before the next key, which would be lost otherwise.
  useLayoutEffect(() => setText(value), [value])
  useEffect(() => {
    if (text === value) return
    const timer = setTimeout(() => setValue(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, value])
  return (
    <input
      type="search"
      class="grow"
      aria-label={label}
      placeholder={label}
      maxLength={most}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  )
}

interface ChoiceProps extends FilterProps {
  /** Texts by value. The empty value is the default. */
  readonly options: readonly (readonly [value: string, text: string])[]
}

export function ChoiceFilter({ page, name, label, options }: ChoiceProps): JSX.Element {
  const [value, setValue] = useFilter(page, name)
  return (
    <label class="filter">
      {label}
      <select value={value} onChange={(event) => setValue(event.currentTarget.value)}>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
