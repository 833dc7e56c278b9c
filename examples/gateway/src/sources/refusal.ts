import type { HttpError } from '../http/http-error.ts'
import type { Forwarded } from './forwarder.ts'
import { retryAfterSeconds } from './retry-after.ts'
import type { SourceName } from './score-source.ts'
import { type SourceFaultCode, sourceFault } from './source-fault.ts'

/** What the statuses of one source mean that are about the player. */
export type Meanings = Readonly<Record<number, SourceFaultCode>>

/** The error of an answer that is not a success. `status` is what the source calls it, in its head or in its body. */
export function refusal(
  source: SourceName,
  status: number,
  { headers }: Forwarded,
  meanings: Meanings,
  now: number,
): HttpError {
  const upstreamStatus = status
  if (status === 429) {
    const seconds = retryAfterSeconds(headers.get('Retry-After'), now)
    return sourceFault(source, 'source_rate_limited', { upstreamStatus, retryAfterSeconds: seconds })
  }
  if (status >= 500) return sourceFault(source, 'source_error', { upstreamStatus })
  // A page in place of data is a firewall's in front of the source: it says nothing about the player.
  const isPage = headers.get('Content-Type')?.includes('html') === true
  const code = isPage ? undefined : meanings[status]
  return sourceFault(source, code ?? 'source_bad_response', { upstreamStatus, reason: `status ${status}` })
}
