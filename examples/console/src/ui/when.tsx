import type { JSX } from 'preact'
import { useFormats } from '../words/words.ts'

interface WhenProps {
  /** Epoch milliseconds, or ISO 8601. */
  readonly at: number | string
  /** The current time on another clock than the browser's. */
  readonly now?: number | undefined
}

/** How long ago something happened. The exact time is the tooltip. */
export function When({ at, now }: WhenProps): JSX.Element {
  const formats = useFormats()
  return (
    <time dateTime={new Date(at).toISOString()} title={formats.dateTime(at)}>
      {formats.relative(at, now)}
    </time>
  )
}
