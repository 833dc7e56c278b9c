/**
 * Whether tests run that start, kill and compare many processes, or play a whole suite through another server: with
 * `PROCESS_TESTS=on`, as in CI, and in the deep profile. They cost more time than a change usually needs.
 */
export const processTests: boolean = process.env.PROCESS_TESTS === 'on' || process.env.QUOTA_TEST_DEEP === '1'
