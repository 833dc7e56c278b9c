import type { StoreAbilities } from '@scoregw/quota/store'
import { playHistories } from '../history/play.ts'
import { abilityCase } from './abilities.ts'
import type { Need } from './harness.ts'
import type { ContextCase } from './old-case.ts'

/** The same in every run, so that a store that passes once passes again. */
const SEED = 20_260_806
const RUNS = 25

/** A case that plays histories of some of a store's abilities. Fewer kinds meet more often. */
function historyCase(what: string, needs: readonly Need[], some: (can: StoreAbilities) => StoreAbilities) {
  return abilityCase(`history: ${RUNS} random ones of ${what} get the model’s answers`, needs, async (context) => {
    const abilities = some(context.store.can ?? {})
    // To find the shortest one that fails, play them with `runStoreHistories()`.
    await playHistories(context, { runs: RUNS, seed: SEED, abilities, shrink: false })
  })
}

/** Cases that compare a store with the model in random histories of two processes and two policies. */
export const HISTORY_CASES: readonly ContextCase[] = [
  historyCase('windows', [], () => ({})),
  historyCase('calendar windows', ['calendar'], () => ({ calendar: true })),
  historyCase('buckets', ['bucket'], () => ({ bucket: true })),
  historyCase('holds', ['holds'], ({ holds, fit }) => ({ holds, fit })),
  historyCase('holds and slots', ['holds', 'concurrency'], ({ holds, fit, concurrency, sets }) => {
    return { holds, fit, concurrency, sets }
  }),
  historyCase('every kind of limit', ['sets'], (can) => can),
]
