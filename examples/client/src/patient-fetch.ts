/** How a client waits. */
export interface Patience {
  /** Resolves after that many milliseconds. */
  wait(ms: number): Promise<void>
  /** Called before each wait. */
  onWait(seconds: number, reason: string): void
  /**
   * The longest wait that makes sense, in seconds; a longer one is a refusal.
   * @default none is too long
   */
  readonly mostSeconds?: number
}

/** Members of an answer that asks the client to wait. */
interface Refusal {
  readonly msg?: string
  readonly retryAfterSeconds?: number
  readonly quota?: { readonly limit: number; readonly requested: number }
}

/** Refusals of one request that are waited out. Others may use up a quota that is shared while we wait for it. */
const MAX_WAITS = 5
const MS_PER_SECOND = 1_000

/**
 * A `fetch` that waits out every 429 and then sends the same request again.
 *
 * The wait is what the service says, never less: asking again at once changes nothing. A request that costs more than
 * its whole quota is not waited for, as no wait helps.
 */
export function patientFetch({
  wait,
  onWait,
  mostSeconds = Number.POSITIVE_INFINITY,
}: Patience): (request: Request) => Promise<Response> {
  return async (request) => {
    for (let waits = 0; ; waits++) {
      const response = await fetch(request.clone())
      if (response.status !== 429 || waits === MAX_WAITS) return response
      const refusal = (await response.clone().json()) as Refusal
      const seconds = secondsOf(refusal, response)
      if (isHopeless(refusal) || seconds > mostSeconds) return response
      onWait(seconds, refusal.msg ?? 'The service asks to wait.')
      await wait(seconds * MS_PER_SECOND)
    }
  }
}

function secondsOf({ retryAfterSeconds }: Refusal, { headers }: Response): number {
  return retryAfterSeconds ?? Number(headers.get('Retry-After') ?? 60)
}

/** A request that costs more than its whole quota. */
function isHopeless({ quota }: Refusal): boolean {
  return quota !== undefined && quota.requested > quota.limit
}
