import type { JSX } from 'preact'
import type { Move } from '../../api/api.ts'
import { useFormats, useWords } from '../../words/words.ts'

/** The level that adaptive mode stays below, if one has failed. */
export function FailedLevel({ failed }: { failed: Move['failed'] }): JSX.Element | null {
  const { failures: words } = useWords()
  const formats = useFormats()
  if (failed === null) return null
  return (
    <section aria-labelledby="failed-level">
      <h2 id="failed-level">{words.failedTitle}</h2>
      <p>{words.failed(formats.factor(failed.level), formats.dateTime(failed.retryAt))}</p>
      <p class="quiet small">{words.failedAbout}</p>
    </section>
  )
}
