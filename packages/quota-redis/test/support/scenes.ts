// Random scenes: one store that gets calls one by one, one that gets them together, and how they are compared.
import type { Clock } from '@scoregw/quota'
import type { Counters, Quotas, StoreSchema } from '@scoregw/quota/store'
import { newPrefix, openStore } from '../store-harness.ts'

const QUOTAS = new Map<string, Quotas>()

/** One object for equal limits, as an engine has for subjects without limits of their own. */
export function sameQuotas(layers: readonly number[], limits: readonly number[]): Quotas {
  const text = `${layers} ${limits}`
  const quotas = QUOTAS.get(text) ?? { layers, limits }
  QUOTAS.set(text, quotas)
  return quotas
}

export interface Side {
  readonly prefix: string
  readonly counters: Counters
}

/** Two stores on one server under one clock, for the same calls: `single` one by one, `batched` together. */
export async function twoStores(
  port: number,
  clock: Clock,
  schema: StoreSchema,
): Promise<{ readonly single: Side; readonly batched: Side; close(): Promise<unknown> }> {
  const prefixes = [newPrefix(), newPrefix()] as const
  const stores = prefixes.map((prefix) => openStore(port, prefix, clock))
  await Promise.all(stores.map((store) => store.ready()))
  const [single, batched] = stores.map((store, at) => ({ prefix: prefixes[at]!, counters: store.open(schema) }))
  return { single: single!, batched: batched!, close: () => Promise.all(stores.map((store) => store.close())) }
}

/** Answers to calls of which each waits for the one before. */
export async function oneByOne<T, A>(calls: readonly T[], put: (call: T) => A): Promise<Awaited<A>[]> {
  const answers: Awaited<A>[] = []
  for (const call of calls) answers.push(await put(call))
  return answers
}

/** Answers to calls that are made together, up to each that ends a wave. */
export async function inWaves<T, A>(
  calls: readonly T[],
  endsWave: (call: T) => boolean,
  put: (call: T) => A,
): Promise<Awaited<A>[]> {
  const waves: T[][] = [[]]
  for (const call of calls) {
    waves.at(-1)!.push(call)
    if (endsWave(call)) waves.push([])
  }
  const answers = await oneByOne(waves, (wave) => Promise.all(wave.map(put)))
  return answers.flat()
}

/** How often each name came up, so that a test can require that all did. */
export class Seen {
  readonly #counts = new Map<string, number>()

  add(name: string): void {
    this.#counts.set(name, this.of(name) + 1)
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }
}
