const isDeep = process.env.QUOTA_TEST_DEEP === '1'

/**
 * Whether slow tests run: they start and kill many processes, repeat a suite with another server, driver or transaction,
 * look for faults that were put in, or take pictures. On with `SLOW_TESTS=on`, as in CI, and in the deep profile.
 */
export const slowTests: boolean = isDeep || process.env.SLOW_TESTS === 'on'

/** How many random cases a test plays: `inCi` of them there, a quarter by default, `deep` in the deep profile. */
export function randomRuns(inCi: number, deep: number): number {
  if (isDeep) return deep
  return slowTests ? inCi : Math.ceil(inCi / 4)
}
