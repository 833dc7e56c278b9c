import { basename } from 'node:path'
import { expect } from 'vitest'
import { SPECIFICATION } from './specification.ts'

/** `EXTRAS` of the gateways in this test file: the specification's tests need none. */
export function extrasHere(): string {
  const { testPath = '' } = expect.getState()
  return process.env.EXTRAS ?? (SPECIFICATION.includes(basename(testPath, '.test.ts')) ? 'none' : 'all')
}
