/** The part of the Workers runtime that this package uses. Users have these types from `wrangler types`. */
declare module 'cloudflare:workers' {
  export abstract class DurableObject<Env = unknown> {
    constructor(ctx: DurableObjectState, env: Env)
    protected ctx: DurableObjectState
    protected env: Env
    alarm?(): void | Promise<void>
  }

  /** Keeps the current request alive until the promise settles, even if the client has left. */
  export function waitUntil(promise: Promise<unknown>): void

  // biome-ignore lint/suspicious/noExplicitAny: each Worker declares its own bindings.
  export const env: any

  export interface DurableObjectState {
    abort(reason: string): never
    readonly storage: DurableObjectStorage
    blockConcurrencyWhile<T>(work: () => Promise<T>): Promise<T>
    waitUntil(promise: Promise<unknown>): void
  }

  export interface DurableObjectStorage {
    readonly sql: { exec(text: string, ...values: readonly unknown[]): { toArray(): Record<string, unknown>[] } }
    transactionSync<T>(work: () => T): T
    getAlarm(): Promise<number | null>
    setAlarm(at: number): Promise<void>
  }
}
