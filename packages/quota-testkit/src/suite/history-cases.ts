import type { StoreAbilities } from '@scoregw/quota/store'
import { playHistories } from '../history/play.ts'
import type { ConformanceCase, Need } from './harness.ts'
import { casesOn, needing } from './scene.ts'

/** The same in every run, so that a store that passes once passes again. */
const SEED = 20_260_806
const RUNS = 25

/** Histories of some of a store's abilities: fewer kinds meet more often. */
const SOME: readonly (readonly [
  what: string,
  needs: readonly Need[],
  some: (can: StoreAbilities) => StoreAbilities,
])[] = [
  ['windows', [], () => ({})],
  ['calendar windows', ['calendar'], () => ({ calendar: true })],
  ['buckets', ['bucket'], () => ({ bucket: true })],
  ['holds', ['holds'], ({ holds, fit }) => ({ holds, fit })],
  [
    'holds and slots',
    ['holds', 'concurrency'],
    ({ holds, fit, concurrency, sets }) => ({ holds, fit, concurrency, sets }),
  ],
  ['every kind of limit', ['sets'], (can) => can],
]

const PLAYS = SOME.map(([what, needs, some]) => {
  const name = `${RUNS} random ones of ${what} get the model’s answers`
  // To find the shortest one that fails, play them with `runStoreHistories()`.
  const play = needing(needs, async (context) => {
    const abilities = some(context.store.can ?? {})
    await playHistories(context, { runs: RUNS, seed: SEED, abilities, shrink: false })
  })
  return [name, play] as const
})

/** Cases that compare a store with the model in random histories of two processes and two policies. */
export const HISTORY_CASES: readonly ConformanceCase[] = casesOn({ about: 'history: ' }, Object.fromEntries(PLAYS))
