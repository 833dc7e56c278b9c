import { type CaseContext, type ConformanceCase, contextOf, missingOf, type Need, type StoreWishes } from './harness.ts'

/** A case on a context, with the test that is made instead if something is missing. */
export interface ContextCase {
  readonly name: string
  readonly wishes?: StoreWishes
  readonly needs?: Need | readonly Need[]
  run(context: CaseContext): Promise<void>
  without?(context: CaseContext): Promise<void>
}

/** Makes it a case on a harness. */
export function onHarness({ name, wishes = {}, needs, run, without }: ContextCase): ConformanceCase {
  const all = needs === undefined ? [] : [needs].flat()
  return {
    name,
    wishes,
    needs: all,
    async run(harness) {
      const context = contextOf(harness)
      const isMet = missingOf(harness, all) === undefined
      await (isMet ? run(context) : without?.(context))
    },
  }
}

/** Makes a case without special needs. */
export function plainCase(name: string, run: ContextCase['run']): ContextCase {
  return { name, run }
}
