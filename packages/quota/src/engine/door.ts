import type { Decision } from '../decision/decision.ts'
import type { TakeDemand } from './decide/demands.ts'
import type { WaitBegin, WaitEnd } from './events.ts'
import type { Quota } from './quota.ts'
import type { Reservation, ReserveRequest } from './requests.ts'

/** The calls that a waiting queue makes on its engine. */
export interface EngineDoor {
  /** Checks a request and prices it with the current settings. Throws what `reserve` rejects with. */
  demand(request: ReserveRequest): TakeDemand
  /** `reserve`, without a promise if the stores are synchronous. */
  attempt(request: ReserveRequest): Reservation | Promise<Reservation>
  /** `peek`, without a promise if the stores are synchronous. */
  peek(request: ReserveRequest): Decision | Promise<Decision>
  /** Emits the event `waiting`. */
  began(begin: WaitBegin): void
  /** Emits the event `waited`. */
  ended(end: WaitEnd): void
}

/** The property of an engine that holds its door. All builds and copies of the package share the symbol. */
const DOOR: unique symbol = Symbol.for('@scoregw/quota/door') as never

export function openDoor(quota: Quota, door: EngineDoor): void {
  Object.defineProperty(quota, DOOR, { value: door })
}

/** Returns these calls for an engine; `undefined` for any other object. */
export function doorOf(quota: unknown): EngineDoor | undefined {
  return (Object(quota) as { readonly [DOOR]?: EngineDoor })[DOOR]
}
