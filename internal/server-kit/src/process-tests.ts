/**
 * Whether slow tests run: they start and kill many processes, or repeat a suite with another server, driver or
 * transaction. On with `PROCESS_TESTS=on`, as in CI, and in the deep profile.
 */
export const processTests: boolean = process.env.PROCESS_TESTS === 'on' || process.env.QUOTA_TEST_DEEP === '1'
