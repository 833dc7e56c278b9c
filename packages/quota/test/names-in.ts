import type { Quota } from '../src/index.ts'

/** The names that the types of an engine know. */
export type NamesIn<Engine> = Engine extends Quota<string, infer Counted> ? Counted['names'] : never
