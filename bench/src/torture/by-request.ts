import type { TortureAnswer, TortureLimiter, TortureLimits } from '@scoregw/quota-testkit/torture'
import { NotOffered } from '@scoregw/quota-testkit/torture'
import type { Time } from './time.ts'

/** A limiter whose instances count requests by their header, in stores that instances with other limits share. */
export interface ByRequest<Stores> {
  stores(limits: TortureLimits): Stores
  app(limits: TortureLimits, stores: Stores): Promise<App>
}

/** Answers a subject's request: its status, and its fields by lower-case name. */
export type App = (subject: string) => Promise<{ readonly status: number; field(name: string): string | undefined }>

export interface Served<Stores> {
  readonly app: App
  readonly stores: Stores
}

/** The header with the subject. */
export const USER_HEADER = 'x-user'

/** A framework's limiter, as its callers see it. */
export function byRequest<Stores>({ stores, app }: ByRequest<Stores>, time: Time): TortureLimiter<Served<Stores>> {
  return {
    async make(limits, over) {
      const shared = over?.stores ?? stores(limits)
      return { stores: shared, app: await app(limits, shared) }
    },
    async consume(instance, { subject, cost }) {
      if (cost !== 1) throw new NotOffered('each request costs one')
      // Each request comes in a separate turn of the event loop, as from a connection.
      await new Promise((resolve) => setImmediate(resolve))
      return answerOf(await instance.app(subject))
    },
    retry: noIds,
    kill: noReservations,
    advance: time.advance,
  }
}

function answerOf({ status, field }: Awaited<ReturnType<App>>): TortureAnswer {
  if (status !== 200 && status !== 429) throw new Error(`a request was answered with ${status}`)
  const seconds = field('retry-after')
  const remaining = field('ratelimit-remaining') ?? field('x-ratelimit-remaining')
  return {
    allowed: status === 200,
    retryAfterMs: seconds === undefined ? undefined : Number(seconds) * 1_000,
    remaining: remaining === undefined ? undefined : Number(remaining),
  }
}

export const noIds = async (): Promise<never> => {
  throw new NotOffered('requests have no ids')
}

export const noReservations = async (): Promise<never> => {
  throw new NotOffered('it has no reservations')
}
