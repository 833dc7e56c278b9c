import { randomRuns } from '@scoregw/server-kit'

const deep = process.env.QUOTA_TEST_DEEP === '1'

/** How many random histories a test plays: few enough for every run, or very many on demand. */
export const RUNS: { readonly runs: number; readonly maxSteps: number } = {
  runs: randomRuns(40, 100_000),
  maxSteps: 30,
}

/** Room for a slow machine, in milliseconds. */
export const TIMEOUT_MS: number = deep ? 1_800_000 : 120_000
