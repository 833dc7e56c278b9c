import type { HttpCase } from './http-case.ts'
import type { HttpScenario } from './scenario.ts'

/** A case for both kinds of store. */
export type AnyStoreCase = Omit<HttpCase, 'scenario'> & { readonly scenario: Omit<HttpScenario, 'store'> }

const KINDS = [
  ['now', 'a store that answers at once'],
  ['later', 'a store that answers later'],
] as const

/** The same with a store that answers at once, and with one that answers later. */
export function withBothStores(cases: readonly AnyStoreCase[]): HttpCase[] {
  return KINDS.flatMap(([store, title]) =>
    cases.map((each) => ({ ...each, name: `${each.name}; ${title}`, scenario: { ...each.scenario, store } })),
  )
}
