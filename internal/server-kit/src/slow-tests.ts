const isDeep = process.env.QUOTA_TEST_DEEP === '1'

/**
 * Whether slow tests run: they start and kill many processes, repeat a suite with another server, driver or transaction,
 * look for faults that were put in, run examples as programs, start a compiler, or work through the console in a browser.
 * On with `SLOW_TESTS=on`, as in CI, and in the deep profile.
 */
export const slowTests: boolean = isDeep || process.env.SLOW_TESTS === 'on'

/**
 * What everything random in the tests begins with, as failures name it: `QUOTA_TEST_SEED`, else another one in each process.
 * `npm test` names always the same, the deep profile and `npm run test:again` another one in each run.
 */
export const testSeed: number = Number(process.env.QUOTA_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** How many random cases a test plays: `some` of them, or `deep` in the deep profile. */
export function randomRuns(some: number, deep: number): number {
  return isDeep ? deep : some
}
