import type { Counting, Policy } from '../src/index.ts'

/** The names that the types of an engine know. */
export type NamesIn<Engine extends { readonly policy: object }> =
  Engine['policy'] extends Policy<infer _, infer C extends Counting> ? C['names'] : never
