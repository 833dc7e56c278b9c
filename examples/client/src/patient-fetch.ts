/** How somebody waits. */
export interface Patience {
  /** Resolves after that many milliseconds. */
  wait(ms: number): Promise<void>
  /** Told before each wait. */
  onWait(seconds: number, reason: string): void
}

/** What an answer that asks for patience may say. */
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
export function patientFetch({ wait, onWait }: Patience): (request: Request) => Promise<Response> {
  return async (request) => {
    for (let waits = 0; ; waits++) {
      const response = await fetch(request.clone())
      if (response.status !== 429 || waits === MAX_WAITS) return response
      const refusal = (await response.clone().json()) as Refusal
      if (refusal.quota !== undefined && refusal.quota.requested > refusal.quota.limit) return response
      const seconds = refusal.retryAfterSeconds ?? Number(response.headers.get('Retry-After') ?? 60)
      onWait(seconds, refusal.msg ?? 'The service asks to wait.')
      await wait(seconds * MS_PER_SECOND)
    }
  }
}
