// A setup file of all tests: what fast-check makes up follows from the run's seed, where a test has none of its own.
import { testSeed } from '@scoregw/server-kit'
import * as fc from 'fast-check'

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed })
