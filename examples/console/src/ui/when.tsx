import type { JSX } from 'preact'
import { useFormats } from '../words/words.ts'

interface WhenProps {
  /** Epoch milliseconds, or ISO 8601. */
  readonly at: number | string
  /** The clock it is seen from, where that is not the browser's. */
  readonly now?: number | undefined
}

/** How long ago something was; the exact time is its title. */
export function When({ at, now }: WhenProps): JSX.Element {
  const formats = useFormats()
  return (
    <time dateTime={new Date(at).toISOString()} title={formats.dateTime(at)}>
      {formats.relative(at, now)}
    </time>
  )
}
