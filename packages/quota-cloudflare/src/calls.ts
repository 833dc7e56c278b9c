/// <reference path="./workers-runtime.d.ts" />
import { waitUntil } from 'cloudflare:workers'
import { QuotaError, type QuotaErrorCode } from '@scoregw/quota'
import { errorText, notDone, type StoreSchema } from '@scoregw/quota/store'

/** The binding of a class that extends `QuotaDurableObject`, or one of its jurisdictions. */
export interface QuotaNamespace {
  idFromName(name: string): unknown
  get(id: never): unknown
}

/** A call of counters on its way to an object. */
export interface CounterCall {
  readonly method: 'take' | 'read' | 'settle' | 'reset' | 'extend' | 'grow' | 'settleHold' | 'list' | 'sweep'
  readonly request: object
}

/** A call of settings on its way to an object. */
export interface SettingsCall {
  readonly method: 'mark' | 'readText' | 'write'
  readonly request: object
}

/** A call that was carried out, and the mark that the settings in the object have now. */
export interface Carried {
  readonly value: unknown
  readonly mark: string
}

/** An object's answer: errors as values, since an exception would lose its code on the way. */
export type Answered = Carried | { readonly code: QuotaErrorCode; readonly message: string }

/** The calls of `QuotaDurableObject`. */
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
    // An overloaded object refuses calls before it begins them.
    throw (error as { readonly overloaded?: boolean } | null)?.overloaded === true ? notDone(failure) : failure
  }
}

/** @throws {QuotaError} the one that the object answered with, whose transaction was rolled back */
export function carried(answer: Answered): Carried {
  if ('value' in answer) return answer
  throw notDone(new QuotaError(answer.code, answer.message))
}

/** Other requests may wait for what this one began, so it outlives a caller that leaves. */
function keptAlive(work: Promise<unknown>): void {
  waitUntil(work.catch(() => undefined))
}
