import { memoryStore, type QuotaLogger } from '@scoregw/quota'
import type { MaybeAsync } from '@scoregw/quota/http'
import type { QuotaStore } from '@scoregw/quota/store'
import type { HttpFailing, HttpOwnAnswer, HttpScenario } from './scenario.ts'

function theirs(): Error {
  return new Error('of the application')
}

/** Fails as the script says, or returns the value. */
export function failingTo<T>(script: string | undefined, value: T): MaybeAsync<T> {
  if (script === 'throws') throw theirs()
  if (script === 'rejects') return Promise.reject(theirs())
  return script === 'later' ? Promise.resolve(value) : value
}

/** Plays the application's own answer. */
export function ownAnswer<T>(script: HttpOwnAnswer, send: () => T): MaybeAsync<T> {
  if (script === 'sends') return send()
  // Some time later, as an answer that reads a template.
  if (script === 'sends later') return new Promise((resolve) => setTimeout(resolve)).then(send)
  if (script === 'nothing later') return Promise.resolve(undefined as T)
  return failingTo(script, undefined as T)
}

/** Options that fail. Their types are those of options that work. */
export function failingOptions({ messages, answers, isFailure }: NonNullable<HttpScenario['failing']>): object {
  return {
    ...(messages === undefined ? {} : { messages: { en: () => failingTo(messages, 'own text') } }),
    ...(answers === undefined ? {} : { answers: () => failingTo(answers, { error: 'own' }) }),
    ...(isFailure === undefined ? {} : { isFailure: () => failingTo(isFailure, true) }),
  }
}

/** A logger that remembers codes, and then may fail. */
export function loggerOf(warnings: string[], errors: string[], failing: HttpFailing | undefined): QuotaLogger {
  return {
    warn(warning) {
      warnings.push((warning as { code?: string }).code ?? String(warning))
      return failingTo(failing, undefined)
    },
    error(error) {
      errors.push((error as { code?: string }).code ?? String(error))
      return failingTo(failing, undefined)
    },
  }
}

/** A promise with its resolve function. */
export interface Latch {
  readonly promise: Promise<void>
  open(): void
}

export function latch(): Latch {
  let open!: () => void
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

/** How a store responds to calls: soon (`here`), when released (`held`), or never (`away`). */
export type StoreMood = 'here' | 'held' | 'away'

/** Controls how a simulated remote store behaves. */
export class StoreMoods {
  takes: StoreMood = 'here'
  settles: StoreMood = 'here'
  #let = latch()
  readonly #settling = latch()
  #taking = latch()

  /** Resolves when a settlement is in flight or done. */
  get settling(): Promise<void> {
    return this.#settling.promise
  }

  /** Resolves when a request asks the store, from the last change of its mood on. */
  get taking(): Promise<void> {
    return this.#taking.promise
  }

  set(takes: StoreMood, settles: StoreMood): void {
    this.takes = takes
    this.settles = settles
    this.#taking = latch()
  }

  /** Responds to held calls, and to later ones. */
  letGo(): void {
    this.set('here', 'here')
    this.#let.open()
    this.#let = latch()
  }

  async before(call: 'takes' | 'settles'): Promise<void> {
    if (call === 'settles') this.#settling.open()
    else this.#taking.open()
    if (this[call] === 'held') await this.#let.promise
    if (this[call] === 'away') throw new Error('connection refused')
  }
}

/** A memory store that responds asynchronously, like one over a network. The suite controls the delay. */
export function lateStore(clock: { now(): number }, moods: StoreMoods): QuotaStore {
  return late(memoryStore({ clock }), moods) as QuotaStore
}

/** Makes a port asynchronous, including the ports that it returns. */
function late<T extends object>(inner: T, moods: StoreMoods): T {
  return new Proxy(inner, {
    get(target, key) {
      if (key === 'sync') return false
      const value: unknown = Reflect.get(target, key)
      if (key === 'holds' && typeof value === 'object' && value !== null) return late(value, moods)
      if (typeof value !== 'function') return value
      const call = (...args: unknown[]): unknown => Reflect.apply(value, target, args)
      if (key === 'close') return call
      if (key === 'open') return (...args: unknown[]) => late(call(...args) as object, moods)
      return async (...args: unknown[]) => {
        if (key === 'take') await moods.before('takes')
        if (key === 'settle') await moods.before('settles')
        return call(...args)
      }
    },
  })
}
