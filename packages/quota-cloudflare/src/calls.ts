/// <reference path="./workers-runtime.d.ts" />
import { waitUntil } from 'cloudflare:workers'
import { QuotaError, type QuotaErrorCode } from '@scoregw/quota'
import { errorText } from '@scoregw/quota/internal'
import { notDone, type StoreSchema } from '@scoregw/quota/store'

/** The binding of a class that extends `QuotaDurableObject`, or one of its jurisdictions. */
export interface QuotaNamespace {
  idFromName(name: string): unknown
  get(id: never): unknown
}

/** A call to counters in an object. */
export interface CounterCall {
  readonly method: 'take' | 'read' | 'settle' | 'reset' | 'extend' | 'grow' | 'settleHold' | 'list' | 'sweep'
  readonly request: object
}

/** A call to settings in an object. */
export interface SettingsCall {
  readonly method: 'mark' | 'readText' | 'write'
  readonly request: object
}

/** The result of a call, and the current mark of the object's settings. */
export interface Carried {
  readonly value: unknown
  readonly mark: string
}

/** An object's response. Errors are values, because an exception would lose its code between objects. */
export type Answered = Carried | { readonly code: QuotaErrorCode; readonly message: string }

/** The RPC methods of `QuotaDurableObject`. */
export interface QuotaStub {
  quotaCalls(schema: StoreSchema, calls: readonly CounterCall[], seen: string | undefined): Promise<readonly Answered[]>
  quotaSettings(call: SettingsCall): Promise<Answered>
}

/** Calls one object. */
export async function callObject<A>(
  namespace: QuotaNamespace,
  name: string,
  call: (object: QuotaStub) => Promise<A>,
): Promise<A> {
  try {
    const answer = call(namespace.get(namespace.idFromName(name) as never) as QuotaStub)
    keptAlive(answer)
    return await answer
  } catch (error) {
    const failure = new QuotaError('store_error', `the Durable Object did not answer: ${errorText(error)}`, {
      cause: error,
    })
    // An overloaded object rejects calls before it runs them.
    throw (error as { readonly overloaded?: boolean } | null)?.overloaded === true ? notDone(failure) : failure
  }
}

/** @throws {QuotaError} the error of the object, which rolled its transaction back */
export function carried(answer: Answered): Carried {
  if ('value' in answer) return answer
  throw notDone(new QuotaError(answer.code, answer.message))
}

/** Other requests may wait for this call, so it must outlive the request that started it. */
function keptAlive(work: Promise<unknown>): void {
  waitUntil(work.catch(() => undefined))
}
