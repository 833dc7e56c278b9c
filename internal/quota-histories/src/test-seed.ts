// A setup file of all tests: `QUOTA_TEST_SEED` seeds everything random without a seed of its own.
import * as fc from 'fast-check'

const { QUOTA_TEST_SEED } = process.env
if (QUOTA_TEST_SEED !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(QUOTA_TEST_SEED) })
