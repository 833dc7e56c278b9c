import type { JSX } from 'preact'
import type { Refusals } from '../../api/api.ts'
import { hrefOf } from '../../route.ts'
import { Text } from '../../ui/text.tsx'
import { When } from '../../ui/when.tsx'
import { useNames } from '../../words/names.ts'
import { useFormats } from '../../words/words.ts'
import { useRefusalWords } from './words.ts'

/** The gateway lists refusals of this time, up to its own now. */
const LISTED_MS = 86_400_000

interface ListProps {
  readonly of: Refusals
  /** Shown if there are none. */
  readonly empty: string
  /** Whether each refusal links to its user. */
  readonly hasUsers?: boolean
}

/** Refusals by user, operation and limit, each with its reason in a sentence. */
export function RefusalList({ of: { since, refusals }, empty, hasUsers = false }: ListProps): JSX.Element {
  const words = useRefusalWords()
  const names = useNames()
  const formats = useFormats()
  if (refusals.length === 0) return <p class="empty">{empty}</p>
  const now = Date.parse(since) + LISTED_MS
  return (
    <ul class="entries" aria-label={words.title}>
      {refusals.map((each) => {
        const { userId, operation, layer, category, window, count, lastAt } = each
        return (
          <li key={JSON.stringify([userId, operation, layer, category, window])} class="refusal">
            <p class="entry-title">
              {hasUsers && (
                <a href={hrefOf('users', userId)}>
                  <Text>{userId}</Text>
                </a>
              )}
              <span class="ending refused">{names.cell(layer, category, window)}</span>
              <span class="quiet small">
                {words.times(formats.number(count))} · <When at={lastAt} now={now} />
              </span>
            </p>
            <p>{reasonOf(each, words, formats)}</p>
          </li>
        )
      })}
    </ul>
  )
}

/** Why the last of them was refused. */
function reasonOf(
  { operation, limit, used, requested, resetAt }: Refusals['refusals'][number],
  words: ReturnType<typeof useRefusalWords>,
  { number, dateTime }: ReturnType<typeof useFormats>,
): string {
  if (requested > limit) return words.tooDear(operation, number(requested), number(limit))
  return words.reason(operation, number(requested), number(used), number(limit), dateTime(resetAt))
}
