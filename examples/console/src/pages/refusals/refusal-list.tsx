import type { JSX } from 'preact'
import type { Refusals } from '../../api/api.ts'
import { hrefOf } from '../../route.ts'
import { Text } from '../../ui/text.tsx'
import { When } from '../../ui/when.tsx'
import { useNames } from '../../words/names.ts'
import { useFormats, useTexts } from '../../words/words.ts'

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
        const { userId, operation, name, count, lastAt } = each
        return (
          <li key={JSON.stringify([userId, operation, name])} class="refusal">
            <p class="entry-title">
              {hasUsers && (
                <a href={hrefOf('users', userId)}>
                  <Text>{userId}</Text>
                </a>
              )}
              <span class="ending refused">{names.limit(name)}</span>
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

const en = {
  title: 'Refusals',
  about: 'Who was refused in the last 24 hours, by which limit, and why the last time.',
  nobody: 'No one was refused in the last 24 hours.',
  ofUser: 'Refused in the last 24 hours',
  notOfUser: 'This user wasn’t refused in the last 24 hours.',
  times: (count: string) => `${count} ×`,
  reason: (operation: string, requested: string, used: string, limit: string, at: string) =>
    `${operation} needed ${requested} tokens, and ${used} of ${limit} were used. Room again at ${at}.`,
  tooDear: (operation: string, requested: string, limit: string) =>
    `${operation} needed ${requested} tokens, more than the limit of ${limit}. Waiting doesn’t help.`,
}

const zh: typeof en = {
  title: '拒绝',
  about: '最近 24 小时谁被哪个限额拒绝，以及最后一次的原因。',
  nobody: '最近 24 小时没有人被拒绝。',
  ofUser: '最近 24 小时的拒绝',
  notOfUser: '此用户最近 24 小时未被拒绝。',
  times: (count) => `${count} 次`,
  reason: (operation, requested, used, limit, at) =>
    `${operation} 需要 ${requested} 点，而 ${limit} 点已用 ${used}。${at} 起又有余量。`,
  tooDear: (operation, requested, limit) => `${operation} 需要 ${requested} 点，超过限额 ${limit}，等待无济于事。`,
}

export function useRefusalWords(): typeof en {
  return useTexts({ en, 'zh-CN': zh })
}
