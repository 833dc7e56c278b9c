import type { WindowStatus } from '../api/documents.ts'
import { useWords } from './words.ts'

/** The end of a window, or when a bucket is full again. Slots have neither. */
export function useEnds(
  { kind, resetAt }: Pick<WindowStatus, 'kind' | 'resetAt'>,
  timeText: (instant: string) => string,
): string | undefined {
  const { ends, notOpen, full, fullAgain } = useWords().users
  if (kind === 'concurrency') return undefined
  if (kind === 'bucket') return resetAt === null ? full : fullAgain(timeText(resetAt))
  return resetAt === null ? notOpen : ends(timeText(resetAt))
}
